"""What many tools of a catalog have is written once: a further tool costs what is its own."""

from __future__ import annotations

import json
from operator import is_

import pytest

from tests.work import lines_run
from toolgen.catalog.repeated_types import definitions_of
from toolgen.catalog.writer import indented
from toolgen.contract.json_value import Json
from toolgen.dsl import Args, ArrayOf, Attribute, Design, Service, String, Tool, Toolset, Type, build
from toolgen.dsl.expr.tree import Toolset as BuiltToolset
from toolgen.shapes.fields import ObjectType
from toolgen.shapes.tree.schema import SchemaParts

ROOM = Type("Room", None, *(Attribute(f"a{n}", String, "One of many.") for n in range(60)))
HOUSE = Type("House", None, Attribute("rooms", ArrayOf(ROOM), None))


def _built() -> tuple[BuiltToolset, dict[str, ObjectType]]:
    tools = [Tool(name, "T.", Args(Attribute("house", HOUSE, None))) for name in ("buy", "sell")]
    design = build(Design("d", "D.", Service("s", "S.", Toolset("t", "T.", *tools)))).design
    assert design is not None
    toolset = design.services[0].toolsets[0]
    return toolset, {**design.shared, **{each.name: each for each in toolset.objects}}


def test_the_schema_of_a_type_is_written_once_for_all_tools() -> None:
    toolset, objects = _built()
    buy, sell = (tool.payload for tool in toolset.tools)
    parts = SchemaParts()
    assert lines_run(lambda: parts.schema(buy, objects)) > 600
    assert lines_run(lambda: parts.schema(sell, objects)) < 150
    assert parts.schema(sell, objects) == SchemaParts().schema(sell, objects)


def test_the_schemas_of_one_tool_are_let_go() -> None:
    toolset, objects = _built()
    parts = SchemaParts(shared={name: objects[name] for name in ("House", "Room")})
    payload = toolset.tools[0].payload
    first, second = (parts.schema(payload, objects) for _ in range(2))
    assert first == second
    assert first is not second
    assert all(map(is_, definitions_of(first).values(), definitions_of(second).values()))


@pytest.mark.parametrize(
    "value",
    [
        *[0.1, 0.0001, 0.00001, 0.000012, 1e-7, 1e15, 1e16, 1.5e300, -0.0, 5e-324, 10**30, True, None],
        *["", "1e5,", "e-7\n", "0.00001", "\ud800", '\x00\x1f\x7f\u2028"\\/é😀'],
        *[[], {}, {"a": []}, [{}], {"a": [1.0, {"b": 1e22}], "": "x"}],
    ],
    ids=repr,
)
def test_a_text_on_several_lines_is_that_of_python(value: Json) -> None:
    for document in (value, [value], {"key": value, "other": [value]}):
        for step in (" ", "  "):
            text = json.dumps(document, ensure_ascii=False, indent=step)
            assert indented(document, step) == text
