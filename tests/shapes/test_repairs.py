"""What of a schema is read as it means, and what is left as it is."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.shapes.foreign.repairs import repair

Schema = dict[str, Any]

REPAIRS: list[tuple[Schema, Schema, list[str]]] = [
    ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}, ["/exclusiveMinimum"]),
    ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}, ["/exclusiveMaximum"]),
    ({"exclusiveMaximum": True}, {}, ["/exclusiveMaximum"]),
    ({"required": ["a", "b", "a"]}, {"required": ["a", "b"]}, ["/required"]),
    ({"type": ["null", "null"]}, {"type": ["null"]}, ["/type"]),
    ({"description": None, "title": None, "default": None}, {"default": None}, ["/description", "/title"]),
    ({"properties": None, "enum": None, "const": None}, {"const": None}, ["/enum", "/properties"]),
    ({"properties": []}, {"properties": {}}, ["/properties"]),
    (
        {"properties": {"a": [], "b": False}, "$defs": []},
        {"properties": {"a": {}, "b": False}, "$defs": {}},
        ["/$defs", "/properties/a"],
    ),
    (
        {"properties": {"a": {"required": True}, "b": {"required": False}, "c": {}}, "required": ["c"]},
        {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c", "a"]},
        ["/properties/a/required", "/properties/b/required"],
    ),
    (
        {"properties": {"a": {"properties": {"b": {"required": True}}, "required": True}}},
        {"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}}, "required": ["a"]},
        ["/properties/a/properties/b/required", "/properties/a/required"],
    ),
    (
        {"properties": {"a": {"$recursiveRef": "#"}}, "$recursiveAnchor": True},
        {"properties": {"a": {"$ref": "#"}}},
        ["/$recursiveAnchor", "/properties/a/$recursiveRef"],
    ),
    (
        {"$defs": {"A b": {"$recursiveAnchor": True, "items": {"$recursiveRef": "#", "$ref": "#/$defs/C"}}}},
        {"$defs": {"A b": {"items": {"$ref": "#/$defs/C", "allOf": [{"$ref": "#/$defs/A%20b"}]}}}},
        ["/$defs/A b/$recursiveAnchor", "/$defs/A b/items/$recursiveRef"],
    ),
    (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{}], "additionalItems": False},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}], "items": False},
        ["/items"],
    ),
    (
        {"properties": {"a": {"$id": "#/properties/a", "type": "string"}}},
        {"properties": {"a": {"type": "string"}}},
        ["/properties/a/$id"],
    ),
    (
        {"properties": {"a": {"$id": "A", "items": {"$ref": "#/$defs/B"}}}, "$defs": {"B": {}}},
        {"properties": {"a": {"items": {"$ref": "#/$defs/B"}}}, "$defs": {"B": {}}},
        ["/properties/a/$id"],
    ),
    (
        {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True},
        {"$schema": "http://json-schema.org/draft-06/schema#", "exclusiveMinimum": 1},
        ["/$schema"],
    ),
    (
        {"$ref": "#/components/T", "components": {"T": {"required": ["a", "a"]}}},
        {"$ref": "#/components/T", "components": {"T": {"required": ["a"]}}},
        ["/components/T/required"],
    ),
]


@pytest.mark.parametrize(("schema", "meant", "places"), REPAIRS)
def test_what_has_one_meaning_is_read_as_that(schema: Schema, meant: Schema, places: list[str]) -> None:
    found = repair(schema)
    assert schema == meant
    assert [each.pointer for each in found] == places
    assert all(each.message and each.hint for each in found)
    assert repair(schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": None},
        {"minimum": "1", "exclusiveMinimum": True},
        {"required": ["a", 1, 1]},
        {"required": True},
        {"const": {"required": True, "title": None}, "default": {"properties": []}, "x": {"title": None}},
        {"properties": {"title": {"const": None}, "required": {"type": "boolean"}}},
        {"$recursiveRef": "#a"},
        {"$defs": {"a": {"$id": "a", "$recursiveAnchor": True}}, "items": {"$recursiveRef": "#"}},
        {"items": [{}], "properties": {"a": {"$ref": "#/items/0"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]},
        {"properties": {"a": {"$id": "A", "$ref": "#/$defs/B"}, "b": {"$ref": "A"}}, "$defs": {"B": {}}},
        {"properties": {"a": {"$id": "A", "$ref": "#/$defs/B"}}},
        {"dependencies": {"a": []}},
    ],
)
def test_what_has_no_meaning_or_several_stays(schema: Schema) -> None:
    before = copy.deepcopy(schema)
    assert repair(schema) == []
    assert schema == before


numbers = st.integers(-3, 3)
draft_4: st.SearchStrategy[Schema] = st.builds(
    lambda bounds, flags: {**bounds, **flags},
    st.fixed_dictionaries({"minimum": numbers, "maximum": numbers}),
    st.dictionaries(st.sampled_from(["exclusiveMinimum", "exclusiveMaximum"]), st.booleans()),
)


@given(draft_4, numbers)
def test_bounds_of_draft_4_keep_their_meaning(schema: Schema, value: int) -> None:
    means = jsonschema_rs.Draft4Validator(copy.deepcopy(schema)).is_valid(value)
    repair(schema)
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(value) == means


@pytest.mark.exhaustive
@given(st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.just("a"), inner)))
def test_recursion_of_2019_09_keeps_its_meaning(value: object) -> None:
    schema: Schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$recursiveAnchor": True,
        "type": ["object", "array"],
        "properties": {"a": {"$recursiveRef": "#"}},
    }
    means = jsonschema_rs.Draft201909Validator(copy.deepcopy(schema)).is_valid(value)
    assert repair(schema) == []  # the draft is named, so that nothing is to be warned of
    assert "$recursiveRef" not in json.dumps(schema)
    assert jsonschema_rs.Draft202012Validator({**schema, "$schema": ""}).is_valid(value) == means


def test_a_repair_leaves_the_lists_of_a_copy_alone() -> None:
    names = ["a", "a"]
    schema = {"required": names}
    repair(schema)
    assert (names, schema["required"]) == (["a", "a"], ["a"])


@pytest.mark.exhaustive
def test_many_places_take_a_short_time() -> None:
    properties = {f"p{at}": {"required": True, "$id": f"i{at}", "$ref": "#/$defs/x"} for at in range(20_000)}
    names = [*map(str, range(20_000))] * 2
    schema: Schema = {"properties": properties, "required": names, "$defs": {"x": {}}}
    assert len(repair(schema)) == 40_001
