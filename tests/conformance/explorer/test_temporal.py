"""`toolgen serve` with the example on Temporal: a worker elsewhere executes the run that the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from examples.home.database import build
from examples.home.scripts import LAMP
from tests.conftest import ProjectFolder
from tests.temporal_server import TemporalServer
from tests.test_serve_command import serving
from tests.worker_process import working

from .browser import SESSION, browsing
from .piecemeal import GO_ON

pytestmark = pytest.mark.costly(whole=True)

PROJECT = """
from functools import partial
from pathlib import Path

from tests.conformance.explorer.piecemeal import home_on_temporal

runtime = partial(home_on_temporal, Path(__file__).parent, {temporal!r}, {postgres!r})
"""
BEGUN = "Ceiling lamp is as"
WHOLE = "Ceiling lamp is as it left the factory; 2 settings are gone."


async def test_a_run_on_temporal_is_shown_live_and_afterwards(
    temporal: TemporalServer, conninfo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = ProjectFolder(tmp_path, capsys)
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "none"\nruntime = "served:runtime"\n')
    project.write("served.py", PROJECT.format(temporal=temporal.address, postgres=conninfo))
    build(tmp_path / "home.db")
    with working(project):
        async with (
            serving(tmp_path, "--no-worker", "--session", SESSION) as server,
            browsing(server.url, server.token) as shown,
        ):
            page = shown.page
            await shown.open(f"#/agents/assistant.chat/{SESSION}")
            await page.get_by_label("Message assistant.chat").fill(LAMP)
            await page.keyboard.press("Enter")
            timeline = page.get_by_role("list", name="Timeline")
            lines = timeline.get_by_role("listitem")
            said = page.get_by_role("log", name="What was said")
            await expect(timeline.get_by_role("link", name="child run")).to_be_visible()
            asked = page.get_by_role("region", name="Reset h10 to factory settings?")
            await expect(asked.locator("pre").first).to_have_text('{\n  "device_id": "h10"\n}')
            await asked.get_by_role("button", name="Approve exactly this").click()
            await expect(said.locator("[aria-live]")).to_have_text(BEGUN)
            await expect(timeline.get_by_text("completed")).to_have_count(0)
            (tmp_path / GO_ON).touch()
            await expect(lines.last).to_contain_text("completed")
            await expect(said.get_by_text(WHOLE)).to_have_count(1)
            live = await lines.locator("strong").all_inner_texts()
            assert live[0] == "started"
            assert {"diagnose", "factory_reset", "factory_reset is suspended", "answered"} <= set(live)
            await page.reload()
            await expect(lines.last).to_contain_text("completed")
            assert await lines.locator("strong").all_inner_texts() == live
            await expect(said.locator("summary")).to_have_text(["diagnose ok", "factory_reset ok"])
            await timeline.get_by_role("link", name="child run").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("assistant.diagnostics")
            await expect(timeline.get_by_text("completed")).to_be_visible()
