"""Codecs of types that somebody wrote in Python: one form a value, as the schema says."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from tests.cases.numbers.gen.lab.toolsets import numbers
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.runtime import MalformedResultError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=0)] = 0


@dataclasses.dataclass
class Measure:
    value: float
    step: Annotated[float, Field(ge=0.5, multiple_of=0.5)] = 1


class Options(TypedDict):
    deep: bool
    inner: NotRequired[list[Options]]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Pair(NamedTuple):
    key: str
    value: int = 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("type_", "document", "value"),
    [
        (int, "5.0", 5),
        (float, "5", 5),
        (float, "5.0", 5.0),
        (float, "9007199254740993", 9007199254740993),
        (int | float, "5.0", 5.0),
        (float | str | bool, "true", True),
        (list[float] | list[bool], "[true]", [True]),
        (dict[str, float], '{"a": 1, "b": 1.0}', {"a": 1, "b": 1.0}),
        (Measure, '{"value": 1, "step": 2}', Measure(1, step=2)),
        (bytes, '"aGVsbG8="', b"hello"),
        (dt.date, '"2026-01-31"', dt.date(2026, 1, 31)),
        (dt.timedelta, '"PT1H"', dt.timedelta(hours=1)),
        (Decimal, '"1.50"', Decimal("1.50")),
        (UUID, '"123e4567-e89b-12d3-a456-426614174000"', UUID("123e4567-e89b-12d3-a456-426614174000")),
        (Colour, '"red"', Colour.RED),
        (Point, '{"x": 1}', Point(1)),
        (Options, '{"deep": true, "inner": [{"deep": false}]}', {"deep": True, "inner": [{"deep": False}]}),
        (Pet, '{"kind": "dog"}', Dog(kind="dog")),
        (Pair, '["a"]', Pair("a")),
        (set[int], "[1, 2]", {1, 2}),
        (tuple[int, ...], "[1, 2]", (1, 2)),
        (Sequence[int], "[1]", [1]),
        (dict[Colour, int], '{"red": 1}', {Colour.RED: 1}),
        (Literal["a", 1] | None, "null", None),
        (Literal["a", None], "null", None),
        (int | str, '"5"', "5"),
        (Any, '{"a": [null]}', {"a": [None]}),
        (None, "{}", None),
    ],
)
def test_a_value_has_one_form_and_comes_back(type_: Any, document: str, value: object) -> None:
    for codec in (TypeCodec[Any](type_, "Value"), TypeCodec[Any](type_, "Value", is_result=True)):
        Draft202012Validator(codec.schema).validate(json.loads(document))
        assert repr(codec.decode(document)) == repr(value)
        assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("value", [Measure(1), Measure(1.0, step=2), Measure(2**53 + 1, step=2.5)])
def test_a_number_is_written_as_it_is(value: Measure) -> None:
    for type_ in (Measure, Measure | Point, Annotated[Measure | Cat, Field()]):
        written = json.loads(TypeCodec[Any](type_, "Value", is_result=True).encode(value))
        assert repr(written) == repr(dataclasses.asdict(value))


def test_a_number_of_a_generated_class_is_one_type_in_a_schema() -> None:
    bounds = numbers.BOUNDS.payload
    said = TypeCodec(bounds.type, "Bounds").schema["properties"]
    assert said == bounds.schema["properties"]


def test_classes_of_the_author_stay_as_lax_as_they_are() -> None:
    def take(cat: Cat) -> None: ...

    func_tool(take)
    assert Cat.model_validate({"kind": "cat", "lives": "7", "other": 1}).lives == 7


@pytest.mark.parametrize("value", [Point(x=1, y=-1), {"x": 1}, None, Cat(kind="cat")])
def test_a_value_that_does_not_fit_is_not_written(value: Any) -> None:
    with pytest.raises(MalformedResultError, match="Point cannot be encoded"):
        TypeCodec[Any](Point, "Point").encode(value)


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (dict[int, str], "a map has keys of type int; in JSON, keys are strings"),
        (Literal[b"x"], "the literal b'x' is not a string, an integer or a boolean"),
        (object(), "Unable to generate pydantic-core schema"),
    ],
)
def test_a_type_whose_values_json_cannot_hold_has_no_codec(type_: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TypeCodec(type_, "Value")
