"""Scalars and enums in the normal form."""

from __future__ import annotations

from typing import Any

import pytest

from .reader import node

EXACT: list[tuple[Any, Any]] = [
    (True, {}),
    ({}, {}),
    ({"description": "Anything."}, {"description": "Anything."}),
    ({"type": "null"}, {"type": "null"}),
    ({"type": "boolean"}, {"type": "boolean"}),
    (
        {"type": "string", "minLength": 3.0, "maxLength": 5},
        {"type": "string", "minLength": 3, "maxLength": 5},
    ),
    ({"type": "string", "minLength": 0, "pattern": ""}, {"type": "string"}),
    ({"type": "string", "maxLength": 10**20}, {"type": "string"}),
    ({"type": "string", "format": "x-odd"}, {"type": "string", "format": "x-odd"}),
    ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
    ({"type": "string", "minimum": 3}, {"type": "string"}),
    ({"type": "integer", "minimum": 0.5, "maximum": 2.5}, {"type": "integer", "minimum": 1, "maximum": 2}),
    (
        {"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 2.5},
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3},
    ),
    ({"type": "integer", "multipleOf": 2.0}, {"type": "integer", "multipleOf": 2}),
    ({"type": "integer", "multipleOf": 0.5}, {"type": "integer"}),
    ({"type": "integer", "minimum": 10**30}, {"type": "integer", "minimum": 10**30}),
    ({"type": "number", "minimum": 0.5}, {"type": "number", "minimum": 0.5}),
    ({"type": ["integer", "number"]}, {"type": "number"}),
    ({"type": ["null", "string"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ({"const": "a"}, {"enum": ["a"]}),
    ({"enum": ["a", "b", "a"]}, {"enum": ["a", "b"]}),
    ({"enum": [1, 1.0, 2]}, {"enum": [1, 2]}),
    ({"enum": [True]}, {"enum": [True]}),
    ({"enum": [True, False]}, {"type": "boolean"}),
    (
        {"enum": [1, True, "1", None]},
        {"anyOf": [{"enum": [1]}, {"enum": [True]}, {"enum": ["1"]}, {"type": "null"}]},
    ),
    ({"type": "string", "enum": ["a", None, 3]}, {"enum": ["a"]}),
    ({"type": "string", "minLength": 2, "enum": ["a", "bb"]}, {"enum": ["bb"]}),
    ({"enum": ["a", "b"], "const": "b"}, {"enum": ["b"]}),
]


@pytest.mark.parametrize(("schema", "expected"), EXACT)
def test_a_scalar_is_held_exactly(schema: Any, expected: Any) -> None:
    assert node(schema) == (expected, True)


WIDER: list[tuple[Any, Any]] = [
    (False, {}),
    ({"type": "string", "pattern": "(?=a)b"}, {"type": "string"}),
    ({"type": "string", "minLength": 10**20}, {"type": "string"}),
    ({"minLength": 3}, {}),
    ({"properties": {"a": {}}, "required": ["a"]}, {}),
    ({"items": {"type": "string"}}, {}),
    ({"type": "integer", "multipleOf": 0.3}, {"type": "integer"}),
    ({"type": "number", "maximum": 2**53}, {"type": "number"}),
    ({"enum": []}, {}),
    ({"type": "boolean", "enum": ["True", "False"]}, {"type": "boolean"}),
    ({"enum": ["a", 1.5]}, {"anyOf": [{"enum": ["a"]}, {"type": "number"}]}),
    ({"const": {"a": 1}}, {"type": "object", "additionalProperties": {}}),
    ({"const": []}, {"type": "array", "items": {}}),
    ({"type": "string", "not": {"const": "a"}}, {"type": "string"}),
    ({"type": "string", "if": {"minLength": 2}, "then": {"maxLength": 3}}, {"type": "string"}),
    ({"$dynamicRef": "#"}, {}),
]


@pytest.mark.parametrize(("schema", "expected"), WIDER)
def test_what_types_cannot_hold_is_wider_and_said_so(schema: Any, expected: Any) -> None:
    assert node(schema) == (expected, False)


@pytest.mark.parametrize("word", ["not", "if", "uniqueItems", "contains"])
def test_a_keyword_that_refuses_nothing_costs_nothing(word: str) -> None:
    idle = {"not": False, "if": {"type": "null"}, "uniqueItems": False, "contains": {"type": "null"}}
    schema = {"type": "array", word: idle[word], "minContains": 0}
    assert node(schema) == ({"type": "array", "items": {}}, True)


def test_the_annotations_of_a_property_stand_beside_its_node() -> None:
    notes = {"title": "X", "description": "The x.", "default": "a", "examples": ["b"], "deprecated": True}
    assert node({"$ref": "#/$defs/Text", **notes}) == ({"type": "string", "minLength": 1, **notes}, True)


def test_a_property_without_a_description_takes_that_of_what_it_refers_to() -> None:
    schema = {"allOf": [{"type": "string", "description": "A text."}]}
    assert node(schema) == ({"type": "string", "description": "A text."}, True)
