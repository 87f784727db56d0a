"""Containment of schemas: proofs, documents of the difference, and what cannot be told."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from toolgen.checks.compatibility import SchemaDocument, contains
from toolgen.shapes.lexical import BYTES, DECIMAL, DURATION, STRING_FORMATS


def verdict(small: Any, large: Any, noted: Any = ()) -> str:
    """Return `yes` where the larger schema contains the smaller one, `no` with a witness, `?` otherwise."""
    one, other = SchemaDocument(small, noted), SchemaDocument(large, noted)
    found = contains(other, one)
    witnesses = [each for gap in found for each in gap.witnesses]
    for witness in witnesses:
        assert one.accepts((one.root,), witness)
        assert not other.accepts((other.root,), witness)
    return "yes" if not found else "no" if witnesses else "?"


def _object(required: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": [*required]} if required else schema


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
CIRCLE = _object(("kind",), kind={"const": "circle"}, radius={"type": "number"})
SQUARE = _object(("kind",), kind={"const": "square"}, side={"type": "number"})
DAY = {"type": "string", "format": "date"}
PRICE = {"type": "string", "pattern": DECIMAL}
SPAN = {"type": "string", "pattern": DURATION}
BLOB = {"type": "string", "contentEncoding": "base64", "pattern": BYTES}
MAIL = {"type": "string", "format": "email", "pattern": STRING_FORMATS["email"]}
LIST = {"type": "array", "items": TEXT}

ROWS: list[tuple[Any, Any, str, str]] = [
    # smaller, larger, within, and the other way
    (WHOLE, {"type": "number"}, "yes", "no"),
    ({"type": "number", "multipleOf": 1}, WHOLE, "yes", "yes"),
    ({"type": "number", "multipleOf": 1}, {"type": "number"}, "yes", "no"),
    ({"type": "number", "multipleOf": 7}, WHOLE, "yes", "no"),
    ({"type": "number", "multipleOf": 1.5}, WHOLE, "no", "no"),
    ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}, "yes", "yes"),
    ({"type": "boolean"}, {"enum": [True, False]}, "yes", "yes"),
    ({"const": 1}, {"const": 1.0}, "yes", "yes"),
    ({"const": 1}, {"const": True}, "no", "no"),
    ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}, "yes", "no"),
    ({"enum": ["a", "b"]}, {"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}, "yes", "yes"),
    ({"enum": ["a", None]}, {"type": ["string", "null"]}, "yes", "no"),
    ({"enum": ["a", 5], "type": "string"}, {"const": "a"}, "yes", "yes"),
    (TEXT, {"enum": ["a"]}, "no", "yes"),
    # numbers
    ({**WHOLE, "maximum": 60}, {**WHOLE, "maximum": 500}, "yes", "no"),
    ({**WHOLE, "exclusiveMinimum": 0}, {**WHOLE, "minimum": 1}, "yes", "yes"),
    ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "minimum": 1}, "no", "yes"),
    ({"type": "number", "exclusiveMinimum": 1}, {"type": "number", "minimum": 1}, "yes", "no"),
    ({**WHOLE, "maximum": 10.5}, {**WHOLE, "exclusiveMaximum": 10.9}, "yes", "yes"),
    ({**WHOLE, "maximum": 2**63}, {**WHOLE, "maximum": 2**63 - 1}, "no", "yes"),
    ({"type": "number", "maximum": 0.3}, {"type": "number", "maximum": 0.30000000000000004}, "yes", "no"),
    ({**WHOLE, "multipleOf": 6}, {**WHOLE, "multipleOf": 2}, "yes", "no"),
    ({"type": "number", "multipleOf": 0.3}, {"type": "number", "multipleOf": 0.1}, "yes", "no"),
    (WHOLE, {"type": "number", "multipleOf": 0.5}, "yes", "no"),
    ({**WHOLE, "minimum": 5, "maximum": 1}, TEXT, "yes", "no"),
    ({"minimum": 5}, {"type": "number", "minimum": 5}, "no", "yes"),
    # texts
    ({**TEXT, "maxLength": 3}, {**TEXT, "maxLength": 5}, "yes", "no"),
    ({**TEXT, "minLength": 1}, {**TEXT, "minLength": 0}, "yes", "no"),
    ({**TEXT, "pattern": "^[a-z]+$"}, TEXT, "yes", "no"),
    ({**TEXT, "pattern": "^[a-z]+$"}, {**TEXT, "pattern": "^[a-z]{3}$"}, "no", "?"),
    ({**TEXT, "pattern": "^site-[0-9]+$", "maxLength": 9}, {**TEXT, "pattern": "^site-[0-9]+$"}, "yes", "no"),
    ({"enum": ["site-1"]}, {**TEXT, "pattern": "^site-[0-9]+$"}, "yes", "no"),
    (MAIL, {"type": "string", "format": "email"}, "yes", "yes"),
    (MAIL, {"type": "string", "pattern": STRING_FORMATS["email"]}, "yes", "yes"),
    (DAY, TEXT, "yes", "no"),
    (DAY, {"type": "string", "format": "date-time"}, "no", "no"),
    # values that are texts in JSON
    ({**DAY, "x-minimum": "2021-01-01"}, {**DAY, "x-minimum": "2020-12-31"}, "yes", "no"),
    ({**DAY, "x-exclusiveMinimum": "2020-12-31"}, {**DAY, "x-minimum": "2020-12-31"}, "yes", "no"),
    ({**PRICE, "x-maximum": "9.50"}, {**PRICE, "x-maximum": "9.5"}, "yes", "yes"),
    ({**PRICE, "x-maximum": "9.5"}, {**PRICE, "x-maximum": "10"}, "yes", "no"),
    ({**PRICE, "x-multipleOf": "0.10"}, {**PRICE, "x-multipleOf": "0.05"}, "yes", "no"),
    ({**SPAN, "x-maximum": "PT60M"}, {**SPAN, "x-maximum": "PT1H"}, "yes", "yes"),
    ({**SPAN, "x-maximum": "PT60M"}, {**SPAN, "x-maximum": "P1D"}, "yes", "no"),
    ({**BLOB, "x-maxLength": 3}, {**BLOB, "x-maxLength": 5}, "yes", "no"),
    # arrays
    ({"type": "array", "items": WHOLE}, {"type": "array", "items": {"type": "number"}}, "yes", "no"),
    ({**LIST, "maxItems": 2}, {**LIST, "maxItems": 3}, "yes", "no"),
    ({**LIST, "uniqueItems": True}, LIST, "yes", "no"),
    ({**LIST, "maxItems": 1}, {**LIST, "uniqueItems": True}, "yes", "no"),
    ({"type": "array", "prefixItems": [TEXT], "items": False}, LIST, "yes", "no"),
    ({"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2}, {"prefixItems": [TEXT]}, "yes", "no"),
    ({**LIST, "minItems": 1}, {"type": "array", "contains": TEXT}, "?", "?"),
    # objects
    (_object(a=TEXT), _object(a=TEXT, b=TEXT), "yes", "no"),
    (_object(("a",), a=TEXT), _object(a=TEXT), "yes", "no"),
    (_object(a=TEXT), {"type": "object", "properties": {"a": TEXT}}, "yes", "no"),
    (_object(a=TEXT), {"type": "object", "additionalProperties": TEXT}, "yes", "no"),
    ({"type": "object", "patternProperties": {"^a": TEXT}}, {"patternProperties": {"^a": {}}}, "yes", "no"),
    (_object(ab=TEXT), {"type": "object", "patternProperties": {"^a": TEXT}}, "yes", "no"),
    (_object(("a",), a=TEXT), {"type": "object", "minProperties": 1}, "yes", "no"),
    (_object(a=TEXT, b=TEXT), {"type": "object", "maxProperties": 2}, "yes", "no"),
    (_object(a=TEXT), {"type": "object", "propertyNames": {"maxLength": 1}}, "yes", "no"),
    (_object(("b",), a=TEXT, b=TEXT), {"dependentRequired": {"a": ["b"]}}, "yes", "no"),
    (_object(("a",), a=False), TEXT, "yes", "no"),
    (_object(a=TEXT), {"type": "object", "properties": {"a": TEXT}, "unevaluatedProperties": False}, "?", "?"),  # noqa: E501
    # what looks at the same value
    ({"oneOf": [CIRCLE, SQUARE]}, {"oneOf": [SQUARE, CIRCLE]}, "yes", "yes"),
    ({"oneOf": [CIRCLE, SQUARE]}, {"anyOf": [{"oneOf": [SQUARE]}, CIRCLE]}, "yes", "yes"),
    (CIRCLE, {"oneOf": [CIRCLE, SQUARE]}, "yes", "no"),
    ({"anyOf": [WHOLE, {"type": "number"}]}, {"oneOf": [WHOLE, {"type": "number"}]}, "no", "yes"),
    ({"allOf": [{"minimum": 1}, {"maximum": 5}, WHOLE]}, {**WHOLE, "minimum": 1, "maximum": 5}, "yes", "yes"),
    (TEXT, {"not": {"type": "number"}}, "yes", "no"),
    (TEXT, {**TEXT, "not": {"const": "secret"}}, "no", "yes"),
    ({**TEXT, "pattern": "a"}, {**TEXT, "pattern": "^a"}, "no", "?"),
    ({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^a$"}, "no", "?"),
    (WHOLE, {**WHOLE, "not": {"enum": [17, 23]}}, "no", "yes"),
    ({"type": "object"}, {"type": "object", "propertyNames": {"maxLength": 5}}, "no", "yes"),
    ({"type": "object"}, {"type": "object", "propertyNames": {"pattern": "^[A-z1-]?$"}}, "no", "yes"),
    ({"type": "object"}, {"type": "object", "dependentRequired": {"a": ["b"]}}, "no", "yes"),
    ({**WHOLE, "minimum": 3}, {"if": {"minimum": 2}, "then": WHOLE, "else": False}, "?", "no"),
    ({**WHOLE, "minimum": 1, "maximum": 4}, {"anyOf": [{"maximum": 2}, {"minimum": 3}]}, "?", "no"),
    # what is not understood
    ({"if": TEXT, "then": {"maxLength": 3}}, {"if": TEXT, "then": {"maxLength": 2}}, "no", "?"),
    ({"contains": TEXT, "minContains": 2}, {"contains": TEXT}, "?", "no"),
    ({**_object(a=TEXT), "if": TEXT, "then": WHOLE}, {**_object(a={}), "if": TEXT, "then": WHOLE}, "yes", "no"),  # noqa: E501
    ({"properties": {"a": {}, "b": {}}, "unevaluatedProperties": False}, {"properties": {"a": {}}, "unevaluatedProperties": False}, "no", "?"),  # noqa: E501
    ({**TEXT, "secret": 1}, {**TEXT, "secret": 1}, "yes", "yes"),
    ({**TEXT, "secret": 1}, {**TEXT, "secret": 2}, "?", "?"),
    ({**TEXT, "x-order": 1}, {**TEXT, "x-order": 2}, "yes", "yes"),
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("small", "large", "within", "other_way"), ROWS)
def test_pairs(small: Any, large: Any, within: str, other_way: str) -> None:
    assert (verdict(small, large), verdict(large, small)) == (within, other_way)


def test_a_recursive_schema_is_within_one_whose_limits_are_wider() -> None:
    tree = {"type": "object", "properties": {"value": WHOLE, "children": {"items": {"$ref": "#"}}}}
    narrow = copy.deepcopy(tree)
    narrow["properties"]["value"] = {**WHOLE, "maximum": 3}  # type: ignore[index]
    assert (verdict(narrow, tree), verdict(tree, narrow)) == ("yes", "no")


def test_places_name_every_difference() -> None:
    old = _object(("a",), a={"type": "array", "items": _object(b=TEXT)}, c=TEXT)
    new = _object(("a", "d"), a={"type": "array", "items": _object(e=TEXT)}, d=TEXT)
    gaps = contains(SchemaDocument(new), SchemaDocument(old))
    assert {(gap.path, gap.keyword, gap.name) for gap in gaps} == {
        (("a", "*"), "additionalProperties", "b"),
        ((), "required", "d"),
        ((), "additionalProperties", "c"),
    }
    nested = next(gap for gap in gaps if gap.path)
    assert (nested.small, nested.large) == ("/properties/a/items", "/properties/a/items")
    assert nested.witnesses == ({"a": [{"b": "a"}]},) or nested.witnesses


def test_formats_of_other_people_are_notes() -> None:
    assert verdict(TEXT, DAY, noted=None) == "yes"
    assert verdict(TEXT, DAY) == "no"


def test_a_circle_on_one_value_is_not_read() -> None:
    assert "refers back to this schema" in SchemaDocument({"$ref": "#"}).fault


def test_a_deep_schema_ends_without_an_answer() -> None:
    deep: Any = TEXT
    for _ in range(400):
        deep = {"type": "array", "items": deep}
    assert verdict(deep, {**deep, "maxItems": 3}) == "?"


@pytest.mark.exhaustive
def test_work_is_bounded() -> None:
    """Twelve unions multiply out to four thousand alternatives, which are not all looked at."""
    union = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    small = {"type": "object", "allOf": [copy.deepcopy(union) for _ in range(14)]}
    large = {"type": "object", "allOf": [*small["allOf"], {"maxProperties": 2}]}
    found = contains(SchemaDocument(large), SchemaDocument(small), most_steps=2_000)
    assert found[0].witnesses or "more steps" in found[0].reason


def test_text_of_a_schema_does_not_hide_its_types() -> None:
    assert json.dumps({"const": 1}) != json.dumps({"const": True})
    assert verdict(_object(a={"const": 1}), _object(a={"const": True})) == "no"
