"""The token of a start in a browser: which requests have it, where it is kept, and who does not get it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import pytest
from playwright.async_api import Request, expect

from tests.adapters.http.shop import AGENT, Shop, shop_runtime
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.runtime import Runtime
from toolgen.runtime.functions import Sensitive

from .browser import bearer, exploring
from .test_views import tool

pytestmark = pytest.mark.costly(whole=True)

SECRET = "s3cret-4711"
STORED = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"


@asynccontextmanager
async def other_port() -> AsyncIterator[tuple[str, list[bytes]]]:
    """Yield the URL of another server of this machine, and the requests that it gets."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\nhello")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", heard


async def test_every_request_has_the_token_as_a_header_and_no_other_port_gets_it(tmp_path: Path) -> None:
    runtime = shop_runtime(Shop(), capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    runtime.tools.register(function_toolset("art.views", [tool()]))
    async with runtime, exploring(runtime) as shown, other_port() as (other, heard):
        page, sent = shown.page, list[Request]()
        page.on("request", lambda one: sent.append(one))  # a function that playwright can mark
        assert await page.evaluate("location.href") == f"{shown.url}/#/"
        assert await page.context.cookies() == []
        await page.reload()
        await shown.open(f"#/agents/{AGENT}")
        await page.get_by_label(f"Message {AGENT}").fill("hello")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("log").get_by_text("Good day.")).to_be_visible()
        await shown.open("#/tools/art.views.draw")
        await page.keyboard.press("Control+Enter")
        artifact = page.get_by_role("region", name="artifact other")
        async with page.expect_download() as downloading:
            await artifact.get_by_role("button", name="Download").click()
        saved = tmp_path / "saved"
        await (await downloading.value).save_as(saved)
        assert saved.read_text() == '{"deep":{"er":[1,2]}}'

        paths = {one.url.removeprefix(shown.url).partition("?")[0] for one in sent}
        assert {"/catalog", "/artifacts", "/tools/art.views.draw/calls"} <= paths
        assert any(path.endswith("/events") for path in paths)
        for one in sent:
            if not one.url.startswith(("blob:", "data:")):
                is_public = one.url == f"{shown.url}/" or "/assets/" in one.url
                expected = None if is_public else bearer(shown.token)["authorization"]
                assert (one.headers.get("authorization"), shown.token in one.url) == (expected, False), (
                    one.url
                )

        visitor = await page.context.new_page()  # of the same browser, with all that it has stored
        await visitor.goto(other)
        await visitor.evaluate(f"fetch('{shown.url}/catalog', {{ credentials: 'include' }}).catch(() => 0)")
        assert heard
        assert not any(shown.token.encode() in request for request in heard)
        assert shown.token not in await visitor.evaluate(STORED)


async def test_a_tab_without_the_token_says_what_to_open_and_takes_one_at_once() -> None:
    async with shop_runtime(Shop()) as runtime, exploring(runtime) as shown:
        other = await shown.page.context.new_page()
        await other.goto(f"{shown.url}/#/runs")
        refused = other.get_by_text("Open the address that toolgen serve printed").first
        await expect(refused).to_be_visible()
        await other.goto(f"{shown.url}/#token=of-another-start")  # only what is behind the # changes
        await expect(refused).to_be_visible()
        assert await other.evaluate("location.hash") == "#/"
        await other.goto(f"{shown.url}/#token={shown.token}")
        await expect(other.get_by_role("searchbox")).to_be_visible()
        assert await other.evaluate("location.hash") == "#/"
        await other.go_back()
        assert shown.token not in await other.evaluate("location.href")


async def sign_in(user: str, pin: Annotated[str, Sensitive()]) -> str:
    """Sign in."""
    return f"{user} is in"


async def test_drafts_and_calls_that_are_kept_have_no_sensitive_argument() -> None:
    runtime = Runtime()
    runtime.tools.register(function_toolset("in.door", [func_tool(sign_in, toolset="in.door")]))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open("#/tools/in.door.sign_in")
        await page.get_by_label("User").fill("mira")
        await page.get_by_label("Pin").fill(SECRET)
        same = page.locator(".same")
        await expect(same).to_contain_text('"pin":"••••"')
        assert SECRET not in await page.locator("main").inner_text()
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("region", name="Result").locator(".tag").first).to_have_text("ok")
        await page.get_by_role("radio", name="JSON").check()
        assert SECRET not in await page.evaluate(STORED)
        await page.reload()
        await page.get_by_role("radio", name="Form").check()
        await expect(page.get_by_label("User")).to_have_value("mira")
        await expect(page.get_by_label("Pin")).to_have_value("")
        await page.get_by_role("tab", name="History").click()
        await expect(page.get_by_role("cell", name='{"user":"mira"}')).to_be_visible()
