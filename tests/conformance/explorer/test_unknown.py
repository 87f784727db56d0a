"""Calls whose outcome nobody knows, in the explorer: all that a person may have found out about one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.adapters.http.shop import AGENT, Shop, shop_runtime
from toolgen.agents import agents_of
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .browser import Explorer, exploring, exploring_home

pytestmark = pytest.mark.costly(whole=True)


async def lose(runtime: Runtime, shop: Shop, session: str) -> str:
    """Cancel a run in the middle of a call that may not run twice; return its id."""
    shop.has_begun.clear()
    handle = await agents_of(runtime).client(AGENT).start("hold", session_id=session)
    await shop.has_begun.wait()
    await handle.cancel("enough")
    await handle.result()
    return handle.run_id


async def asked(shown: Explorer, run: str, choice: str) -> Locator:
    """Show a run, and choose what was found out about its call."""
    await shown.open(f"#/runs/{run}")
    panel = shown.page.get_by_role("region", name="May have run")
    await expect(panel.get_by_role("heading", level=2)).to_have_text("May have run: Hold")
    await expect(panel.get_by_role("button")).to_be_disabled()
    await panel.get_by_role("radio", name=choice, exact=True).check()
    return panel


async def resolved(page: Page, runtime: Runtime, run: str) -> Any:
    """Return the messages of the answer that a run's conversation has, once the page has nothing to ask."""
    await expect(page.get_by_role("region", name="May have run")).to_have_count(0)
    session = (await runtime.runs.status(run)).session
    [said] = await agents_of(runtime).sessions.transcript(session)
    [answer] = said.messages[-1].answers  # type: ignore[union-attr]  # the results of the call
    return answer


async def test_a_person_says_what_became_of_a_call_or_tries_it_again(tmp_path: Path) -> None:
    shop = Shop()
    runtime = shop_runtime(shop, engine=InProcessEngine(tmp_path / "runs.db"))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        ran, failed, not_run, again = [await lose(runtime, shop, f"s-{number}") for number in range(4)]
        await shown.open("#/runs")
        await expect(
            page.get_by_role("navigation", name="Runs").get_by_role("img", name="unknown")
        ).to_have_count(4)
        await expect(page.locator(".list .dot.good")).to_have_count(0)
        await shown.open(f"#/agents/{AGENT}")
        sessions = page.get_by_role("navigation", name="Sessions")
        await expect(sessions.get_by_role("img", name="May have run")).to_have_count(4)
        await expect(page.get_by_label("4 suspended")).to_be_visible()
        await shown.open("#/suspensions")
        await page.get_by_role("link", name="Unknown outcomes").click()
        await expect(page.get_by_role("row")).to_have_count(5)
        await page.get_by_role("row").nth(4).get_by_role("link").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(AGENT)

        panel = await asked(shown, ran, "It ran, and has a result")
        await panel.get_by_label("The result as JSON").fill("7")
        await panel.get_by_role("button", name="Keep this").click()
        await expect(panel.get_by_text("Invalid answer: this is not a result of hold")).to_be_visible()
        await panel.get_by_label("The result as JSON").fill('"held by the other system"')
        await panel.get_by_role("button", name="Keep this").click()
        answer = await resolved(page, runtime, ran)
        assert (answer.status, answer.text, answer.resolved_by) == ("ok", '"held by the other system"', "ann")

        panel = await asked(shown, failed, "It failed")
        await panel.get_by_label("Why, for the model").fill("The door was locked.")
        await panel.get_by_role("button", name="Keep this").click()
        answer = await resolved(page, runtime, failed)
        assert (answer.status, "The door was locked." in answer.text) == ("error", True)

        panel = await asked(shown, not_run, "It did not run")
        await panel.get_by_role("button", name="Keep this").click()
        assert (await resolved(page, runtime, not_run)).status == "error"

        panel = await asked(shown, again, "It did not run: try it again")
        await panel.get_by_role("button", name="Keep this, and fill the form").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Hold")
        await expect(page.get_by_label("Session")).to_have_value("s-3")
        shop.goes_on.set()
        await page.keyboard.press("Control+Enter")
        result = page.get_by_role("region", name="Result")
        await expect(result.locator(".tag").first).to_have_text("ok")
        assert shop.log == ["held"]
        await shown.open("#/suspensions?for=word")
        await expect(page.get_by_text("No call has an unknown outcome")).to_be_visible()


async def test_a_call_that_was_lost_long_ago_is_found(tmp_path: Path) -> None:
    shop = Shop()
    runtime = shop_runtime(shop, engine=InProcessEngine(tmp_path / "runs.db"))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await lose(runtime, shop, "s-old")
        client = agents_of(runtime).client(AGENT)
        for number in range(110):
            await (await client.start("hello", session_id=f"s-{number}")).result()
        await shown.open("#/suspensions?for=word")
        await expect(page.get_by_text("Of the newest 100 runs.")).to_be_visible()
        await expect(page.get_by_role("row")).to_have_count(0)
        await page.get_by_role("button", name="Older").click()
        await expect(page.get_by_text("Of all runs.")).to_be_visible()
        await expect(page.get_by_role("row")).to_have_count(2)
        await shown.open("#/runs")
        await page.get_by_role("button", name="Older").click()
        await expect(page.get_by_role("link", name="hold")).to_be_visible()


async def test_the_map_draws_the_design(tmp_path: Path) -> None:
    async with exploring_home(tmp_path) as shown:
        page = shown.page
        await shown.open("#/map")
        await expect(page.get_by_text("bound to 3 services.")).to_be_visible()
        services = page.get_by_role("region", name="Services")
        await expect(services.get_by_text("list_devices for list_devices")).to_be_visible()
        agents = page.get_by_role("region", name="Agents")
        await expect(agents.get_by_text("answers diagnose")).to_be_visible()
        kinds = await page.locator(".links > path").evaluate_all(
            "paths => paths.map(path => path.classList[0])"
        )
        assert {*kinds} == {"uses", "answers", "bound"}


async def test_the_map_draws_who_uses_and_answers_what(tmp_path: Path) -> None:
    runtime = shop_runtime(Shop())
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open("#/map")
        lines = page.locator(".links > path")
        await expect(lines).to_have_count(1)
        await page.get_by_role("link", name=AGENT).focus()
        await expect(page.locator(".links > .lit")).to_have_count(1)
        await expect(page.get_by_text("uses 3 of shop.orders")).to_be_visible()
        await page.set_viewport_size({"width": 400, "height": 900})
        await expect(lines).to_have_count(0)
