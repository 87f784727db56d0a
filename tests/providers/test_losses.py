"""What a dialect loses is named: where an answer fits its schema and not the tool's, a loss says why."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from tests.conformance.mutated_schemas import HOSTILE, KEYWORDS, mutated
from tests.providers.answers import unexplained
from tests.providers.tools import losses, of
from tests.selection import diagonal, first
from toolgen.catalog.providers import DIALECTS, project

OWN = [dialect for dialect in DIALECTS if "responses" not in dialect]
"""Those of OpenAI's two APIs differ in the envelope alone."""
TEXT = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "map": {"type": "object", "additionalProperties": TEXT},
    "map of patterns": {
        "type": "object",
        "patternProperties": {"^x": TEXT},
        "additionalProperties": False,
    },
    "map beside a key that Anthropic refuses": {
        "type": "object",
        "properties": {"$x": TEXT},
        "additionalProperties": {"type": "integer"},
    },
    "values of another type": {"type": "integer", "enum": ["1", "2"]},
    "a constant that is no choice": {"type": "string", "enum": ["a", "b"], "const": 1},
    "labels": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]},
    "branches that overlap": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    "branches that null fits": {
        "oneOf": [{"type": "string", "enum": ["a"], "nullable": True}, {"enum": [1], "nullable": True}]
    },
    "a long pattern beside a format": {
        "type": "string",
        "format": "date",
        "pattern": f"^({'a|' * 90}b)$",
    },
    "types with limits": {"type": ["string", "integer"], "minLength": 3, "exclusiveMinimum": 2},
    "limits beside a union": {"anyOf": [TEXT, {"$ref": "#/$defs/D"}], "minLength": 3},
    "a key that is not declared": {"type": "object", "required": ["x"], "additionalProperties": False},
    "a property that nothing fits": {"type": "object", "properties": {"x": False}},
    "a union of texts and any object": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "object"}]},
    "a reference": {"$ref": "#/$defs/D"},
    "a union that becomes text, of a reference": {"anyOf": [{"$ref": "#/$defs/D"}, TEXT, {"type": "object"}]},
    "a merged reference that leads to itself": {"$ref": "#/$defs/D", "minProperties": 1},
}
DEFS = {
    "D": {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "maximum": 9},
            "inner": {"$ref": "#/$defs/D", "required": ["n"]},
            "union": {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}], "maxProperties": 1},
            "all": {"allOf": [{"$ref": "#/$defs/D"}, {"minProperties": 1}]},
        },
    }
}


def with_part(part: Any) -> dict[str, Any]:
    properties = {"a": part, "b": {"type": "array", "items": part}}
    return {"type": "object", "properties": properties, "required": ["a"], "$defs": DEFS}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("dialect", "part"), diagonal(OWN, SCHEMAS))
def test_what_is_lost_is_named(part: str, dialect: str) -> None:
    schema = with_part(SCHEMAS[part])
    one = project("tool", "", schema, dialect)
    for seed in range(30):
        assert unexplained(one, schema, Random(f"{part}/{seed}")) is None, (one.schema, one.losses)


@pytest.mark.parametrize("dialect", OWN)
def test_a_reference_that_leads_to_itself_may_have_rules_beside_it(dialect: str) -> None:
    schemas: list[Any] = [
        {"type": "object", "properties": {"child": {"$ref": "#", "minProperties": 1}}},
        {"type": "object", "properties": {"child": {"allOf": [{"$ref": "#"}, {"minProperties": 1}]}}},
        {
            "type": "object",
            "properties": {"child": {"anyOf": [{"$ref": "#"}, {"type": "null"}], "minProperties": 1}},
        },
    ]
    for schema in schemas:
        one = project("tool", "", schema, dialect)
        assert "JSON" not in one.description
        document: Any = {"child": {"child": {"child": {"child": {"child": {}}}}}}
        assert json.loads(one.decode(one.encode(json.dumps(document)))) == document
        if dialect in ("openai-strict", "gemini-json"):
            assert one.is_strict == one.dialect.is_strict
            assert '"#/$defs/' in json.dumps(one.schema["properties"]["child"]), "it is sent in full"
        if dialect == "anthropic-strict":
            assert (one.losses[0].action, one.is_strict) == ("not strict", False)


def test_losses_of_a_definition_stay_where_a_union_that_has_it_becomes_text() -> None:
    schema = {
        "type": "object",
        "properties": {
            "u": {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "string"}, {"type": "object"}]},
            "p": {"$ref": "#/$defs/P"},
        },
        "$defs": {"P": {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}}},
    }
    one = project("tool", "", schema, "anthropic-strict")
    assert ("/$defs/P/properties/days", "minimum", "described") in losses(one)
    del schema["properties"]["p"]  # type: ignore[attr-defined]
    one = project("tool", "", schema, "anthropic-strict")
    assert "$defs" not in one.schema
    assert ("/$defs/P/properties/days", "minimum", "described") not in losses(one)


def test_branches_that_are_told_apart_lose_nothing() -> None:
    tags = [
        {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in "ab"
    ]
    for branches in (tags, [TEXT, {"type": "integer"}], [{"const": 1}, {"const": 2}]):
        _, one = of("openai-strict", {"oneOf": branches})
        assert "oneOf" not in {keyword for _, keyword, _ in losses(one)}


@pytest.mark.parametrize("dialect", OWN)
def test_keywords_of_another_kind_are_left_out_with_a_loss(dialect: str) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "required": True, "maxLength": "9", "description": None},
            "b": {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            "c": 5,
            "d": {"anyOf": {}, "type": 3, "properties": None},
        },
        "required": "a",
    }
    one = project("tool", "Does something.", schema, dialect)
    assert set(one.schema["properties"]) == set("abcd")
    found = losses(one)
    for path, keyword in (("", "required"), ("/properties/a", "maxLength"), ("/properties/d", "anyOf")):
        assert (path, keyword, "dropped") in found
    assert ("/properties/a", "description", "dropped") not in found
    b = one.schema["properties"]["b"]
    assert b.get("exclusiveMinimum") == 3 or "Above 3." in b["description"]
    assert json.loads(one.decode('{"a": "x", "c": "[1"}'))["a"] == "x"


def nested(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize("dialect", OWN)
def test_a_schema_too_deep_for_any_reader_takes_the_text_of_the_arguments(dialect: str) -> None:
    for schema, why in ((nested(20_000), "recursion"), ({"enum": [10**5000]}, "digits"), ({"x": {1}}, "set")):
        one = project("tool", "", schema, dialect)
        (loss,) = one.losses
        assert (loss.path, loss.action) == ("", "as JSON text")
        assert why in loss.detail
        assert one.decode('{"arguments": "{\\"a\\":[1]}"}') == b'{"a":[1]}'
    one = project("tool", "", {**nested(150), "default": nested(400)}, dialect)
    assert "more than 100 nested schemas" in str(one.losses)
    assert list(one.schema["properties"]) == ["x"]


@pytest.mark.parametrize("dialect", first(OWN))
def test_no_schema_is_an_error(dialect: str) -> None:
    bases = [with_part(part) for part in SCHEMAS.values()]
    chance = Random(dialect)
    drawn = [mutated(chance.choice(bases), bases, chance) for _ in range(25)]
    hostile = [{keyword: value} for keyword in KEYWORDS for value in HOSTILE]
    for part in [*hostile[:: 3 * len(OWN)], *drawn]:
        for schema in (with_part(part), part):
            if isinstance(schema, dict):
                one = project("tool", "", schema, dialect)
                assert "Error:" not in one.losses[0].detail if one.losses else True
                one.decode('{"a": {"x": [1, "a", null]}, "b": [1]}')
