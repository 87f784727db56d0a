"""The forms of docs/user-interfaces.md in a browser: drawn, filled and sent for every tool of the example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pytest
from playwright.async_api import expect
from pydantic import Field

from tests.typescript.test_doc import blocks
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.catalog import load_catalog
from toolgen.runtime import Runtime, ToolModel
from toolgen.runtime.functions import Sensitive
from toolgen.shapes import lexical

from .browser import SESSION, Explorer, exploring, exploring_home
from .form_pages import DOC, PAGES, FormPage, opened

pytestmark = pytest.mark.costly(whole=True)

CATALOG: Final = load_catalog(Path("gen/tool_schemas.json"))
FORMS: Final = Path("toolgen/templates/typescript/forms.ts").read_text("utf-8")
DAY: Final = {"device_id": "h23", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}

BAD: Final[dict[str, tuple[str, Any]]] = {
    "a required text is missing": ("devices.list_devices", {}),
    "a number for a text": ("devices.list_devices", {"site_id": 7}),
    "null for a required text": ("devices.list_devices", {"site_id": None}),
    "null for an optional text": ("devices.list_devices", {"site_id": "harbour", "status": None}),
    "too small": ("devices.list_devices", {"site_id": "harbour", "limit": 0}),
    "too large": ("devices.list_devices", {"site_id": "harbour", "limit": 101}),
    "a fraction": ("devices.list_devices", {"site_id": "harbour", "limit": 2.5}),
    "a text for a number": ("devices.list_devices", {"site_id": "harbour", "limit": "20"}),
    "not one of the values": ("devices.list_devices", {"site_id": "harbour", "status": "broken"}),
    "an unknown property": ("devices.list_devices", {"site_id": "harbour", "color": "red"}),
    "no branch of a union": ("devices.set_state", {"device_id": "h09"}),
    "an unknown branch": ("devices.set_state", {"device_id": "h09", "command": {"kind": "fly"}}),
    "too large in a branch": (
        "devices.set_state",
        {"device_id": "h09", "command": {"kind": "dim", "level": 140}},
    ),
    "a property of another branch": (
        "devices.set_state",
        {"device_id": "h09", "command": {"kind": "dim", "level": 40, "position": 3}},
    ),
    "no multiple": ("devices.set_state", {"device_id": "h09", "command": {"kind": "heat", "target": 20.3}}),
    "an instant without an offset": ("devices.get_time_series", {**DAY, "start": "2026-01-28T00:00:00"}),
    "an instant with a space": ("devices.get_time_series", {**DAY, "start": "2026-01-28 00:00:00Z"}),
    "no day": ("devices.get_time_series", {**DAY, "start": "2026-02-30T00:00:00Z"}),
    "a leap second": ("devices.get_time_series", {**DAY, "end": "2016-12-31T23:59:60Z"}),
    "not of the pattern": ("maintenance.sign_in", {"pin": "12"}),
    "an empty text": ("documents.search", {"query": ""}),
    "an item that is none of the values": ("account.get_user_data", {"include": ["sites", "secrets"]}),
}
"""22 documents that are wrong or look so, with the tool of each."""


class Card(ToolModel):
    """By card."""

    kind: Literal["card"]
    number: Annotated[str, Sensitive()]


class Cash(ToolModel):
    """By cash."""

    kind: Literal["cash"]
    coins: int = 0


NOT_JSON: Final = "This is not JSON."
TWO_CHANGES: Final = """async ([level, choice, pauseMs]) => {
  const change = (element, value, kinds) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value").set.call(element, value);
    for (const kind of kinds) element.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const heat = Array.from(choice.options).find((one) => one.label === "Heat").value;
  change(level, "40", ["input"]);
  await new Promise((done) => setTimeout(done, pauseMs));
  change(choice, heat, ["input", "change"]);
}"""
"""Enters a level and, after a pause, chooses another branch, with the events of a person's input."""
KEPT: Final = {
    "code": "s3cret",
    "pay": {"kind": "card", "number": "4111"},
    "limits": {"a": 1},
    "facts": {"x": [1, {"y": None}]},
    "extra": {"z": [True]},
    "rows": [1, "two"],
}


async def keep(
    code: Annotated[str, Sensitive()],
    pay: Annotated[Card | Cash, Field(discriminator="kind")],
    limits: dict[str, int],
    facts: dict[str, Any],
    extra: Any,
    rows: list[Any],
) -> str:
    """Keep values of each kind that libraries leave out, or show to everybody."""
    return "kept"


async def takes(shown: Explorer, tool: str, document: Any) -> bool:
    """Return whether the server takes a document."""
    answer = await shown.request.post(
        f"{shown.url}/tools/assistant.{tool}/calls", data={"arguments": document}
    )
    assert answer.status in (200, 422), await answer.text()
    return answer.status == 200


@pytest.mark.parametrize("name", PAGES)
async def test_every_tool_is_drawn_filled_from_its_example_and_accepted(
    tmp_path: Path, script: Path, name: str
) -> None:
    async with exploring_home(tmp_path, session_id=SESSION) as shown:
        form = await opened(shown, script, name)
        for tool in CATALOG.tools:
            [example, *_] = tool["payload"].get("examples", [{}])
            await form.show(tool["id"], example)
            for one in tool["payload"]["schema"].get("properties", {}).values():
                await expect(shown.page.get_by_text(one["title"]).first).to_be_visible()
            if example:
                assert await form.submit() == "ok", tool["id"]
                assert form.sent == [example]


@pytest.mark.parametrize("name", PAGES)
async def test_22_bad_inputs_are_judged_as_the_server_does(tmp_path: Path, script: Path, name: str) -> None:
    assert len(BAD) == 22
    async with exploring_home(tmp_path, session_id=SESSION) as shown:
        form = await opened(shown, script, name)
        differ = {
            what
            for what, (tool, document) in BAD.items()
            if await lets_pass(form, tool, document) is not await takes(shown, tool, document)
        }
        assert differ == set()


async def lets_pass(form: FormPage, tool: str, document: Any) -> bool:
    """Return whether a document gets through a form and what it asks."""
    await form.show(f"assistant.{tool}", document)
    said = await form.submit()
    is_refused = bool(re.search("to correct$|^Invalid arguments", said))
    if form.name != "html":  # what is wrong is not sent; plain HTML leaves it to the server
        assert bool(form.sent) is not is_refused
    return not is_refused


async def sends_target(form: FormPage) -> None:
    """Enter a target and submit: exactly the chosen branch is sent."""
    await form.page.get_by_label(re.compile("^Target")).fill("20.5")
    form.sent.clear()
    await form.page.get_by_role("button", name="Submit").click()
    await expect(form.page.locator("output")).to_have_text("ok")
    assert form.sent == [{"device_id": "h03", "command": {"kind": "heat", "target": 20.5}}]


@pytest.mark.parametrize("name", PAGES)
async def test_nobody_has_chosen_a_branch_before_a_person_does(
    tmp_path: Path, script: Path, name: str
) -> None:
    async with exploring_home(tmp_path, session_id=SESSION) as shown:
        page = shown.page
        form = await opened(shown, script, name)
        await form.show("assistant.devices.set_state", {"device_id": "h03"})
        await expect(page.get_by_label("Level")).not_to_be_visible()
        said = await form.submit()
        assert re.search("to correct$|^Invalid arguments", said)
        await page.locator("select").first.select_option(label="Dim")
        await page.get_by_label(re.compile("^Level")).fill("40")
        await page.locator("select").first.select_option(label="Heat")
        await sends_target(form)


@pytest.mark.parametrize("name", PAGES)
async def test_a_change_stays_that_comes_while_the_form_reports_an_earlier_one(
    tmp_path: Path, script: Path, name: str
) -> None:
    """JSON Forms reports a change 10 ms later: a page that gave it back then undid what came in between."""
    async with exploring_home(tmp_path, session_id=SESSION) as shown:
        page = shown.page
        form = await opened(shown, script, name)
        for pause_ms in (0, 8, 9, 10, 11, 12):
            await form.show("assistant.devices.set_state", {"device_id": "h03"})
            await page.locator("select").first.select_option(label="Dim")
            level = await page.get_by_label(re.compile("^Level")).element_handle()
            choice = await page.locator("select").first.element_handle()
            await page.evaluate(TWO_CHANGES, [level, choice, pause_ms])
            await sends_target(form)


@pytest.mark.parametrize("name", PAGES)
async def test_sensitive_values_maps_and_free_values_are_typed_in(script: Path, name: str) -> None:
    runtime = Runtime()
    runtime.tools.register(function_toolset("shop.values", [func_tool(keep, toolset="shop.values")]))
    async with runtime, exploring(runtime) as shown:
        page = shown.page
        form = await opened(shown, script, name)
        await form.show("shop.values.keep", KEPT)
        assert await form.submit() == "ok"
        assert form.sent == [KEPT]
        secret = page.locator("input[type=password]")
        assert [await one.input_value() for one in await secret.all()] == ["s3cret", "4111"]
        assert await page.get_by_text("4111").count() == 0
        await secret.first.fill("0th3r")
        if name == "rjsf":
            await page.get_by_label(re.compile("^a[*]?$")).last.fill("5")
        else:
            await page.get_by_label("Limits").fill('{"a": 5}')
        await page.get_by_label("Extra").fill("[1, 2]")
        await page.get_by_label("Rows").fill("[]")
        await page.get_by_label("Facts").fill('{"x": ')
        form.sent.clear()
        await page.get_by_role("button", name="Submit").click()
        assert await page.get_by_label("Facts").evaluate("input => input.validationMessage") == NOT_JSON
        await page.get_by_label("Facts").fill('{"x": 2}')
        await page.get_by_role("button", name="Submit").click()
        await expect(page.locator("output")).to_have_text("ok")
        changed = {"code": "0th3r", "limits": {"a": 5}, "facts": {"x": 2}, "extra": [1, 2], "rows": []}
        assert form.sent == [{**KEPT, **changed}]


def test_a_page_has_43_lines_at_most() -> None:
    for name, kind in PAGES.items():
        [text] = blocks(f'{kind} title="{name}"', DOC)
        assert len(text.splitlines()) <= 43


def test_the_formats_are_those_of_the_server() -> None:
    for name, form in (("DATE", lexical.DATE), ("DATETIME", lexical.DATETIME), ("UUID", lexical.UUID)):
        [text] = re.findall(rf"^const {name} =\s*/(.*)/;$", FORMS, re.MULTILINE)
        assert text == form
