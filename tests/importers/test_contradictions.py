"""What no value satisfies: choices that their type refuses, and rules that exclude each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.built import imported
from tests.importers.operations import body, operation
from toolgen.shapes.foreign.rules import Rules


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "string", "enum": ["a", 1, None]}, "contains 1, null, which the type next to it refuses"),
        ({"type": ["integer", "null"], "const": "a"}, 'contains "a", which the type next to it refuses'),
        (
            {"type": "array", "items": {"type": "number", "enum": [1, 2.5, True]}},
            "contains true, which the type",
        ),
    ],
)
def test_a_contradiction_is_warned_of(schema: dict[str, Any], fault: str) -> None:
    found = [
        each for each in imported({"properties": {"x": schema}}).findings if "which the type" in each.message
    ]
    assert [each.code for each in found] == ["import-odd-schema"]
    assert found[0].message.startswith(fault)
    assert str(found[0].place.pointer).startswith("/properties/x/")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "enum": [1, 2.5]},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"enum": [1, "a"]},
    ],
)
def test_values_of_their_type_are_none(schema: dict[str, Any]) -> None:
    assert not [
        each for each in imported({"properties": {"x": schema}}).findings if "which the type" in each.message
    ]


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "string", "enum": ["a", 1, None]}, ("a",)),
        ({"type": "integer", "enum": [1.0, "2", 3.5]}, (1.0,)),
        ({"type": "number", "enum": [1, 2.5, "b"]}, (1, 2.5)),
        ({"type": ["string", "null"], "enum": ["a", None, 1]}, ("a", None)),
        ({"type": "string", "enum": [1, None]}, None),
        ({"type": "integer", "const": "a"}, None),
    ],
)
def test_an_issue_offers_no_value_that_is_refused(
    schema: dict[str, Any], allowed: tuple[Any, ...] | None
) -> None:
    (issue,) = Rules({"properties": {"x": schema}}).issues({"x": "z"})
    assert issue.allowed == allowed
    assert not any(Rules(schema).issues(value) for value in allowed or ())


CLOSED_A = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
}
CLOSED_B = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"b": {"type": "string"}},
    "required": ["b"],
}
OBJECT: dict[str, Any] = {"type": "object"}
TEXT: dict[str, Any] = {"type": "string"}
UNSATISFIABLE: list[tuple[dict[str, Any], str]] = [
    ({"allOf": [CLOSED_A, CLOSED_B]}, "'a' is required, but one part of it does not allow this property"),
    (
        {**CLOSED_A, "required": ["a", "c"]},
        "'c' is required, but one part of it does not allow this property",
    ),
    ({"allOf": [CLOSED_A, {"required": ["c"]}]}, "'c' is required"),
    ({"type": "integer", "minimum": 5, "maximum": 3}, "minimum is 5, and maximum is 3"),
    ({"type": "number", "minimum": 5, "exclusiveMaximum": 5}, "minimum is 5, and exclusiveMaximum is 5"),
    ({**TEXT, "minLength": 4, "maxLength": 3}, "minLength is 4, and maxLength is 3"),
    ({"type": "array", "minItems": 2, "maxItems": 1}, "minItems is 2, and maxItems is 1"),
    ({**OBJECT, "minProperties": 2, "maxProperties": 1}, "minProperties is 2, and maxProperties is 1"),
    ({**OBJECT, "required": ["a", "b"], "maxProperties": 1}, "it requires 2 properties"),
    ({"allOf": [{"minimum": 5, "type": "integer"}, {"maximum": 3}]}, "minimum is 5, and maximum is 3"),
    ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["c"]}]}, "satisfies the other keywords"),
    ({"allOf": [{"const": 1}, {"const": 2}]}, "satisfies the other keywords"),
    ({"enum": ["a"], "minLength": 2}, "satisfies the other keywords"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "have no type in common"),
    (
        {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"a": OBJECT}}], **OBJECT},
        "no value fits the required property 'a': its parts have no type in common",
    ),
    (
        {**OBJECT, "properties": {"a": False}, "required": ["a"]},
        "no value fits the required property 'a': a part of it is false",
    ),
    ({"type": "string", "oneOf": [{"type": "integer"}, {"type": "boolean"}]}, "every branch of its oneOf"),
    ({"not": {}}, "a part of it is false or not: {}"),
    ({"allOf": [TEXT, False]}, "a part of it is false"),
    ({"$ref": "#/$defs/Closed", "required": ["c"]}, "'c' is required"),
]


@pytest.mark.parametrize(("schema", "reason"), UNSATISFIABLE)
def test_a_schema_that_no_value_fits_is_warned_of(schema: dict[str, Any], reason: str) -> None:
    tool = {"type": "object", "properties": {"x": schema}, "$defs": {"Closed": CLOSED_A}}
    found = [each for each in imported(tool).findings if "no value fits" in each.message]
    assert [(each.code, each.place.pointer) for each in found] == [("import-odd-schema", "/properties/x")]
    assert reason in found[0].message


@pytest.mark.parametrize(
    ("schema", "reason"), [each for each in UNSATISFIABLE if each[1] != "it requires 2 properties"]
)
@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_so_is_one_of_an_openapi_document(schema: dict[str, Any], reason: str, version: str) -> None:
    beside_reference = "$ref" in schema
    if beside_reference:
        schema = {"allOf": [{"$ref": "#/components/schemas/Closed"}], "required": ["c"]}
    schemas = {"Odd": schema, "Closed": CLOSED_A}
    value = body({"$ref": "#/components/schemas/Odd"})
    files = operation(value, version=version, schemas=schemas)
    assert files.imported == 1
    found = [each for each in files.findings if "no value fits" in each.message]
    assert [each.code for each in found] == ["import-odd-schema"]
    assert reason in found[0].message
    assert found[0].place.pointer == "/components/schemas/Odd"


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{**CLOSED_A, "required": []}, {**CLOSED_B, "required": []}]},
        {"type": ["integer", "string"], "minimum": 5, "maximum": 3},
        {"minLength": 5, "maxLength": 3},
        {"not": {"allOf": [TEXT, OBJECT]}},
        {"anyOf": [{"not": {}}, TEXT]} | {"$comment": "the branch says so itself"},
        {"properties": {"a": False}, **OBJECT},
        {"allOf": [{"type": "number"}, {"type": "integer"}]},
        {"allOf": [{"enum": [1, "a"]}, {"enum": [1.0]}]},
        {**CLOSED_A, "required": ["a", "x-b"], "patternProperties": {"^x-": {}}},
        {"type": "integer", "minimum": 3, "maximum": 3},
        {"$ref": "#/$defs/Loop"},
    ],
)
def test_a_schema_that_a_value_fits_is_not(schema: dict[str, Any]) -> None:
    loop = {"properties": {"a": {"$ref": "#/$defs/Loop"}}, "allOf": [{"$ref": "#/$defs/Loop"}]}
    tool = {"type": "object", "properties": {"x": schema}, "$defs": {"Loop": loop}}
    found = [each for each in imported(tool).findings if "no value fits" in each.message]
    assert [each.place.pointer for each in found] in ([], ["/properties/x/anyOf/0"])


def test_null_fits_what_is_nullable() -> None:
    schema = {"type": "string", "minLength": 5, "maxLength": 3, "nullable": True}
    files = operation(body(schema), version="3.0.3")
    assert not [each for each in files.findings if "no value fits" in each.message]
