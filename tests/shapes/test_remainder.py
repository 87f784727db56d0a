"""What types leave of a foreign schema; `tests/conformance/test_random_rules.py` holds that it is enough."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from toolgen.contract.json_value import Json
from toolgen.shapes.design.model import Nullable
from toolgen.shapes.foreign.model import SchemaModel
from toolgen.shapes.foreign.remainder import Remainder, remainder_of


class Part(SchemaModel):
    kind: Literal["x", "y"]
    size: Annotated[int, Field(ge=1)] | None = None


class Whole(SchemaModel, extra="forbid"):
    parts: Annotated[list[Part], Field(max_length=3)]
    share: Annotated[float, Field(lt=2)] | None = None
    title: Nullable[Annotated[str, Field(max_length=5)]] = None
    is_on: bool | None = Field(None, alias="is-on")
    inner: Whole | None = None


PART: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["x", "y"]},
        "size": {"type": "integer", "minimum": 1, "description": "Size."},
    },
    "required": ["kind"],
}
PROPERTIES: dict[str, Any] = {
    "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}, "maxItems": 3},
    "share": {"type": "number", "exclusiveMaximum": 2},
    "title": {"type": ["string", "null"], "maxLength": 5},
    "is-on": {"type": "boolean"},
    "inner": {},
}
WHOLE: dict[str, Any] = {
    "type": "object",
    "properties": PROPERTIES,
    "required": ["parts"],
    "additionalProperties": False,
}
DEPENDENT: dict[str, Any] = {"dependentRequired": {"title": ["is-on"]}}
CONDITION: dict[str, Any] = {"if": {"properties": {"share": {"const": 1}}}, "then": {"required": ["title"]}}


def left(schema: dict[str, Any], part: dict[str, Any] = PART) -> tuple[Any, Any]:
    Whole.model_rebuild()
    rules, included = remainder_of({**schema, "$defs": {"Part": part}}, Whole.__pydantic_core_schema__)
    if rules is not True:
        assert rules.pop("$defs") == {"Part": part}
    return rules, included


def with_property(name: str, schema: Json) -> dict[str, Any]:
    return {**WHOLE, "properties": {**PROPERTIES, name: schema}}


def test_types_that_hold_all_leave_nothing() -> None:
    assert left(WHOLE) == (True, {})


@pytest.mark.parametrize(
    ("rule", "included"),
    [
        (DEPENDENT, {"title": {}, "is_on": {}}),
        (CONDITION, {"share": True, "title": {}}),
        ({"not": {"required": ["title", "share"]}}, {"title": {}, "share": {}}),
        ({"minProperties": 2}, True),
        ({"propertyNames": {"maxLength": 4}}, True),
    ],
)
def test_a_rule_is_left_with_the_keys_that_it_looks_at(rule: dict[str, Any], included: Any) -> None:
    assert left({**WHOLE, **rule}) == (rule, included)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("share", {"type": "number", "exclusiveMaximum": 1}),
        ("share", {"type": "integer", "exclusiveMaximum": 2}),
        ("title", {"type": ["string", "null"], "maxLength": 4}),
        ("title", {"type": "string", "maxLength": 5}),
        ("parts", {**PROPERTIES["parts"], "uniqueItems": True}),
        ("parts", {**PROPERTIES["parts"], "maxItems": 2}),
        ("share", {"x-unknown": 1}),
    ],
)
def test_what_a_type_may_not_hold_is_left_as_it_is(name: str, schema: Json) -> None:
    assert left(with_property(name, schema)) == ({"properties": {name: schema}}, {name: True})


def test_a_rule_inside_a_list_is_left_there() -> None:
    part = {**PART, "dependentRequired": {"size": ["kind"]}}
    rules = {"properties": {"parts": {"items": {"dependentRequired": part["dependentRequired"]}}}}
    assert left(WHOLE, part) == (rules, {"parts": {"__all__": {"size": {}, "kind": {}}}})


def test_a_class_that_holds_itself_is_left_where_it_begins_again() -> None:
    itself: Json = {"$ref": "#/$defs/Whole"}
    whole = {**with_property("inner", itself), **DEPENDENT}
    schema: dict[str, Any] = {"$ref": "#/$defs/Whole", "$defs": {"Whole": whole, "Part": PART}}
    rules, included = remainder_of(schema, Whole.__pydantic_core_schema__)
    assert rules == {**DEPENDENT, "properties": {"inner": whole}, "$defs": schema["$defs"]}
    assert included == {"title": {}, "is_on": {}, "inner": True}


@pytest.mark.parametrize(
    "part", [{"$id": "https://example.com/x"}, {"$anchor": "a"}, {"properties": {"a": {"$ref": "#"}}}]
)
def test_a_schema_whose_references_may_lead_anywhere_is_left_whole(part: dict[str, Any]) -> None:
    schema = {**WHOLE, "$defs": {"Part": part}}
    assert remainder_of(schema, Whole.__pydantic_core_schema__) == (schema, True)


def test_a_value_surely_fits_or_the_whole_schema_is_asked() -> None:
    Whole.model_rebuild()
    schema = {**WHOLE, **DEPENDENT, "$defs": {"Part": PART}}
    core, serializer = Whole.__pydantic_core_schema__, Whole.__pydantic_serializer__
    remainder = Remainder(schema, core, serializer, True)
    good = Whole.model_validate_json(b'{"parts": [], "title": null, "is-on": true}')
    bad = Whole.model_validate_json(b'{"parts": [], "title": null}')
    assert remainder.accepts(good, 40)
    assert remainder.accepts(good, 10**9), "what it looks at is small"
    assert not remainder.accepts(bad, 40)
