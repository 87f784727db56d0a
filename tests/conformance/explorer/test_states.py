"""The explorer where something is missing: the server, the page before a reload, or the end of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.adapters.http.shop import Shop, shop_runtime

from .browser import SESSION, TIMEOUT_MS, exploring, exploring_home

pytestmark = pytest.mark.costly(whole=True)

FACTORY_RESET = "#/tools/assistant.maintenance.factory_reset"
LIST_DEVICES = "#/tools/assistant.devices.list_devices"
LIGHTS = "Which lights at the harbour do not answer?"


async def test_a_place_that_cannot_be_fetched_comes_with_the_server(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open(LIST_DEVICES)
        await page.get_by_label("Site id").fill("harbour")
        await page.context.set_offline(True)
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_text("The server did not answer.")).to_be_visible()
        await page.get_by_role("link", name="Map").click()
        await expect(page.get_by_text("Map cannot be shown: the server does not answer.")).to_be_visible()
        banner = page.get_by_text("Your input is kept, and the page tries again.")
        await expect(banner).to_have_count(1)
        await page.get_by_role("link", name="Tools").click()
        await expect(page.get_by_role("searchbox")).to_be_visible()
        await page.get_by_role("searchbox").click(trial=True)  # no banner lies over it
        await page.get_by_role("link", name="Map").click()
        await page.context.set_offline(False)
        await expect(page.get_by_role("region", name="Toolsets")).to_be_visible()
        await expect(banner).to_have_count(0, timeout=TIMEOUT_MS)
        await shown.open(LIST_DEVICES)
        await expect(page.get_by_label("Site id")).to_have_value("harbour")


async def test_a_reload_loses_nothing_that_was_typed(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/agents/assistant.chat")
        message, named = (
            page.get_by_label("Message assistant.chat"),
            page.get_by_role("textbox", name="Session"),
        )
        await message.fill(LIGHTS)
        await named.fill(SESSION)
        await page.reload()
        await expect(message).to_have_value(LIGHTS)
        await page.get_by_role("link", name="Map").click()
        await page.go_back()
        await expect(message).to_have_value(LIGHTS)
        await message.press("Enter")
        await expect(page.get_by_role("log").get_by_text("1 of the lights")).to_be_visible()
        sessions = page.get_by_role("navigation", name="Sessions")
        await expect(sessions.get_by_role("link", name=LIGHTS)).to_be_visible()  # by its first message
        await page.get_by_role("link", name="New session").click()
        await expect(message).to_have_value("")

        await shown.open(FACTORY_RESET)
        await page.get_by_label("Device id").fill("h01")
        await named.fill(SESSION)
        await page.get_by_role("button", name="Factory reset", exact=True).click()
        await page.get_by_role("link", name="Answer it under Suspended calls").click()
        await page.get_by_label("Reason").fill("agreed by phone")
        keep_on = page.get_by_role("radiogroup", name="Keep on").get_by_role("radio", name="true")
        await keep_on.check()
        await page.reload()
        await expect(page.get_by_label("Reason")).to_have_value("agreed by phone")
        await expect(keep_on).to_be_checked()


async def test_the_call_that_is_shown_is_in_the_address(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open(LIST_DEVICES)
        await page.get_by_label("Session").fill(SESSION)
        result = page.get_by_role("region", name="Result")
        for site in ("harbour", "cabin"):
            await page.get_by_label("Site id").fill(site)
            await page.keyboard.press("Control+Enter")
            await expect(result.get_by_text(f'"site_id":"{site}"')).to_be_visible()
            await expect(result.locator(".tag").first).to_have_text("ok")
        await page.reload()
        await expect(result.locator(".tag").first).to_have_text("ok")
        await page.get_by_role("tab", name="History").click()
        await page.get_by_role("table").get_by_role("link").last.click()
        await expect(result.locator(".tag").first).to_have_text("ok")
        await page.get_by_role("button", name="Use these arguments").click()
        await expect(page.get_by_label("Site id")).to_have_value("harbour")
        await page.go_back()
        await expect(page.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")


async def test_calls_and_results_are_copied(tmp_path: Path) -> None:
    async with exploring_home(tmp_path, session_id=SESSION) as shown:
        page = shown.page
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await shown.open(LIST_DEVICES)
        await page.get_by_label("Site id").fill("cabin")
        for language, part in (
            ("shell", 'toolgen call assistant.devices.list_devices \'{"site_id":"cabin"}\''),
            ("Python", "await runtime.call("),
            ("TypeScript", "await fetch("),
            ("curl", '--data \'{"arguments":{"site_id":"cabin"}}\''),
        ):
            await page.get_by_role("radio", name=language).check()
            await page.get_by_role("button", name="Copy The same call").click()
            await expect(page.get_by_role("button", name="Copied The same call")).to_be_visible()
            assert part in await page.evaluate("navigator.clipboard.readText()")
        await page.keyboard.press("Control+Enter")
        await page.get_by_role("button", name="Copy Result").click()
        await expect(page.get_by_role("button", name="Copied Result")).to_be_visible()
        assert json.loads(await page.evaluate("navigator.clipboard.readText()"))["devices"]


async def test_a_conversation_says_that_its_run_failed(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        await shown.open("#/agents/assistant.chat")
        await shown.page.get_by_label("Message assistant.chat").fill("Nothing that the script knows.")
        await shown.page.keyboard.press("Enter")
        conversation = shown.page.get_by_role("region", name="Conversation")
        await expect(conversation.get_by_role("alert")).to_contain_text("The run failed: ")


async def test_keys_move_in_every_list_and_search_from_every_place(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/agents/assistant.chat/s-of-nobody")  # which its first message begins
        await page.get_by_label("Message assistant.chat").fill(LIGHTS)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("log").get_by_text("I cannot say which lights")).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)
        await shown.open("#/runs")
        await expect(page.get_by_role("link", name=LIGHTS)).to_be_visible()
        await page.keyboard.press("j")
        await expect(page.get_by_role("heading", level=1)).to_have_text("assistant.chat")
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()


async def test_a_runtime_without_agents_says_how_there_would_be_one() -> None:
    async with shop_runtime(Shop(), engine=None) as runtime, exploring(runtime) as shown:
        asked: list[str] = []
        shown.page.on("request", lambda sent: asked.append(sent.url))
        await shown.open("#/agents")
        await expect(shown.page.get_by_role("main").get_by_text("No agents yet")).to_be_visible()
        await expect(shown.page.get_by_text("There is nothing here")).to_have_count(0)
        await shown.page.wait_for_load_state("networkidle")
        assert not [url for url in asked if url.endswith("/sessions")]
