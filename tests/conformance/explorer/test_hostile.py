"""Nothing that a tool, an agent or a person says is executed, fetched or followed; many tools cost little."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.selection import volume
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import Runtime

from .browser import Explorer, exploring
from .corpus import CORPUS, hostile_runtime

pytestmark = pytest.mark.costly(whole=True)

MADE = (
    "script:not([src]), iframe, object, embed, base, form[action], body link, meta[http-equiv], "
    "body style, video, audio, math, animate, [onload], [onerror], [onfocus], [ontoggle], [formaction]"
)
"""What would be in the page if a text were taken for markup."""


async def nothing_made(page: Page) -> None:
    """Expect no element that a text has made, and no link but those to the page and to http and https."""
    assert await page.locator(MADE).evaluate_all("found => found.map(one => one.outerHTML)") == []
    hrefs = await page.locator("a[href]").evaluate_all("found => found.map(one => one.getAttribute('href'))")
    assert [href for href in hrefs if not href.startswith(("#", "http://", "https://", "blob:"))] == []


async def call(shown: Explorer, number: int, text: str) -> None:
    """Call the tool that says a text everywhere, and look at all that the page shows of it."""
    page = shown.page
    await shown.open(f"#/tools/evil.corpus.say_{number}")
    await expect(page.locator(".description")).to_be_visible()
    await page.get_by_role("button", name="Example", exact=True).click()
    await page.keyboard.press("Control+Enter")
    result = page.get_by_role("region", name="Result")
    await expect(result.locator(".tag").first).to_have_text("ok")
    await nothing_made(page)
    for tab in ("Tree", "What the model reads", "Table"):
        await page.get_by_role("tab", name=tab).click()
        await nothing_made(page)
    for language in ("Python", "TypeScript", "curl"):
        await page.get_by_role("radio", name=language).check()
    await page.get_by_role("radio", name="JSON").check()
    for tab in ("Schema", "Examples", "History", "Code"):
        await page.get_by_role("tab", name=tab).first.click()
        await nothing_made(page)


async def talk(shown: Explorer, session: str, text: str) -> None:
    """Have the agent say a text in pieces, calls, questions and answers, and answer with it."""
    page = shown.page
    await shown.open(f"#/agents/evil.speaker/{session}")
    message = page.get_by_label("Message evil.speaker")
    await message.fill(text)
    await page.get_by_role("button", name="Send").click()  # a field that hides something takes no key
    await page.get_by_label("Reason").fill(text)
    await nothing_made(page)
    await page.get_by_role("button", name="Deny").click()
    answer = page.get_by_role("button", name="Answer", exact=True)
    await answer.click()  # without the word: the issue of the server quotes the schema
    await expect(page.locator(".issue").first).to_be_visible()
    await nothing_made(page)
    await page.locator(".field input").first.fill(text)
    await answer.click()
    lines = page.get_by_role("list", name="Timeline").get_by_role("listitem")
    await expect(lines.last).to_contain_text("completed")
    for line in await lines.get_by_role("button").all():
        await line.click()
    await nothing_made(page)
    for address in ("#/runs", "#/suspensions", "#/map", "#/agents", "#/tools"):
        await shown.open(address)
        await expect(page.get_by_role("main")).to_be_visible()
        await nothing_made(page)


@pytest.mark.volume
async def test_what_is_said_is_text() -> None:
    texts = CORPUS[: volume(3, lab=len(CORPUS))]
    runtime = hostile_runtime(texts)
    async with runtime, exploring(runtime) as shown:
        for number, text in enumerate(texts):
            await call(shown, number, text)
            await talk(shown, f"s-{number}", text if len(text) < 5_000 else text[:5_000])
        await talk(shown, "s-%3Cscript%3Ealert(1)%3C%2Fscript%3E", texts[0])


async def test_a_thousand_tools_draw_only_what_is_seen_and_search_without_the_server() -> None:
    def tool(number: int) -> Any:
        async def count() -> int:
            return number

        count.__name__ = f"count_{number}"
        count.__doc__ = f"Count to {number}."
        return func_tool(count, toolset="many.counts")

    runtime = Runtime()
    runtime.tools.register(function_toolset("many.counts", [tool(number) for number in range(1_000)]))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        search = page.get_by_role("searchbox", name="Search 1000 tools")
        await search.wait_for()
        assert await page.locator(".list-row").count() < 60
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(sent.url))
        await search.press_sequentially("to 987.")
        await expect(page.locator(".list-item")).to_have_text(["Count 987"])
        assert [url for url in asked if "suspensions" not in url] == []
