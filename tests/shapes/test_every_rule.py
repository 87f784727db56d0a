"""A document that breaks several rules has an issue for each of them, also for those of one value."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from pydantic import Field

from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.runtime import Limits, ToolModel, ToolValidationError
from toolgen.runtime.functions import Codec, SchemaCodec, json_schema_codec
from toolgen.runtime.generated import SchemaModel, UniqueItems

Word = Annotated[str, Field(min_length=3, pattern="^a")]
Even = Annotated[int, Field(ge=5, multiple_of=2)]


class Args(ToolModel):
    xs: Annotated[list[Word], Field(max_length=1)]
    n: Even
    few: Annotated[list[Word], Field(min_length=3)] | None = None
    names: Annotated[dict[Annotated[str, Field(pattern="^k")], Even], Field(max_length=1)] | None = None
    share: Annotated[float, Field(lt=1, multiple_of=0.5)] | None = None
    next: Args | None = None


class ForeignArgs(SchemaModel):
    xs: Annotated[list[Word], Field(max_length=1)]
    n: Even
    few: Annotated[list[Word], Field(min_length=3)] | None = None
    names: Annotated[dict[Annotated[str, Field(pattern="^k")], Even], Field(max_length=1)] | None = None
    share: Annotated[float, Field(lt=1, multiple_of=0.5)] | None = None
    next: ForeignArgs | None = None


class TypedArgs(TypedDict):
    xs: Annotated[list[Word], Field(max_length=1)]
    n: Even
    few: NotRequired[Annotated[list[Word], Field(min_length=3)]]
    names: NotRequired[Annotated[dict[Annotated[str, Field(pattern="^k")], Even], Field(max_length=1)]]
    share: NotRequired[Annotated[float, Field(lt=1, multiple_of=0.5)]]
    next: NotRequired[TypedArgs]


WORD = {"type": "string", "minLength": 3, "pattern": "^a"}
EVEN = {"type": "integer", "minimum": 5, "multipleOf": 2}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["xs", "n"],
    "properties": {
        "xs": {"type": "array", "items": WORD, "maxItems": 1},
        "n": EVEN,
        "few": {"type": "array", "items": WORD, "minItems": 3},
        "names": {
            "type": "object",
            "propertyNames": {"pattern": "^k"},
            "additionalProperties": EVEN,
            "maxProperties": 1,
        },
        "share": {"type": "number", "exclusiveMaximum": 1, "multipleOf": 0.5},
        "next": {"$ref": "#/$defs/Args"},
    },
}
DESIGNED = {"$defs": {"Args": SCHEMA}, **SCHEMA}
CODECS: dict[str, Codec[Any]] = {
    "designed": Codec(None, __name__, "Args", {"Args": json.dumps(DESIGNED)}),
    "of a function": TypeCodec(TypedArgs, "Args"),
    "of a schema, as types": SchemaCodec(
        None, __name__, "ForeignArgs", {"ForeignArgs": json.dumps(DESIGNED)}, is_exact=True
    ),
    "of a schema, with rules": SchemaCodec(
        None, __name__, "ForeignArgs", {"ForeignArgs": json.dumps(DESIGNED)}, is_exact=False
    ),
    "of a schema alone": json_schema_codec(DESIGNED, "Args"),
}
SEVEN = {"xs": ["b", "c"], "n": 3}
ISSUES = [
    ("$.n", "invalid_range"),
    ("$.n", "invalid_range"),
    ("$.xs", "invalid_length"),
    ("$.xs[0]", "invalid_length"),
    ("$.xs[0]", "invalid_pattern"),
    ("$.xs[1]", "invalid_length"),
    ("$.xs[1]", "invalid_pattern"),
]


def issues(codec: Codec[Any], document: Any, most: int = 20) -> list[tuple[str, str]]:
    """Return place and rule of each issue of a document."""
    with pytest.raises(ToolValidationError) as raised:
        codec.decode(json.dumps(document), Limits(issues=most))
    return sorted((issue.path, issue.constraint) for issue in raised.value.issues)


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
class TestEveryCodec:
    def test_seven_broken_rules_are_seven_issues(self, codec: Codec[Any]) -> None:
        assert issues(codec, SEVEN) == ISSUES
        assert issues(codec, SEVEN) == ISSUES, "also when they come again"

    def test_what_hides_nothing_is_read_once(self, codec: Codec[Any]) -> None:
        assert issues(codec, {"xs": ["abc"], "n": "x"}) == [("$.n", "invalid_type")]
        assert issues(codec, {"xs": [1, "abc"], "n": 6}) == [
            ("$.xs", "invalid_length"),
            ("$.xs[0]", "invalid_type"),
        ]

    def test_a_mistake_that_hid_nothing_before_hides_one_now(self, codec: Codec[Any]) -> None:
        assert issues(codec, {"xs": ["a"], "n": 6}) == [("$.xs[0]", "invalid_length")]
        assert issues(codec, {"xs": ["b"], "n": 6}) == ISSUES[3:5]

    def test_an_array_that_is_too_short_has_items_too(self, codec: Codec[Any]) -> None:
        assert issues(codec, {"xs": ["abc"], "n": 6, "few": ["bcd", 1]}) == [
            ("$.few", "invalid_length"),
            ("$.few[0]", "invalid_pattern"),
            ("$.few[1]", "invalid_type"),
        ]

    def test_a_map_has_keys_and_values_too(self, codec: Codec[Any]) -> None:
        assert issues(codec, {"xs": ["abc"], "n": 6, "names": {"k": 6, "x": 3}}) == [
            ("$.names", "invalid_length"),
            ("$.names.x", "invalid_pattern"),
            ("$.names.x", "invalid_range"),
            ("$.names.x", "invalid_range"),
        ]

    def test_a_number_has_a_bound_and_a_step(self, codec: Codec[Any]) -> None:
        for share in (1.25, 3.75):
            assert (
                issues(codec, {"xs": ["abc"], "n": 6, "share": share}) == [("$.share", "invalid_range")] * 2
            )

    def test_values_inside_of_a_recursive_type_are_read_too(self, codec: Codec[Any]) -> None:
        nested = {"xs": ["abc"], "n": 6, "next": SEVEN}
        assert issues(codec, nested) == [(f"$.next{path[1:]}", code) for path, code in ISSUES]

    def test_a_null_hides_nothing(self, codec: Codec[Any]) -> None:
        found = issues(codec, {**SEVEN, "share": None})
        assert found == sorted([*ISSUES, ("$.share", "invalid_type")])

    def test_there_are_so_many_issues_as_were_asked_for(self, codec: Codec[Any]) -> None:
        assert len(issues(codec, SEVEN, 3)) == 3
        many = {"xs": ["abc", *["b"] * 200], "n": 6}
        with pytest.raises(ToolValidationError) as raised:
            codec.decode(json.dumps(many))
        assert len(raised.value.issues) == 20
        assert raised.value.more > 0


@pytest.mark.parametrize("name", ["designed", "of a function", "of a schema, as types"])
def test_of_an_array_that_is_too_long_the_first_items_are_read(name: str) -> None:
    """Twenty of them, however many there are."""
    items: list[Any] = ["abc"] * 100
    items[19], items[20] = 1, 1
    assert issues(CODECS[name], {"xs": items, "n": 6}) == [
        ("$.xs", "invalid_length"),
        ("$.xs[19]", "invalid_type"),
    ]


class Prices(ToolModel):
    xs: Annotated[UniqueItems[Word], Field(max_length=3)] | None = None
    price: Annotated[Decimal, Field(ge=2, multiple_of=0.5)] | None = None


PRICES = {
    "type": "object",
    "properties": {
        "xs": {"type": "array", "items": WORD, "maxItems": 3, "uniqueItems": True},
        "price": {"type": "string", "pattern": "x"},
    },
}


def test_equal_items_and_decimals_have_further_rules() -> None:
    codec: Codec[Any] = Codec(None, __name__, "Prices", {"Prices": json.dumps(PRICES)})
    assert issues(codec, {"xs": ["b", "b", "abc"]}) == [
        ("$.xs", "invalid_value"),
        *ISSUES[3:],
    ]
    assert issues(codec, {"xs": ["abc"] * 4, "price": "1.3"}) == [
        ("$.price", "invalid_range"),
        ("$.price", "invalid_range"),
        ("$.xs", "invalid_length"),
        ("$.xs", "invalid_value"),
    ]
