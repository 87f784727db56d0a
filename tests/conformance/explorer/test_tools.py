"""The explorer's tools in a browser: rendered, filled, called, and judged by the server alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import expect

from toolgen.catalog import load_catalog

from .browser import SESSION, Explorer, exploring_home

pytestmark = pytest.mark.costly(whole=True)

CATALOG: Final = load_catalog(Path("gen/tool_schemas.json"))
AXE: Final = Path("ui/node_modules/axe-core/axe.min.js")
SET_STATE: Final = "#/tools/assistant.devices.set_state"


async def fill_from_example(shown: Explorer) -> None:
    await shown.page.get_by_role("button", name="Example", exact=True).click()
    await shown.page.get_by_label("Session").fill(SESSION)


async def test_every_tool_of_the_example_is_filled_from_its_example_and_accepted(tmp_path: Path) -> None:
    examples = [tool["id"] for tool in CATALOG.tools if tool["payload"].get("examples")]
    assert len(examples) == 9
    async with exploring_home(tmp_path) as shown:
        result = shown.page.get_by_role("region", name="Result")
        for tool in CATALOG.tools:
            await shown.open(f"#/tools/{tool['id']}")
            await expect(shown.page.get_by_role("heading", level=1)).to_have_text(tool["title"])
            for name in tool["payload"]["schema"].get("properties", {}).values():
                label = shown.page.locator(".label").filter(has_text=name["title"]).first
                await expect(label).to_be_visible()
            if tool["id"] in examples:
                await fill_from_example(shown)
                await shown.page.keyboard.press("Control+Enter")
                await expect(result.locator(".tag").first).to_have_text("ok")
                await expect(shown.page.locator(".issue")).to_have_count(0)


async def test_what_the_server_refuses_stands_at_its_field_and_at_its_line(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open(SET_STATE)
        for choice in await page.get_by_role("radiogroup", name="Command").get_by_role("radio").all():
            assert not await choice.is_checked()
        await fill_from_example(shown)
        await page.get_by_label("Level").fill("140")
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_text("must be at most 100")).to_be_visible()
        await expect(page.get_by_label("Level")).to_have_attribute("aria-invalid", "true")
        await page.get_by_role("radio", name="JSON").check()
        await expect(page.locator(".cm-lintRange-error")).to_have_text("140")
        await page.get_by_role("radio", name="Form").check()
        await page.get_by_label("Level").fill("40")
        await page.reload()  # nothing that was typed is lost
        await expect(page.get_by_label("Level")).to_have_value("40")
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("region", name="Result").locator(".tag").first).to_have_text("ok")
        await page.get_by_role("tab", name="Trace").click()
        await expect(page.get_by_role("cell", name="execute")).to_be_visible()
        await page.get_by_role("tab", name="What the model reads").click()
        read = json.loads(await page.get_by_role("tabpanel").locator("pre").first.inner_text())
        assert read["settings"] == {"on": True, "level": 40}


async def test_a_bounded_result_goes_on_page_by_page(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/tools/assistant.devices.list_devices")
        await page.get_by_label("Site id").fill("harbour")
        await page.get_by_label("Limit").fill("2")
        await page.get_by_label("Session").fill(SESSION)
        await page.keyboard.press("Control+Enter")
        rows = page.get_by_role("region", name="rows").get_by_role("row")
        await expect(rows).to_have_count(3)  # the head, and two devices
        first = await rows.nth(1).inner_text()
        await page.get_by_role("button", name="Next page").click()
        await expect(rows.nth(1)).not_to_have_text(first)


async def test_an_artifact_is_drawn_by_its_view(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        await shown.open("#/tools/assistant.devices.get_time_series")
        await fill_from_example(shown)
        await shown.page.keyboard.press("Control+Enter")
        chart = shown.page.get_by_role("img", name="value in % over at: 24 points")
        await expect(chart.locator("canvas")).to_be_visible()


async def test_the_keyboard_is_enough(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/tools")
        await expect(page.get_by_role("searchbox")).to_be_visible()
        await page.keyboard.press("/")
        await page.keyboard.type("factory res")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Factory reset")
        await page.keyboard.press("Escape")
        await page.keyboard.press("k")
        await expect(page.get_by_role("heading", level=1)).not_to_have_text("Factory reset")
        await page.keyboard.press("g")
        await page.keyboard.press("s")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Waiting for a person")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize("width", [1400, 320])
async def test_axe_finds_nothing_serious_and_nothing_is_cut_off(tmp_path: Path, width: int) -> None:
    async with exploring_home(tmp_path, width=width) as shown:
        page = shown.page
        for theme in ("light", "dark"):
            await page.get_by_label("Colours").select_option(theme)
            places = ("#/agents", "#/suspensions", "#/runs", "#/map")
            for address in (SET_STATE, f"{SET_STATE}?tab=schema", *places):
                await shown.open(address)
                await page.wait_for_load_state("networkidle")
                await page.evaluate(AXE.read_text())
                found = await page.evaluate("async () => (await axe.run()).violations")
                serious = [one for one in found if one["impact"] in {"serious", "critical"}]
                assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []
                wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, address
