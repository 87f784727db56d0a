"""Debian's Chromium with the explorer of a runtime, which listens on a port of loopback."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import APIRequestContext, Page, async_playwright, expect

from examples.home.app import assistant
from examples.home.database import connect
from examples.home.tariff_server import KEY, supplier
from gen import tariff_service
from gen.assistant.toolsets.tariffs import BoundTariffsExecutor
from tests.adapters.http.listening import listening
from toolgen.capabilities import EnvironmentCredentials, SqliteArtifactStore
from toolgen.events import Events
from toolgen.runtime import Runtime

SESSION: Final = "s-mira"
"""A session of a user of the example."""
TIMEOUT_MS: Final = 20_000
"""How long a test waits for one thing on the page before it fails."""


@dataclass
class Explorer:
    """The page, and what it has done that it may not."""

    page: Page
    url: str
    token: str
    request: APIRequestContext
    """Sends requests with the token, which only the scripts of the page have in the browser."""
    faults: list[str] = field(default_factory=list)
    """Errors of scripts, refusals of the policy, requests to other machines, and pages that it went to."""

    async def open(self, address: str) -> None:
        """Show the place at an address, such as `#/tools/home.lamp.dim`."""
        await self.page.goto(f"{self.url}/{address}")


def chromium() -> str:
    """Return the path of Chromium; without it the test is skipped, except in CI."""
    path = shutil.which("chromium")
    if path is None:
        missing = "chromium is missing: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return path


def bearer(token: str) -> dict[str, str]:
    """Return the header of a request that has the token."""
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def exploring(runtime: Runtime, *, width: int = 1400, session_id: str = "") -> AsyncIterator[Explorer]:
    """Serve a runtime, and yield its explorer in a browser that has the token.

    What names no session is in `session_id`, or in one of the token's own.
    """
    async with listening(runtime, sessions="s-", session_id=session_id) as client:
        token = client.headers["authorization"].removeprefix("Bearer ")
        async with browsing(str(client.base_url), token, width=width) as shown:
            yield shown


@asynccontextmanager
async def browsing(url: str, token: str, *, width: int = 1400) -> AsyncIterator[Explorer]:
    """Yield the explorer that a server shows, in a browser that has the token."""
    path = chromium()
    expect.set_options(timeout=TIMEOUT_MS)
    async with (
        async_playwright() as playwright,
        await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]) as browser,
    ):
        context = await browser.new_context(viewport={"width": width, "height": 900})
        page = await context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        request = await playwright.request.new_context(extra_http_headers=bearer(token))
        shown = Explorer(page, url.rstrip("/"), token, request)
        page.on("pageerror", lambda error: shown.faults.append(str(error)))
        page.on("popup", lambda other: shown.faults.append(f"opened {other.url}"))
        page.on(
            "framenavigated",
            lambda frame: None if frame.url.startswith(shown.url) else shown.faults.append(frame.url),
        )
        page.on("dialog", lambda dialog: shown.faults.append(dialog.message))
        page.on(
            "console",
            lambda said: shown.faults.append(said.text) if "Content Security" in said.text else None,
        )
        page.on(
            "request",
            lambda sent: (
                None if sent.url.startswith((shown.url, "data:", "blob:")) else shown.faults.append(sent.url)
            ),
        )
        await page.goto(f"{shown.url}/#token={token}")
        await page.get_by_role("navigation", name="Places").wait_for()
        yield shown
        await request.dispose()
        assert not shown.faults, "\n".join(shown.faults)


@asynccontextmanager
async def exploring_home(folder: Path, *, width: int = 1400, session_id: str = "") -> AsyncIterator[Explorer]:
    """Yield the explorer of the example, over a database of its own."""
    path = folder / "home.db"
    with closing(connect(path)) as database, supplier() as address:
        client = tariff_service.TariffServiceClient(
            server=address, credentials=EnvironmentCredentials({"TOOLGEN_TARIFF_SERVICE__SUPPLIER_KEY": KEY})
        )
        runtime = assistant(
            database,
            path,
            events=Events(),
            artifacts=SqliteArtifactStore(folder / "artifacts.db"),
            tariffs=BoundTariffsExecutor(tariff_service=client),
        )
        async with client, runtime, exploring(runtime, width=width, session_id=session_id) as shown:
            yield shown
