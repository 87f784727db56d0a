"""What a schema says beside its rules is in the design, or is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.built import imported, regenerated
from toolgen.importers.ledger import lost_notes

STRING = {"type": "string"}


def object_(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def lost(properties: dict[str, Any], **more: Any) -> list[str]:
    """Return what the clauses of an object lack, by comparison with the schema of its design."""
    schema = object_(properties, **more)
    return list(lost_notes(schema, regenerated(schema), "find"))


@pytest.mark.parametrize(
    "said",
    [
        {"description": "A name.", "title": "Name shown", "examples": ["a", "b"], "deprecated": True},
        {"default": "a", "title": "X"},
        {"format": "uri", "description": "Where."},
        {"oneOf": [{"const": "a", "title": "Alpha"}, {"const": "b", "description": "Beta"}]},
        {"enum": ["a", "b"], "description": "One of two."},
        {"description": "", "deprecated": False, "default": None},
        {"description": "A long text. " * 400},
        {"anyOf": [{"format": "uri", **STRING}, {"type": "null"}], "default": None},
        {"$ref": "#/$defs/Part", "description": "A part."},
    ],
    ids=["facts", "default", "format", "labels", "enum", "nothing", "long", "nullable", "reference"],
)
def test_what_clauses_carry_is_not_lost(said: dict[str, Any]) -> None:
    part = object_({"size": {"type": "integer", "description": "Size.", "default": 1}}, description="Parts.")
    type_ = {} if "$ref" in said or "anyOf" in said else STRING
    assert lost(
        {"x": {**type_, **said}, "y": STRING}, **{"$defs": {"Part": part, "Unused": {"title": "U"}}}
    ) == (["/$defs/Part/description"] if "$ref" in said else [])


@pytest.mark.parametrize(
    ("said", "pointers"),
    [
        ({"x": {"type": "array", "items": {**STRING, "description": "One."}}}, ["/x/items/description"]),
        ({"x": {**STRING, "x-order": 1, "$comment": "No."}}, ["/x/x-order", "/x/$comment"]),
        ({"x": {"type": "integer", "format": "int32"}}, ["/x/format"]),
        ({"x": {**STRING, "readOnly": True, "writeOnly": False}}, ["/x/readOnly"]),
        ({"x": {**STRING, "examples": ["a", 1]}}, ["/x/examples"]),
        ({"x": {"anyOf": [{**STRING, "title": "A text"}, {"type": "null"}]}}, ["/x/anyOf/0/title"]),
        ({"x": {"oneOf": [{"const": "a", "title": "Alpha"}]}}, ["/x/oneOf/0/title"]),
        ({"x": {"enum": ["a", "b"], "x-enumNames": ["A"]}}, ["/x/x-enumNames"]),
    ],
)
def test_what_they_lack_is_named_with_its_place(said: dict[str, Any], pointers: list[str]) -> None:
    assert lost(said) == [f"/properties{pointer}" for pointer in pointers]


def test_a_title_that_only_names_the_tool_is_nothing_lost() -> None:
    assert lost({"x": STRING}, title="findArguments") == []
    assert lost({"x": STRING}, title="All of it") == ["/title"]


def test_one_finding_names_all_of_a_side() -> None:
    said = object_({"x": {**STRING, "x-a": 1}, "y": {"type": "array", "items": {**STRING, "x-b": 1}}})
    (finding,) = imported(said).findings
    assert (finding.code, finding.severity, finding.place.pointer) == (
        "import-note-left-out",
        "warning",
        "/properties/x/x-a",
    )
    assert finding.message == (
        "has notes that the design leaves out: /properties/x/x-a, /properties/y/items/x-b"
    )


def test_a_schema_that_stays_one_lacks_what_nobody_knows() -> None:
    said = object_({"x": {**STRING, "title": "A text", "x-a": 1}}, minProperties=1, title="All of it")
    (finding,) = imported(said).findings
    assert finding.message == "has notes that the design leaves out: /properties/x/x-a"


def test_a_schema_that_leads_to_itself_is_read_once() -> None:
    node = object_({"parts": {"type": "array", "items": {"$ref": "#/$defs/Node"}, "x-a": 1}})
    assert lost({"node": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}}) == [
        "/$defs/Node/properties/parts/x-a"
    ]
