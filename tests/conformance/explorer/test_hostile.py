"""Nothing that a tool says or returns is executed, and many tools cost no more than those that are seen."""

from __future__ import annotations

from typing import Any, Final

from playwright.async_api import expect

from toolgen.calls.toolsets.functions import func_tool, function_toolset
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .browser import exploring

HOSTILE: Final = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "[a](javascript:alert(4)) ![b](https://other.example/b.png)</pre>${alert(5)}"
)


async def echo(text: str) -> dict[str, Any]:
    """Say it back; the test puts something hostile in the place of this sentence."""
    return {"text": text, HOSTILE: text, "rows": [{HOSTILE: text}]}


async def test_what_tools_say_and_return_is_text() -> None:
    echo.__doc__ = HOSTILE
    runtime = Runtime(engine=InProcessEngine(), capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    runtime.tools.register(function_toolset("evil.corpus", [func_tool(echo, toolset="evil.corpus")]))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open("#/tools/evil.corpus.echo")
        await expect(page.locator(".description")).to_have_text(HOSTILE)
        await page.get_by_label("Text").fill(HOSTILE)
        await page.keyboard.press("Control+Enter")
        result = page.get_by_role("region", name="Result")
        await expect(result.locator(".tag").first).to_have_text("ok")
        for tab in ("Tree", "What the model reads", "Table"):
            await page.get_by_role("tab", name=tab).click()
        for language in ("Python", "TypeScript", "curl"):
            await page.get_by_role("radio", name=language).check()
        for tab in ("Schema", "Examples", "History", "Code"):
            await page.get_by_role("tab", name=tab).first.click()
        assert await page.locator("script:not([src]), img[onerror], svg[onload]").count() == 0


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
        assert [url for url in asked if "waits" not in url] == []
