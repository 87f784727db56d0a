"""Schemas that refer to too much to carry it all: any object stands in them for what they lack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.recursive_api import recursive_api
from toolgen.importers.openapi import openapi_files
from toolgen.importers.openapi_outlines import widened
from toolgen.importers.text import read_document
from toolgen.shapes.foreign.reader.validator import rejected_values

CIRCLE = {"type": "object", "properties": {"radius": {"type": "integer"}}, "required": ["radius"]}
SQUARE = {"type": "object", "properties": {"side": {"type": "integer"}}, "required": ["side"]}
TO_CIRCLE = {"$ref": "#/$defs/Circle"}
TO_SQUARE = {"$ref": "#/$defs/Square"}
OPEN = {"unevaluatedProperties": False}


def test_components_that_lead_to_each_other_are_carried_as_often_as_there_is_room(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(recursive_api(60)), "utf-8")
    files = openapi_files(read_document(file), name="api", service="api")
    [finding] = files.findings
    assert files.imported == 60
    assert finding.code == "import-left-out"
    assert finding.message == (
        "schemas that clauses cannot express have too many references; any object is accepted in them "
        "for " + ", ".join(f"C{number}" for number in range(57, 37, -1)) + " and 37 more"
    )
    carried = [json.loads(files.files[f"api_schemas/C{n}Next.json"])["$defs"] for n in (59, 0)]
    assert [len(each) for each in carried] == [60, 1]
    assert carried[1] == {"C1": {"type": "object"}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [TO_CIRCLE, TO_SQUARE]}, {"radius": 1}),
        ({"oneOf": [TO_CIRCLE, {"type": "string"}]}, "x"),
        ({"anyOf": [{"type": "object"}], "oneOf": [TO_CIRCLE, TO_SQUARE]}, {"side": 1}),
        ({"not": TO_CIRCLE}, {"side": 1}),
        ({"if": TO_CIRCLE, "then": {"required": ["name"]}}, {"side": 1}),
        ({"contains": TO_CIRCLE, "maxContains": 1}, [{"radius": 1}, {"side": 1}]),
        ({"allOf": [TO_CIRCLE], **OPEN}, {"radius": 1}),
        ({"items": {"allOf": [TO_CIRCLE], **OPEN}}, [{"radius": 1}]),
        ({"properties": {"not": TO_CIRCLE, "default": {"not": TO_CIRCLE}}}, {"default": {"side": 1}}),
    ],
)
def test_a_schema_of_outlines_refuses_nothing_that_it_accepted(schema: dict[str, Any], value: object) -> None:
    exact = {**schema, "$defs": {"Circle": CIRCLE, "Square": SQUARE}}
    outlined = {**schema, "$defs": {"Circle": {"type": "object"}, "Square": {"type": "object"}}}
    assert not rejected_values(exact, [("", value)])
    assert not rejected_values(widened(outlined, ["Circle", "Square"]), [("", value)])


@pytest.mark.parametrize("schema", [{"not": {"type": "string"}}, {"oneOf": [{"const": 1}, {"const": 2}]}])
def test_what_refers_to_no_outline_stays(schema: dict[str, Any]) -> None:
    whole = {"properties": {"a": schema, "b": TO_CIRCLE, "not": {"type": "integer"}}, "$defs": {"Circle": {}}}
    assert widened(whole, ["Circle"]) == whole
