"""A conversation in the explorer whose stream is cut off: by the network, and by the end of the server."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Locator, Page, expect

from examples.home.scripts import LIGHTS
from tests.adapters.http.listening import listening

from .browser import SESSION, Explorer, browsing
from .piecemeal import GO_ON, TOKEN, home

pytestmark = pytest.mark.costly(whole=True)

BEGUN: Final = "1 of the lights"
WHOLE: Final = "1 of the lights does not answer: Ceiling lamp (Living room)."
BROKEN: Final = "The stream broke; the page resumes it."


class Proxy:
    """Passes bytes between a browser and a server, until it is told to cut them off."""

    def __init__(self, url: str) -> None:
        self._port = urlsplit(url).port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = asyncio.Event()
        self.port = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Yield the URL of the proxy."""
        self._is_open.set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{self.port}"
        finally:
            self._server.close()
            self.cut()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Break all connections, and those to come, until `mend`."""
        self._is_open.clear()
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        self._is_open.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_open.is_set():
            writer.transport.abort()
            return
        other, onwards = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, onwards}
        for source, target in ((reader, onwards), (other, writer)):
            task = asyncio.create_task(self._pass(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        except ConnectionError:
            pass
        finally:
            target.close()
            self._writers.discard(target)


def saying(page: Page) -> Locator:
    """Return what the assistant says while it says it."""
    return page.get_by_role("log", name="What was said").locator("[aria-live]")


async def ask(shown: Explorer) -> None:
    """Ask in the session, and return when the first words of the answer stand there."""
    await shown.open(f"#/agents/assistant.chat/{SESSION}")
    await shown.page.get_by_label("Message assistant.chat").fill(LIGHTS)
    await shown.page.keyboard.press("Enter")
    await expect(saying(shown.page)).to_have_text(BEGUN)


async def whole(shown: Explorer, folder: Path) -> None:
    """Let the answer go on, and compare what was followed with what is there after a reload."""
    page = shown.page
    (folder / GO_ON).touch()
    lines = page.get_by_role("list", name="Timeline").get_by_role("listitem")
    await expect(lines.last).to_contain_text("completed")
    await expect(page.get_by_role("log", name="What was said").get_by_text(WHOLE)).to_have_count(1)
    followed = await lines.locator("strong").all_inner_texts()
    assert followed == ["started", "list_devices", "list_devices", "answered", "completed"]
    await page.reload()
    await expect(lines.last).to_contain_text("completed")
    assert await lines.locator("strong").all_inner_texts() == followed


async def test_a_stream_that_is_cut_goes_on_with_nothing_twice_and_nothing_lost(tmp_path: Path) -> None:
    with home(tmp_path) as runtime:
        async with runtime, listening(runtime, sessions="s-") as client:
            proxy, token = (
                Proxy(str(client.base_url)),
                client.headers["authorization"].removeprefix("Bearer "),
            )
            async with proxy.running() as url, browsing(url, token) as shown:
                await ask(shown)
                resumed: list[str] = []
                shown.page.on("request", lambda sent: resumed.append(sent.headers.get("last-event-id", "")))
                proxy.cut()
                await expect(shown.page.get_by_text(BROKEN)).to_be_visible()
                await expect(saying(shown.page)).to_have_text(BEGUN)
                proxy.mend()
                await expect(shown.page.get_by_text(BROKEN)).to_have_count(0)
                assert any(resumed)
                await expect(saying(shown.page)).to_have_text(BEGUN)
                await whole(shown, tmp_path)


@asynccontextmanager
async def serving(folder: Path, port: int = 0) -> AsyncIterator[tuple[Process, str]]:
    """Yield a process that serves the example of a folder, and its URL."""
    module = "tests.conformance.explorer.piecemeal"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, str(folder), str(port), stdout=PIPE
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        assert line.startswith("serving "), line
        yield process, line.split()[1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_server_that_was_killed_goes_on_with_its_journal_in_the_same_page(tmp_path: Path) -> None:
    async with serving(tmp_path) as (first, url), browsing(url, TOKEN) as shown:
        await ask(shown)
        first.kill()
        await first.wait()
        await expect(shown.page.get_by_text(BROKEN)).to_be_visible()
        await expect(shown.page.get_by_text("The server does not answer").first).to_be_visible()
        async with serving(tmp_path, urlsplit(url).port or 0):
            await expect(shown.page.get_by_text(BROKEN)).to_have_count(0)
            await whole(shown, tmp_path)
