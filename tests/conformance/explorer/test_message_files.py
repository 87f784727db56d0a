"""Files in the explorer: chosen, pasted, left out, sent with a message, and shown in the conversation."""

from __future__ import annotations

import base64

import pytest
from playwright.async_api import FilePayload, expect

from tests.adapters.http.shop import AGENT, Shop, shop_runtime

from .browser import exploring

pytestmark = pytest.mark.costly(whole=True)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PASTE = """
([name, data]) => {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], name, { type: "image/png" }));
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.activeElement.dispatchEvent(event);
}
"""


async def test_files_that_are_chosen_or_pasted_go_with_a_message() -> None:
    runtime = shop_runtime(Shop())
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open(f"#/agents/{AGENT}/s-files")
        message = page.get_by_label(f"Message {AGENT}")
        chosen = page.get_by_label("Attach files")
        await chosen.set_input_files(
            [
                FilePayload(name="note.txt", mimeType="text/plain", buffer=b"Buy milk."),
                FilePayload(name="wrong.txt", mimeType="text/plain", buffer=b"No."),
            ]
        )
        await page.get_by_role("button", name="Leave out wrong.txt").click()
        await message.focus()
        await page.evaluate(PASTE, ["pasted.png", PNG])
        await expect(page.get_by_role("button", name="Leave out pasted.png")).to_be_visible()
        await message.fill("hello")
        await page.keyboard.press("Enter")
        said = page.get_by_role("log", name="What was said")
        await expect(said.get_by_text("Buy milk.")).to_be_visible()
        await expect(said.get_by_role("heading", name="pasted.png image/png")).to_be_visible()
        await expect(said.get_by_text("wrong.txt")).to_have_count(0)
        await expect(page.get_by_role("button", name="Leave out note.txt")).to_have_count(0)
        await page.reload()  # the conversation has them, not the page
        await expect(said.get_by_text("Buy milk.")).to_be_visible()
        transcript = await (await shown.request.get(f"{shown.url}/sessions/s-files/messages")).json()
        files = transcript["turns"][0]["messages"][0]["files"]
        assert [(file["name"], file["media_type"]) for file in files] == [
            ("note.txt", "text/plain"),
            ("pasted.png", "image/png"),
        ]
        answer = await shown.request.get(f"{shown.url}/{files[1]['href']}")
        assert await answer.body() == base64.b64decode(PNG)


async def test_a_file_that_does_not_fit_says_why_and_stays() -> None:
    runtime = shop_runtime(Shop())
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        await shown.open(f"#/agents/{AGENT}/s-files")
        await page.get_by_label("Attach files").set_input_files(
            [FilePayload(name="photo.png", mimeType="image/png", buffer=b"no picture")]
        )
        await page.get_by_label(f"Message {AGENT}").fill("hello")
        await page.keyboard.press("Enter")
        why = "photo.png is not of the media type image/png"
        await expect(page.get_by_role("alert")).to_contain_text(why)
        await expect(page.get_by_role("button", name="Leave out photo.png")).to_be_visible()
