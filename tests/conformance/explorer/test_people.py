"""The explorer where people decide: approvals, and a conversation with a child run and a confirmation."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from .browser import SESSION, exploring_home

pytestmark = pytest.mark.costly(whole=True)


async def test_an_approval_shows_what_runs_and_runs_it(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/tools/assistant.maintenance.factory_reset")
        await page.get_by_label("Device id").fill("h01")
        await page.get_by_label("Session").fill(SESSION)
        await page.get_by_role("button", name="Factory reset", exact=True).click()
        await page.get_by_role("link", name="Answer it under Suspended calls").click()
        asked = page.get_by_role("region", name="Reset h01 to factory settings?")
        await expect(asked.locator("pre").first).to_have_text('{\n  "device_id": "h01"\n}')
        focused = await page.evaluate("document.activeElement?.textContent")
        assert "Approve" not in (focused or "")
        await asked.get_by_role("radiogroup", name="Keep on").get_by_role("radio", name="true").check()
        await asked.get_by_role("button", name="Approve exactly this").click()
        await expect(asked.get_by_text("Approved at")).to_be_visible()
        await expect(page.get_by_role("region", name="Result").locator(".tag").first).to_have_text("ok")


async def test_a_conversation_has_its_child_run_and_its_confirmation(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open(f"#/agents/assistant.chat/{SESSION}")
        await page.get_by_label("Message assistant.chat").fill(
            "Find out what is wrong with the ceiling lamp, and put it back to factory settings."
        )
        await page.keyboard.press("Enter")
        timeline = page.get_by_role("list", name="Timeline")
        await expect(timeline.get_by_role("link", name="child run")).to_be_visible()
        await page.get_by_role("button", name="Approve exactly this").click()
        await expect(timeline.get_by_text("completed")).to_be_visible()
        said = page.get_by_role("log", name="What was said")
        await expect(said.locator("summary")).to_have_text(["diagnose ok", "factory_reset ok"])
        await page.reload()  # the same afterwards as live
        await expect(said.locator("summary")).to_have_text(["diagnose ok", "factory_reset ok"])
        await expect(timeline.get_by_text("completed")).to_be_visible()
        await timeline.get_by_role("link", name="child run").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("assistant.diagnostics")
