"""Each rule by which a schema is rewritten for a provider, there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.providers.tools import Schema, losses, of, sent, tool
from toolgen.catalog.providers import project


def test_optional_properties_are_required_and_null_for_openai() -> None:
    one = tool(
        a={"type": "string"}, b={"enum": ["x", "y"]}, c={"type": "array", "items": {"type": "integer"}}
    )
    assert one.schema["required"] == ["a", "b", "c"]
    assert one.schema["properties"]["a"] == {"type": ["string", "null"]}
    assert one.schema["properties"]["b"] == {
        "anyOf": [{"type": "string", "enum": ["x", "y"]}, {"type": "null"}]
    }
    assert sent(one, {"b": "x"}) == {"a": None, "b": "x", "c": None}
    assert sent(one, {}) == {"a": None, "b": None, "c": None}
    assert one.decode('{"a": "s"}') == b'{"a": "s"}', "a model that is not held to it may leave them out"


def test_a_null_that_is_meant_is_not_an_absent_value() -> None:
    one = tool(a={"type": ["string", "null"]})
    assert sent(one, {}) == {"a": None}
    assert sent(one, {"a": None}) == {"a": {"explicit": None}}
    assert sent(one, {"a": "x"}) == {"a": "x"}


def test_a_null_that_is_the_default_is_an_absent_value() -> None:
    one = tool(a={"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None})
    assert one.schema["properties"]["a"] == {"type": ["integer", "null"]}
    assert json.loads(one.decode('{"a": null}')) == {}


@pytest.mark.parametrize("dialect", ["anthropic-strict", "gemini", "gemini-json"])
def test_others_leave_optional_properties_optional(dialect: str) -> None:
    one = tool(dialect, ("b",), a={"type": ["string", "null"]}, b={"type": "integer"})
    assert one.schema["required"] == ["b"]
    assert sent(one, {"b": 1}) == {"b": 1}
    assert sent(one, {"a": None, "b": 1}) == {"a": None, "b": 1}
    nullable = {"type": "string", "nullable": True} if dialect == "gemini" else {"type": ["string", "null"]}
    assert one.schema["properties"]["a"] == nullable


@pytest.mark.parametrize("dialect", ["openai-strict", "anthropic-strict", "gemini", "gemini-json"])
def test_maps_are_pairs(dialect: str) -> None:
    schema, one = of(dialect, {"type": "object", "additionalProperties": {"type": "integer"}})
    assert schema["type"] == "array"
    assert schema["items"]["properties"] == {"key": {"type": "string"}, "value": {"type": "integer"}}
    assert sent(one, {"a": {"x": 1, "y": 2}}) == {"a": [{"key": "x", "value": 1}, {"key": "y", "value": 2}]}
    twice = b'{"a":[{"key":"x","value":1},{"key":"x","value":2}]}'
    assert one.decode(twice) == twice, "the tool's own schema refuses it"
    assert json.loads(one.decode('{"a": {"x": 1}}')) == {"a": {"x": 1}}


@pytest.mark.parametrize(
    "schema", [{"type": "object"}, {"type": "object", "additionalProperties": True}, {}, True]
)
def test_what_has_no_shape_is_json_text(schema: Any) -> None:
    wire, one = of("openai-strict", schema)
    assert wire["type"] == "string"
    assert wire["description"].endswith("written as JSON text.")
    assert sent(one, {"a": {"x": [None, 1.5]}}) == {"a": '{"x":[null,1.5]}'}
    assert losses(one) == [("/properties/a", "type", "as JSON text")]
    for kept in ('{"a":"{no JSON"}', '{"a":{"x":1}}', '{"a":"NaN"}', '{"a":"1e999"}'):
        assert one.decode(kept) == kept.encode(), "a model that does not write JSON text"


def test_other_keys_of_an_object_are_pairs_beside_its_own() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }
    wire, one = of("openai-strict", schema)
    assert wire["required"] == ["b", "additional_properties"]
    given = {"a": {"b": "x", "n": 3}}
    assert sent(one, given) == {"a": {"b": "x", "additional_properties": [{"key": "n", "value": 3}]}}
    assert sent(one, {"a": {}}) == {"a": {"b": None, "additional_properties": None}}


def test_keys_that_are_not_declared_cannot_be_sent() -> None:
    _, one = of("openai-strict", {"type": "object", "properties": {"b": {"type": "string"}}})
    assert losses(one) == [("/properties/a", "additionalProperties", "closed")]
    with pytest.raises(ValueError, match="'c'"):
        one.encode('{"a": {"c": 1}}')


def test_one_of_is_any_of_and_the_tag_comes_first() -> None:
    def branch(kind: str, **more: Any) -> Schema:
        properties = {**more, "kind": {"const": kind}}
        return {
            "type": "object",
            "properties": properties,
            "required": ["kind"],
            "additionalProperties": False,
        }

    wire, one = of("openai-strict", {"oneOf": [branch("x", n={"type": "integer"}), branch("y", n={})]})
    assert [list(part["properties"]) for part in wire["anyOf"]] == [["kind", "n"], ["kind", "n"]]
    assert sent(one, {"a": {"kind": "x", "n": 1}}) == {"a": {"kind": "x", "n": 1}}
    assert sent(one, {"a": {"kind": "y", "n": 1}}) == {"a": {"kind": "y", "n": "1"}}


def test_branches_that_look_alike_are_json_text() -> None:
    wire, one = of("openai-strict", {"anyOf": [{"type": "string"}, {"type": "object"}]})
    assert wire["type"] == "string"
    assert sent(one, {"a": '{"x":1}'}) == {"a": '"{\\"x\\":1}"'}
    assert sent(one, {"a": {"x": 1}}) == {"a": '{"x":1}'}
    assert json.loads(one.decode('{"a": "5"}')) == {"a": "5"}, "a number is none of them, the text is"


def test_parts_of_all_of_are_one_schema() -> None:
    first = {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}}}
    second = {
        "properties": {"x": {"type": "number", "minimum": 2}, "y": {"type": "string"}},
        "required": ["y"],
    }
    wire, _ = of("openai-strict", {"allOf": [first, second]})
    assert wire["properties"] == {"x": {"type": ["integer", "null"], "minimum": 2}, "y": {"type": "string"}}
    clash = {"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "b$"}]}
    wire, one = of("openai-strict", clash)
    assert wire["type"] == "string"
    assert losses(one) == [("/properties/a", "allOf", "as JSON text")]


def test_a_union_around_the_arguments_is_a_property() -> None:
    part = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    for dialect in ("openai-strict", "openai", "anthropic", "gemini"):
        one = project("tool", "", {"oneOf": [part, {"type": "object", "properties": {}}]}, dialect)
        assert one.schema["type"] == "object"
        assert list(one.schema["properties"]) == ["arguments"]
        assert sent(one, {"n": 1}) == {"arguments": {"n": 1}}


def test_keys_that_are_needed_together_are_a_sentence() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}],
    }
    for dialect in ("openai-strict", "openai", "anthropic-strict", "gemini-json"):
        one = project("tool", "Finds.", schema, dialect)
        assert one.description == "Finds. Give a or b and c."
        assert "anyOf" not in one.schema
        assert ("", "anyOf", "described") in losses(one)


def test_references_have_nothing_beside_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/P", "description": "One."},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/$defs/P", "required": ["x"]},
        },
        "required": ["a", "b", "c"],
        "$defs": {"P": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    }
    one = project("tool", "", schema, "openai-strict")
    assert one.schema["properties"]["a"] == {"description": "One.", "anyOf": [{"$ref": "#/$defs/P"}]}
    assert one.schema["properties"]["b"] == {"$ref": "#/$defs/a"}
    assert one.schema["properties"]["c"]["properties"] == {"x": {"type": "integer"}}
    assert sent(one, {"a": {"x": 1}, "b": {}, "c": {"x": 2}})["b"] == {"x": None}


NODE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/Node"}},
    "required": ["node"],
    "additionalProperties": False,
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
            "additionalProperties": False,
        }
    },
}


def test_a_schema_that_leads_to_itself() -> None:
    deep: Any = {"v": 0}
    for number in range(1, 6):
        deep = {"v": number, "next": deep}
    one = project("tool", "", NODE, "openai-strict")
    assert one.is_strict
    sent(one, {"node": deep})
    one = project("tool", "", NODE, "gemini")
    assert "$ref" not in json.dumps(one.schema)
    assert isinstance(sent(one, {"node": deep})["node"]["next"]["next"]["next"], str)
    one = project("tool", "", NODE, "anthropic-strict")
    assert not one.is_strict
    assert one.losses[0].action == "not strict"
    assert one.losses[0].detail == "#/$defs/Node refers to itself"
    assert one.schema["$defs"] == NODE["$defs"]


def test_tuples_are_arrays_of_any_of_their_items() -> None:
    wire, one = of(
        "openai-strict", {"type": "array", "prefixItems": [{"type": "integer"}, {}], "items": False}
    )
    assert wire["maxItems"] == 2
    assert [part["type"] for part in wire["items"]["anyOf"]] == ["integer", "string"]
    assert sent(one, {"a": [1, [2]]}) == {"a": [1, "[2]"]}
    fewer = {"type": "array", "prefixItems": [{"type": "integer"}, {}], "items": False, "maxItems": 1}
    assert of("openai-strict", fewer)[0]["maxItems"] == 1


def test_what_a_provider_does_not_know_is_said() -> None:
    schema = {
        "type": "string",
        "description": "Address",
        "minLength": 3,
        "maxLength": 1,
        "format": "uri",
        "pattern": "(?=x)x",
        "default": "xyz",
        "examples": ["x:y"],
        "x-own": 1,
        "title": "Address",
    }
    wire, one = of("openai-strict", schema)
    assert wire == {
        "type": "string",
        "description": "Address. At least 3 characters. At most 1 character. Format: uri. "
        "Matches the regular expression (?=x)x. Default: xyz. For example x:y.",
    }
    assert [keyword for _, keyword, _ in losses(one)] == [
        "minLength",
        "maxLength",
        "format",
        "pattern",
        "default",
        "examples",
    ]


def test_rules_that_only_code_can_tell_are_announced() -> None:
    wire, _ = of("openai-strict", {"type": "integer", "not": {"const": 3}})
    assert wire == {"type": "integer", "description": "Further rules are checked when the tool is called."}


@pytest.mark.parametrize(
    ("dialect", "pattern", "is_kept"),
    [
        ("openai-strict", r"^(a)\1$", True),
        ("openai-strict", "a(?!b)", False),
        ("anthropic-strict", r"^(a)\1$", False),
        ("anthropic-strict", r"\bword", False),
        ("anthropic-strict", "a{1,500}", False),
        ("anthropic-strict", "^[a-z]{2,9}$", True),
    ],
)
def test_patterns_stay_where_their_dialect_is_known(dialect: str, pattern: str, is_kept: bool) -> None:
    wire, _ = of(dialect, {"type": "string", "pattern": pattern})
    assert ("pattern" in wire) == is_kept
    assert is_kept or pattern in wire["description"]


def test_bounds_stay_where_they_hold() -> None:
    schema = {
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0},
        "minItems": 2,
        "maxItems": 3,
    }
    wire, _ = of("openai-strict", schema)
    assert wire == schema
    wire, _ = of("anthropic-strict", schema)
    assert wire == {
        "type": "array",
        "items": {"type": "number", "description": "Above 0."},
        "description": "At least 2 items. At most 3 items.",
    }


def test_enums_by_provider() -> None:
    mixed = {"enum": ["a", 1, None]}
    wire, one = of("openai-strict", mixed)
    assert wire == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}, {"type": "null"}]
    }
    sent(one, {"a": None})
    wire, _ = of("gemini", {"const": 3})
    assert wire == {"type": "integer", "description": "Always 3."}
    wire, _ = of("gemini-json", {"const": "x"})
    assert wire == {"type": "string", "enum": ["x"]}
    _, one = of("anthropic-strict", {"enum": ["Online", "offline"]})
    assert json.loads(one.decode('{"a": "online"}')) == {"a": "Online"}
    assert json.loads(one.decode('{"a": "ONLINE?"}')) == {"a": "ONLINE?"}


def test_labels_of_values_are_lines() -> None:
    schema = {
        "oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "description": "High."}],
        "description": "Level.",
    }
    wire, _ = of("openai-strict", schema)
    assert wire == {"type": "integer", "enum": [1, 2], "description": "Level.\n1: Low\n2: High."}


def test_large_enums_become_words_with_every_value() -> None:
    values = [f"v{number}" for number in range(1200)]
    wire, one = of("openai-strict", {"enum": values})
    assert one.is_strict
    assert "enum" not in wire
    assert all(f"{value}," in wire["description"] for value in values[:-1])
    wire, _ = of("gemini", {"enum": values[:40]})
    assert wire["enum"] == values[:40]
    wire, _ = of("gemini", {"enum": values[:41]})
    assert wire["description"].endswith("v39, v40.")


def test_objects_too_deep_are_json_text() -> None:
    schema: Schema = {"type": "integer"}
    document: Any = 1
    for _ in range(12):
        schema = {
            "type": "object",
            "properties": {"x": schema},
            "required": ["x"],
            "additionalProperties": False,
        }
        document = {"x": document}
    one = project("tool", "", schema, "openai-strict")
    assert one.is_strict
    assert '"{\\"x\\":{\\"x\\":1}}"' in json.dumps(sent(one, document)).replace(" ", "")


def test_a_tool_over_its_budget_is_not_strict() -> None:
    one = tool("openai-strict", (), **{f"p{number}": {"type": "string"} for number in range(5001)})
    assert not one.is_strict
    assert one.losses[0].detail == "5001 properties, more than 5000"
    assert one.declaration["function"]["strict"] is False


@pytest.mark.parametrize("dialect", ["anthropic", "anthropic-strict", "gemini"])
def test_keys_that_a_provider_refuses_have_others(dialect: str) -> None:
    key = "$meta" if dialect != "gemini" else "api-version"
    one = tool(dialect, (), **{key: {"type": "string"}, "_meta": {"type": "string"}, "m": {"type": "object"}})
    assert key not in one.schema["properties"]
    sent(one, {key: "x", "_meta": "y", "m": {"$free": [1]}})


def test_plain_schemas_stay_but_for_what_is_refused() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Payload",
        "properties": {
            "a": {"type": "array"},
            "b": {"type": "object"},
            "c": {"type": "string", "minLength": 2, "default": "x", "title": "C"},
            "d": {"type": "string", "x-minimum": "2026-01-01", "description": "At least 2026-01-01."},
            "x-own": {"type": "string"},
        },
    }
    one = project("tool", "", schema, "openai")
    properties = one.schema["properties"]
    assert "$schema" not in one.schema
    assert "items" in properties["a"]
    assert properties["b"] == {"type": "object", "properties": {}}
    assert properties["c"] == {"type": "string", "minLength": 2, "default": "x", "title": "C"}
    assert properties["d"] == {"type": "string", "description": "At least 2026-01-01."}
    assert properties["x-own"] == {"type": "string"}
    assert losses(one) == [("/properties/d", "x-minimum", "described")]
    text = b'{"c": 1.50}'
    assert one.decode(text) is text
