"""Defaults of absent required properties: where they are filled in, and where they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from tests.schema_reader.random_schemas import Draws
from toolgen.shapes.evaluator import Evaluator, Undecided
from toolgen.shapes.foreign.filling import filler_of

PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"type": "integer", "minimum": 1, "default": 10}, "cursor": {"type": "string"}},
    "required": ["size"],
}


def of(property_: Any, **words: Any) -> dict[str, Any]:
    """Return a schema with one required property."""
    return {"type": "object", "properties": {"a": property_}, "required": ["a"], **words}


def filled(schema: Any, document: Any) -> Any:
    fill = filler_of(json.dumps(schema))
    return document if fill is None else json.loads(fill(json.dumps(document)))


@pytest.mark.parametrize(
    ("schema", "document", "result"),
    [
        (PAGE, {"cursor": "c"}, {"cursor": "c", "size": 10}),
        (PAGE, {"size": None}, {"size": None}),
        (PAGE, [], []),
        (of({"type": ["string", "null"], "default": None}), {}, {"a": None}),
        (of({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}), {}, {"a": None}),
        (of({"type": "string", "pattern": "^x", "default": "x"}), {}, {}),
        (of({"type": ["string", "null"], "pattern": "^x", "default": None}), {}, {"a": None}),
        (of({"default": {"b": 1}}), {}, {"a": {"b": 1}}),
        (of(PAGE), {"a": {}}, {"a": {"size": 10}}),
        (
            of({"type": "array", "items": PAGE}),
            {"a": [{}, 1, {"size": 2}]},
            {"a": [{"size": 10}, 1, {"size": 2}]},
        ),
        (of({"$ref": "#/$defs/p%20~1"}, **{"$defs": {"p /": PAGE}}), {"a": {}}, {"a": {"size": 10}}),
        (of({"$ref": "#/$defs/P", "default": {"size": 3}}, **{"$defs": {"P": PAGE}}), {}, {"a": {"size": 3}}),
        (of({"type": "array", "items": {"$ref": "#"}, "default": []}), {"a": [{}]}, {"a": [{"a": []}]}),
        (of({"type": "number", "multipleOf": 0.1, "default": 0.3}), {}, {"a": 0.3}),
        (of({"type": "array", "uniqueItems": True, "default": [1, True]}), {}, {"a": [1, True]}),
    ],
)
def test_what_is_absent_is_filled(schema: Any, document: Any, result: Any) -> None:
    assert filled(schema, document) == result


@pytest.mark.parametrize(
    "property_",
    [
        {"type": "integer", "default": "1"},
        {"type": "integer", "default": True},
        {"type": "integer", "minimum": 1, "default": 0},
        {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "default": 0},
        {"type": "number", "multipleOf": 0, "default": 1},
        {"enum": [1, "a"], "default": True},
        {"const": [1], "default": [2]},
        {"type": "string", "maxLength": 1, "default": "ab"},
        {"type": "array", "items": {"type": "string"}, "default": [1]},
        {"type": "array", "uniqueItems": True, "default": [1, 1.0]},
        {"properties": {"b": {"type": "string"}}, "default": {"b": 1}},
        {"required": ["b"], "default": {}},
        {"additionalProperties": False, "default": {"b": 1}},
        {"allOf": [{"type": "string"}], "default": 1},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": 1},
        {"oneOf": [{"type": "string"}], "default": "a"},
        {"not": {"type": "string"}, "default": "a"},
        {"if": True, "then": False, "default": "a"},
        {"$ref": "#/$defs/none", "default": "a"},
        {"$ref": "#/$defs/loop", "default": "a"},
        {"$ref": "https://example.com/a", "default": "a"},
        {"type": 5, "default": "a"},
        {"enum": 5, "default": "a"},
        {"properties": ["a"], "default": {"a": 1}},
    ],
)
def test_a_default_that_does_not_plainly_fit_is_not_filled(property_: Any) -> None:
    loop = {"$ref": "#/$defs/loop"}
    assert filler_of(json.dumps(of(property_, **{"$defs": {"loop": loop}}))) is None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": {"default": 1}}, "required": ["b"]},
        {"anyOf": [PAGE, {"type": "null"}]},
        {"oneOf": [PAGE]},
        {"allOf": [PAGE]},
        {"if": True, "then": PAGE},
        {"not": PAGE},
        {"additionalProperties": PAGE},
        {"prefixItems": [PAGE], "items": PAGE},
        {"items": [PAGE]},
        {"properties": {"a": {"$id": "https://example.com/a", **PAGE}}},
        {"properties": {"a": {"$ref": "#/$defs/A", **PAGE}}, "$defs": {"A": {}}},
        {"properties": "size", "required": ["size"], "default": 1},
        {"properties": {"a": {"default": 1}}, "required": "a"},
    ],
)
def test_where_a_schema_is_not_plain_nothing_is_filled(schema: Any) -> None:
    assert filler_of(json.dumps(schema)) is None


def test_a_document_that_lacks_nothing_stays_as_it_was() -> None:
    fill = filler_of(json.dumps(PAGE))
    assert fill is not None
    for text in ('{"size": 1.0,  "size": 2}', "{", '{"a": NaN}', '{"a": 1e999}', '"\ud800"', "[" * 1_000, ""):
        assert fill(text) is text


def test_what_is_filled_is_bounded() -> None:
    schema = {"type": "array", "items": of({"type": "string", "default": "x" * 3_000})}
    fill = filler_of(json.dumps(schema))
    assert fill is not None
    few, many = [json.dumps([{}] * count).encode() for count in (300, 400)]
    assert len(fill(few)) > 900_000
    assert fill(many) is many


def test_alternatives_inside_alternatives_take_few_steps() -> None:
    names = [f"s{number}" for number in range(40)]
    parts: dict[str, Any] = {
        name: {"anyOf": [{"$ref": f"#/$defs/{after}"}, {"$ref": f"#/$defs/{after}"}]}
        for name, after in zip(names, [*names[1:], "last"], strict=True)
    }
    properties = {f"p{number}": {"$ref": "#/$defs/s0", "default": 1} for number in range(1_000)}
    schema = {
        "properties": properties,
        "required": list(properties),
        "$defs": {**parts, "last": {"type": "string"}},
    }
    assert filler_of(json.dumps(schema)) is None


@pytest.mark.exhaustive
def test_no_document_that_fits_a_random_schema_is_changed() -> None:
    changed = 0
    for seed in range(300):
        draws = Draws(seed)
        schema = with_defaults(draws.root(draft_7=seed % 3 == 0), draws)
        fill = filler_of(json.dumps(schema))
        for _ in range(10 if fill is not None else 0):
            document = draws.instance(schema, schema)
            if fill is not None and json.loads(fill(json.dumps(document))) != document:
                changed += 1
                assert not accepts(schema, document), (schema, document)
    assert changed > 50


@pytest.mark.exhaustive
def test_what_plainly_fits_a_random_schema_is_accepted_by_it() -> None:
    fitting = 0
    for seed in range(1_000):
        draws = Draws(seed)
        schema = draws.root(draft_7=seed % 3 == 0)
        for _ in range(10):
            document = draws.instance(schema, schema)
            if Evaluator(schema, Undecided.AS_MISFIT).fits(schema, document):
                fitting += 1
                assert accepts(schema, document), (schema, document)
    assert fitting > 100


def accepts(schema: Any, document: Any) -> bool:
    """Return what a validator says that nobody here wrote."""
    return validator_for(schema, default=Draft202012Validator)(schema).is_valid(document)


def with_defaults(schema: Any, draws: Draws) -> Any:
    """Return a schema all of whose properties are required and have a default that may fit them."""
    if isinstance(schema, list):
        return [with_defaults(part, draws) for part in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {word: with_defaults(part, draws) for word, part in schema.items()}
    properties = schema.get("properties")
    if isinstance(properties, dict) and "$ref" not in schema:
        changed["required"] = list(properties)
        changed["properties"] = {
            key: {**part, "default": draws.instance(part, {"$defs": {name: {} for name in "xyz"}}, 4)}
            if isinstance(part, dict)
            else part
            for key, part in changed["properties"].items()
        }
    return changed
