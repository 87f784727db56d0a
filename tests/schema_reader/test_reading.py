"""What is refused or warned of, the contract, and the root of arguments."""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum
from typing import Any

import jsonschema_rs
import pytest

from toolgen.shapes.foreign.reader import read

from .reader import errors, foreign

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def test_a_schema_is_an_object_or_a_boolean() -> None:
    assert errors([]) == [("", "is not a JSON Schema: it is neither an object nor true or false")]
    assert foreign(True).schema == {}
    assert foreign(False).schema == {"not": {}}


def test_each_place_that_breaks_the_metaschema_is_named_once() -> None:
    schema = {
        "type": "object",
        "required": ["a", 1],
        "properties": {"a": {"type": "strin"}, "b": {"exclusiveMinimum": "1"}},
    }
    assert errors(schema) == [
        ("/properties/a/type", "has the type 'strin', which JSON Schema does not define"),
        ("/properties/b/exclusiveMinimum", 'is not valid JSON Schema: "1" is not of type "number"'),
        ("/required/1", 'is not valid JSON Schema: 1 is not of type "string"'),
    ]


@pytest.mark.parametrize(
    ("ref", "what"),
    [
        ("#/$defs/Nope", "which does not exist"),
        ("#nope", "which does not exist"),
        ("#/$defs/three", "which is not a schema"),
        ("https://example.com/a.json#/b", "which is another document"),
        ("a.json", "which is another document"),
    ],
)
def test_a_reference_needs_a_schema_in_this_document(ref: str, what: str) -> None:
    schema = {"properties": {"a": {"$ref": ref}}, "$defs": {"three": {}}, "x": 3}
    found = errors(schema if "three" not in ref else {**schema, "$defs": {"three": [3]}})
    assert ("/properties/a", f"refers to '{ref}', {what}") in found


def test_what_a_reference_finds_outside_the_keywords_is_checked_too() -> None:
    schema: dict[str, Any] = {"$ref": "#/components/T", "components": {"T": {"type": "odd"}}}
    assert errors(schema) == [("/components/T/type", "has the type 'odd', which JSON Schema does not define")]
    schema["components"]["T"]["type"] = "string"
    assert foreign(schema).root == {"type": "string"}


def test_references_that_multiply_out_are_refused() -> None:
    definitions: dict[str, Any] = {
        f"D{level}": {"anyOf": [{"allOf": [{"$ref": f"#/$defs/D{level + 1}"}]} for _ in "ab"]}
        for level in range(25)
    }
    schema = {"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": {**definitions, "D25": {}}}
    assert errors(schema) == [("/$defs/D14", "has references that expand to more than 10000 schemas")]


def test_references_that_lead_back_without_a_value_are_refused() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
    }
    [(_, message)] = errors(schema)
    assert message.endswith("which refers back to this schema for the same value")


def test_a_pattern_must_compile() -> None:
    schema = {"properties": {"a": {"pattern": "("}, "b": {"patternProperties": {"[/": {}}}}}
    assert [pointer for pointer, _ in errors(schema)] == [
        "/properties/a/pattern",
        "/properties/b/patternProperties/[~1",
    ]


@pytest.mark.parametrize("depth", [200, 100_000])
def test_a_deep_schema_is_refused_whatever_its_depth(depth: int) -> None:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    [(_, message)] = errors(schema)
    assert message == "is nested more than 100 levels deep"


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}, "\ud800", [10**5000]], ids=type)
def test_a_schema_is_json(value: object) -> None:
    assert len(errors({"default": value})) == 1


class Kind(StrEnum):
    OBJECT = "object"


class Word(str, Enum):  # noqa: UP042  # whose `str()` is another text
    MAXIMUM = "maximum"


class Size(IntEnum):
    LARGE = 9


def test_members_of_enums_are_the_text_and_the_numbers_that_they_are() -> None:
    schema = {"type": Kind.OBJECT, "properties": {"a": {Word.MAXIMUM: Size.LARGE, "enum": [Size.LARGE]}}}
    expected = {"type": "object", "properties": {"a": {"maximum": 9, "enum": [9]}}}
    written = foreign(schema).schema
    assert written == expected
    assert repr(written) == repr(expected)


@pytest.mark.parametrize("uri", ["http://json-schema.org/draft-03/schema#", "urn:mine", 3])
def test_other_dialects_are_refused_by_name(uri: object) -> None:
    assert errors({"$schema": uri}) == [("/$schema", f"names the dialect {uri!r}, which is not supported")]


def test_a_default_that_its_schema_refuses_is_a_warning_and_stays_in_the_contract() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "default": None},
            "b": {"minimum": 1, "type": "integer", "default": 0},
            "c": {"$ref": "#/$defs/c d", "default": 1},
            "d": {"$ref": "#/$defs/c d", "default": "x"},
        },
        "required": ["d"],
        "$defs": {"c d": {"type": "string"}},
    }
    reading = read(schema, name="Root")
    assert reading.foreign is not None
    assert [(problem.pointer, problem.message) for problem in reading.problems] == [
        ("/properties/a/default", "is null, which does not match its own schema"),
        ("/properties/b/default", "is an integer (0), which does not match its own schema"),
        ("/properties/c/default", "is an integer (1), which does not match its own schema"),
    ]
    assert all(problem.is_warning for problem in reading.problems)
    assert "default" not in str(reading.foreign.classes)
    assert str(reading.foreign.schema).count("default") == 4


def test_the_contract_is_the_schema_without_its_name() -> None:
    schema = {"$schema": DRAFT_7, "$id": "https://a.b/c", "x-mine": 1, "type": "string", "nullable": True}
    assert foreign(schema).schema == {"x-mine": 1, "type": "string", "nullable": True}
    assert "$id" in schema


UPGRADES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"items": [{}, {"type": "null"}], "additionalItems": False},
        {"prefixItems": [{}, {"type": "null"}], "items": False},
    ),
    ({"items": {}, "additionalItems": False}, {"items": {}}),
    (
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
    ),
    (
        {"$ref": "#/definitions/x", "minLength": 3, "title": "T", "definitions": {"x": {"type": "string"}}},
        {"$ref": "#/definitions/x", "title": "T", "definitions": {"x": {"type": "string"}}},
    ),
    ({"prefixItems": [False], "minContains": 2, "unevaluatedProperties": False}, {}),
    ({"allOf": [{"$id": "#x"}, {"$id": "#/allOf/1"}]}, {"allOf": [{"$anchor": "x"}, {}]}),
    (
        {"properties": {"a": {"$ref": "#/properties/b/items/0"}, "b": {"items": [{"type": "null"}]}}},
        {
            "properties": {
                "a": {"$ref": "#/properties/b/prefixItems/0"},
                "b": {"prefixItems": [{"type": "null"}]},
            }
        },
    ),
    ({"deprecated": "soon"}, {}),
    (
        {
            "$id": "https://a.b/c",
            "allOf": [{"$ref": "https://a.b/c#/definitions/x"}],
            "definitions": {"x": {}},
        },
        {"allOf": [{"$ref": "#/definitions/x"}], "definitions": {"x": {}}},
    ),
    (
        {"allOf": [{"$ref": "#/definitions/A<B>"}], "definitions": {"A<B>": {}}},
        {"allOf": [{"$ref": "#/definitions/A%3CB%3E"}], "definitions": {"A<B>": {}}},
    ),
]


@pytest.mark.parametrize(("schema", "expected"), UPGRADES)
def test_draft_7_is_upgraded(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert foreign({"$schema": DRAFT_7, **schema}).schema == expected


def test_two_forms_of_draft_7_are_read_where_no_dialect_is_named() -> None:
    schema = {"items": [{}], "dependencies": {"a": ["b"]}, "minContains": 0}
    upgraded = {"prefixItems": [{}], "minContains": 0, "dependentRequired": {"a": ["b"]}}
    assert foreign(schema).schema == upgraded


def test_arguments_are_always_a_class() -> None:
    opened = {"type": "object", "properties": {}, "required": [], "additionalProperties": True}
    for schema in ({}, True, {"type": ["object", "null"]}):
        read_ = foreign(schema, arguments=True)
        assert read_.schema == {"type": "object"}
        assert (read_.root, read_.classes) == ({"$ref": "#/$defs/Root"}, {"Root": opened})
        assert read_.is_exact


@pytest.mark.parametrize("schema", [{"type": "string"}, {"allOf": [{"type": "array"}]}, False])
def test_arguments_that_are_no_object_are_refused(schema: object) -> None:
    assert errors(schema, arguments=True)[0][1].endswith("but the arguments of a tool are an object")


def test_properties_of_arguments_need_no_type_beside_them() -> None:
    read_ = foreign({"properties": {"a": {"type": "string"}}}, arguments=True)
    assert read_.is_exact
    assert read_.schema["type"] == "object"


def test_alternatives_of_arguments_are_one_open_class() -> None:
    branches = [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
        {"properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]},
    ]
    read_ = foreign({"type": "object", "oneOf": branches}, arguments=True)
    assert not read_.is_exact
    assert read_.classes["Root"] == {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "x": {}, "y": {}},
        "required": ["kind"],
        "additionalProperties": True,
    }


def test_what_refers_to_untyped_arguments_keeps_its_meaning() -> None:
    read_ = foreign({"properties": {"a": {"$ref": "#"}}}, arguments=True)
    assert read_.schema["$defs"] == {"Root": {"properties": {"a": {"$ref": "#/$defs/Root"}}}}


def test_an_anchor_is_referred_to_by_its_name() -> None:
    schema = {"$ref": "#text", "$defs": {"t": {"$anchor": "text", "type": "string"}}}
    assert (foreign(schema).root, foreign(schema).is_exact) == ({"type": "string"}, True)


def test_a_schema_with_an_id_of_its_own_is_left_to_the_contract() -> None:
    schema = {
        "$id": "https://a.b/root",
        "items": {"$ref": "item"},
        "type": "array",
        "$defs": {"item": {"$id": "item", "type": "string"}},
    }
    read_ = foreign(schema)
    assert read_.schema == schema
    assert (read_.root, read_.is_exact) == ({"type": "array", "items": {}}, False)


def test_a_reference_under_an_id_starts_from_it() -> None:
    node = {
        "$id": "http://localhost/node",
        "type": "object",
        "properties": {"value": {"type": "number"}, "subtree": {"$ref": "tree"}},
    }
    schema = {
        "$id": "http://localhost/tree",
        "type": "object",
        "properties": {"nodes": {"type": "array", "items": {"$ref": "node"}}},
        "required": ["nodes"],
        "$defs": {"node": node},
    }
    validator = jsonschema_rs.Draft202012Validator(foreign(schema).schema)
    assert validator.is_valid({"nodes": [{"subtree": {"nodes": [{"value": 1}]}}]})
    assert not validator.is_valid({"nodes": [{"subtree": {"nodes": [{"value": "1"}]}}]})


def test_what_is_repaired_is_a_warning_and_stands_so_in_the_contract() -> None:
    reading = read({"type": "object", "properties": {"a": {"title": None}}, "x": 1}, name="Root")
    assert reading.foreign is not None
    [problem] = reading.problems
    assert (problem.pointer, problem.is_warning, problem.is_repair) == ("/properties/a/title", True, True)
    assert reading.foreign.schema == {"type": "object", "properties": {"a": {}}, "x": 1}
    assert reading.schema == reading.foreign.schema


def test_a_reference_that_only_the_validator_can_follow_must_lead_somewhere() -> None:
    assert errors({"$dynamicRef": "#nope"}) == [
        ("", "has a reference that cannot be followed: Anchor 'nope' does not exist")
    ]


def test_what_was_relaxed_is_named() -> None:
    schema = {"type": "array", "uniqueItems": True, "contains": {"const": 1}}
    assert read(schema, name="Root").unsupported == {"uniqueItems", "contains"}


@pytest.mark.parametrize("value", [["X"], {"x": "X"}, 1, None])
def test_a_keyword_of_the_author_with_the_name_of_ours_means_nothing(value: object) -> None:
    branches = [{"enum": ["x"], "x-enum": value}, {"enum": ["y"], "x-enum": value}]
    read_ = foreign({"type": "object", "properties": {"a": {"anyOf": branches}}})
    assert read_.classes["Root"]["properties"]["a"] == {"enum": ["x", "y"]}
