"""An approval in the explorer that counts for further calls of its session, until it is revoked there."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset

from .browser import SESSION, Explorer, exploring
from .test_tools import AXE

pytestmark = pytest.mark.costly(whole=True)


async def write(path: str) -> str:
    """Write a file."""
    return f"wrote {path}"


async def wipe(path: str) -> str:
    """Wipe a disk."""
    return f"wiped {path}"


def disk() -> Runtime:
    runtime = Runtime(engine=InProcessEngine(), events=Events())
    tools = [
        func_tool(write, toolset="x.disk", confirm=ConfirmSpec(hint="Write {path}?", grantable=True)),
        func_tool(wipe, toolset="x.disk", confirm=ConfirmSpec(hint="Wipe {path}?")),
    ]
    runtime.tools.register(function_toolset("x.disk", tools))
    return runtime


async def call(shown: Explorer, tool: str, path: str) -> None:
    await shown.open(f"#/tools/x.disk.{tool}")
    await shown.page.get_by_label("Path").fill(path)
    await shown.page.get_by_label("Session").fill(SESSION)
    await shown.page.keyboard.press("Control+Enter")


async def test_a_person_grants_further_calls_and_takes_that_back() -> None:
    async with disk() as runtime, exploring(runtime) as shown:
        page = shown.page
        await call(shown, "write", "/srv/a")
        await page.get_by_role("link", name="Answer it under Suspended calls").click()
        asked = page.get_by_role("region", name="Write /srv/a?")
        further = asked.get_by_role("checkbox", name="Approve further calls of this session too")
        terms = asked.get_by_role("group", name="Further calls")
        await expect(terms).to_have_count(0)
        await further.check()
        await expect(terms.get_by_label("Uses")).to_have_value("5")
        await terms.get_by_label("Uses").fill("2")
        await page.evaluate(AXE.read_text())
        found = await page.evaluate("async () => (await axe.run()).violations")
        assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
        await asked.get_by_role("button", name="Approve this and further calls").click()
        await expect(asked.get_by_text("Approved at")).to_be_visible()
        granted = page.get_by_role("region", name="Granted in this session")
        row = granted.get_by_role("row").nth(1)
        await expect(row).to_contain_text('x.disk.writepath is "/srv/a"by ')
        await expect(row).to_contain_text("0 of 2")

        result = page.get_by_role("region", name="Result")
        await call(shown, "write", "/srv/a")
        await expect(result.locator(".tag").first).to_have_text("ok")
        await call(shown, "write", "/srv/b")
        await expect(result.locator(".tag").first).to_have_text("suspended")
        await page.get_by_role("link", name="Answer it under Suspended calls").click()
        await expect(row).to_contain_text("1 of 2")
        await row.get_by_role("button", name="Revoke").click()
        await expect(granted).to_have_count(0)
        assert await runtime.suspensions.grants(SESSION) == ()
        await call(shown, "write", "/srv/a")
        await expect(result.locator(".tag").first).to_have_text("suspended")


async def test_nothing_is_offered_where_the_design_allows_no_grant() -> None:
    async with disk() as runtime, exploring(runtime) as shown:
        page = shown.page
        await call(shown, "wipe", "/srv")
        await page.get_by_role("link", name="Answer it under Suspended calls").click()
        asked = page.get_by_role("region", name="Wipe /srv?")
        await expect(asked.get_by_role("button", name="Approve exactly this")).to_be_visible()
        await expect(asked.get_by_role("checkbox")).to_have_count(0)
