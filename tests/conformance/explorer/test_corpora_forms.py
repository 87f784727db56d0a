"""The forms of docs/user-interfaces.md in a browser, drawn, filled and sent for the tools of the corpora."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance import corpora
from tests.conformance.corpora import Record
from tests.selection import volume
from toolgen.calls.functions.tools import function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.runtime import BoundTool, Runtime, ToolContext, ToolSpec
from toolgen.runtime.functions import json_schema_codec

from .browser import exploring
from .form_pages import PAGES, FormPage, opened

pytestmark = pytest.mark.costly(whole=True)

TOOLSET: Final = "others.tools"
UNDRAWN: Final = (
    "Unsupported field schema",
    "Unknown field type",
    "No applicable renderer",
    "No applicable cell",
)
"""What the libraries show in the place of a field that they do not draw."""


def features(schema: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield what a form has to draw for a schema: keywords, types and formats, by how deep they stand."""
    if not isinstance(schema, dict):
        yield depth, repr(type(schema))
        return
    kind = schema.get("type")
    yield depth, f"{kind} {schema.get('format', '')}"
    for key, value in schema.items():
        yield depth, key
        match key:
            case "properties" | "$defs" | "definitions" | "patternProperties" if isinstance(value, dict):
                for one in value.values():
                    yield from features(one, min(depth + 1, 3))
            case "oneOf" | "anyOf" | "allOf" | "prefixItems" if isinstance(value, list):
                yield depth, f"{key} of {min(len(value), 3)}"
                for one in value:
                    yield from features(one, min(depth + 1, 3))
            case "items" | "additionalProperties" | "not":
                yield from features(value, min(depth + 1, 3))
            case _:
                pass


def chosen(count: int) -> list[Record]:
    """Return so many tools with accepted arguments, those that show most that is new first."""
    every = [
        (record, set(features(record.input_schema)))
        for path in corpora.files()
        for record in corpora.records(path)
        if record.valid and not record.is_broken
    ]
    seen: set[Any] = set()
    taken: list[Record] = []
    while len(taken) < count and every:
        at = max(range(len(every)), key=lambda at: len(every[at][1] - seen))
        record, shown = every.pop(at)
        seen = seen | shown if shown - seen else set(shown)
        taken.append(record)
    return taken


async def take(payload: Any, context: ToolContext) -> str:
    """Take arguments."""
    return "taken"


def runtime_of(records: list[Record]) -> Runtime:
    """Return a runtime with a tool for each record: it takes what the schema of its authors takes."""
    runtime = Runtime()
    specs = [
        ToolSpec[Any, Any](
            id=f"{TOOLSET}.t{number}",
            description=record.id,
            payload=json_schema_codec(record.input_schema, f"T{number}"),
            result=TypeCodec(str, "Taken"),
        )
        for number, record in enumerate(records)
    ]
    runtime.tools.register(function_toolset(TOOLSET, [BoundTool(spec=spec, execute=take) for spec in specs]))
    return runtime


@pytest.mark.volume
@pytest.mark.parametrize("name", PAGES)
async def test_forms_of_tools_of_others_send_what_was_filled_in(script: Path, name: str) -> None:
    corpora.require()
    records = chosen(volume(12, lab=200))
    runtime = runtime_of(records)
    misses: list[str] = []
    async with runtime, exploring(runtime) as shown:
        form = await opened(shown, script, name)
        for number, record in enumerate(records):
            for document in record.valid[:2]:
                misses += [
                    f"{record.id}: {miss}" for miss in await missed(form, f"{TOOLSET}.t{number}", document)
                ]
            for document in record.invalid[:2]:
                await form.show(f"{TOOLSET}.t{number}", document)
                if await form.submit() == "ok" and form.sent != [without_null(document)]:
                    misses.append(f"{record.id}: sends {form.sent} for {document}")
    assert misses == []


def without_null(document: Any) -> Any:
    """Return a value without the properties that are null, as `settled` reads those that may be left out."""
    match document:
        case dict():
            return {key: without_null(value) for key, value in document.items() if value is not None}
        case list():
            return [without_null(item) for item in document]
        case _:
            return document


async def missed(form: FormPage, tool: str, document: Any) -> list[str]:
    """Return what is wrong with the form of accepted arguments."""
    await form.show(tool, document)
    said = await form.submit()
    misses = [text for text in UNDRAWN if await form.page.get_by_text(text).filter(visible=True).count()]
    if said != "ok" or form.sent != [document]:
        misses.append(f"{said}; sends {json.dumps(form.sent)[:200]} for {json.dumps(document)[:200]}")
    return misses
