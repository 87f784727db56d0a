"""The pictures of the documents: `UPDATE=1` takes them again; otherwise what they show is still shown."""

from __future__ import annotations

import os
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Page, expect

from .browser import SESSION, Explorer, exploring_home

pytestmark = pytest.mark.costly(whole=True)

PICTURES: Final = Path("docs/pictures")
WIDTH: Final = 1400
HEIGHT: Final = 800
DOCUMENTS: Final = Path("README.md").read_text() + Path("docs/serving.md").read_text()


async def call(shown: Explorer) -> None:
    """A call of a tool with an artifact that is a chart."""
    page = shown.page
    await shown.open("#/tools/assistant.devices.get_time_series")
    await page.get_by_role("button", name="Example", exact=True).click()
    await page.get_by_label("Session").fill(SESSION)
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("canvas")).to_be_visible()


async def conversation(shown: Explorer) -> None:
    """A conversation whose agent asks before it destroys."""
    page = shown.page
    await shown.open(f"#/agents/assistant.chat/{SESSION}")
    await page.get_by_label("Message assistant.chat").fill(
        "Find out what is wrong with the ceiling lamp, and put it back to factory settings."
    )
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("radiogroup", name="Keep on")).to_be_visible()
    await page.locator("main").evaluate("main => main.scrollTo(0, 0)")


@pytest.mark.parametrize(("name", "show"), [("call", call), ("conversation", conversation)])
async def test_a_picture_is_of_what_is_shown(
    tmp_path: Path, name: str, show: Callable[[Explorer], Awaitable[None]]
) -> None:
    path = PICTURES / f"explorer-{name}.png"
    async with exploring_home(tmp_path) as shown:
        await shown.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        await show(shown)
        if os.environ.get("UPDATE"):
            await taken(shown.page, path)
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    assert (width, height) == (WIDTH, HEIGHT)
    assert path.name in DOCUMENTS


async def taken(page: Page, path: Path) -> None:
    await page.screenshot(path=path, animations="disabled", caret="hide")
