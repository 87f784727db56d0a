"""Unions whose branches lead to the same union again: one branch is tried, whatever the depth."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BeforeValidator, ConfigDict
from pydantic_core import SchemaValidator, ValidationError

from toolgen.shapes.design.model import Nullable
from toolgen.shapes.foreign.issues import ForeignReader
from toolgen.shapes.foreign.model import SchemaModel, exact_adapter
from toolgen.shapes.issues import TooComplexError
from toolgen.shapes.union_guard import discriminate_unions, within_budget

TRIED: Counter[str] = Counter()
"""Validations of each branch; the tests clear it."""


def counted(branch: str) -> Any:
    def count(value: Any) -> Any:
        TRIED[branch] += 1
        return value

    return AfterValidator(count)


class Lamp(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    watts: Annotated[int, counted("lamp")]
    next: Lamp | Lock | None = None


class Lock(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    code: Annotated[str, counted("lock")]
    next: Lamp | Lock | None = None


class Sum(SchemaModel):
    op: Literal["add", "sub"] | None = None
    next: Annotated[Sum | Product | None, counted("sum")] = None


class Product(SchemaModel):
    op: Literal["mul", 1] | None = None
    next: Annotated[Sum | Product | None, counted("product")] = None


class Text(SchemaModel):
    value: Annotated[str, counted("text")]
    parts: list[Text | Number] | None = None


class Number(SchemaModel):
    value: Nullable[Annotated[float, counted("number")]]
    parts: list[Text | Number] | None = None


class Left(SchemaModel):
    left: Annotated[int | None, counted("left")] = None
    next: Left | Right | None = None


class Right(SchemaModel):
    right: Annotated[int | None, counted("right")] = None
    next: Left | Right | None = None


def chain(level: dict[str, Any], end: Any, depth: int) -> dict[str, Any]:
    document = end
    for _ in range(depth):
        document = {**level, "next": document}
    return document  # type: ignore[no-any-return]  # a dict where the depth is above 0


def tree(end: Any, depth: int) -> Any:
    for number in range(depth):
        end = {"value": "text" if number % 2 else number, "parts": [end]}
    return end


def decoder(type_: Any) -> Any:
    """Return what decodes documents of a type whose unions are told apart."""
    schema = discriminate_unions(exact_adapter(type_).core_schema)
    assert schema is not None
    validate = within_budget(SchemaValidator(schema, _use_prebuilt=False).validate_json)
    return lambda document: validate(json.dumps(document), by_alias=True, by_name=False)


def issues(type_: Any, document: Any) -> list[str]:
    with pytest.raises(ValidationError) as raised:
        decoder(type_)(document)
    return [str(issue) for issue in ForeignReader({}).issues(raised.value.errors(include_url=False))]


@pytest.mark.parametrize(
    ("type_", "document"),
    [
        (Lamp | Lock, chain({"watts": 5}, {"code": "x"}, 50)),
        (Sum | Product, chain({"op": "mul"}, {"op": "add"}, 50)),
        (Sum | Product, chain({"op": 1.0}, {"op": "sub"}, 50)),
        (Text | Number, tree({"value": None}, 30)),
    ],
)
def test_a_document_that_fits_is_tried_by_one_branch_a_level(type_: Any, document: Any) -> None:
    TRIED.clear()
    value = decoder(type_)(document)
    assert sum(TRIED.values()) <= 52
    assert json.loads(exact_adapter(type_).serializer.to_json(value, exclude_unset=True)) == document


@pytest.mark.parametrize(
    ("type_", "document", "expected"),
    [
        (
            Lamp | Lock,
            chain({"watts": 5}, {"volts": 5}, 3),
            [
                "$.next.next.next.watts is required and was left out",
                "$.next.next.next.volts is not a field here",
            ],
        ),
        (Lamp | Lock, chain({"watts": 5}, 7, 3), ["$.next.next.next must be an object, not an integer"]),
        (
            Lamp | Lock,
            chain({"code": "x"}, {"watts": ""}, 1),
            ["$.next.watts must be an integer, not a string"],
        ),
        (
            Sum | Product,
            chain({"op": "add"}, {"op": "div"}, 2),
            ['$.next.next.op must be one of "add", "sub", "mul", 1'],
        ),
        (
            Text | Number,
            tree({"value": []}, 2),
            ["$.parts[0].parts[0].value must be a string, not an array"],
        ),
    ],
)
def test_what_is_wrong_far_inside_is_said_there(type_: Any, document: Any, expected: list[str]) -> None:
    assert issues(type_, document) == expected


@pytest.mark.parametrize("depth", [10, 20, 50])
def test_a_document_that_does_not_fit_is_tried_in_proportion_to_its_depth(depth: int) -> None:
    """With the branches tried all the way, 2 to the power of the depth."""
    TRIED.clear()
    assert len(issues(Lamp | Lock, chain({"watts": 5}, {"volts": 5}, depth))) == 2
    assert sum(TRIED.values()) <= depth
    TRIED.clear()
    wrong_everywhere = chain({"watts": 5, "volts": 5}, {"watts": 5}, depth)
    assert issues(Lamp | Lock, wrong_everywhere)
    assert sum(TRIED.values()) <= 2_000 + depth


def test_what_may_be_of_several_branches_is_tried_within_a_budget() -> None:
    TRIED.clear()
    few = decoder(Left | Right)(chain({"left": 1, "right": 1}, {}, 8))
    assert type(few) is Left
    with pytest.raises(TooComplexError):
        decoder(Left | Right)(chain({"left": 1, "right": 1}, {}, 50))
    assert sum(TRIED.values()) < 50_000


@pytest.mark.exhaustive
def test_a_long_list_of_what_may_be_of_several_branches_is_no_reason_to_give_up() -> None:
    document = [{"left": number, "right": number} for number in range(9_000)]
    assert len(decoder(list[Left | Right])(document)) == 9_000


def test_the_budget_is_that_of_one_document() -> None:
    decode, document = decoder(Left | Right), chain({"left": 1, "right": 1}, {}, 9)
    for _ in range(20):
        decode(document)


class Renamed(SchemaModel):
    before: Annotated[Any, BeforeValidator(lambda value: value)]
    next: Renamed | Other | None = None


class Other(SchemaModel):
    other: int
    next: Renamed | Other | None = None


def test_what_an_author_changes_before_it_is_validated_is_not_judged_by_its_shape() -> None:
    document = chain({"before": 1}, {"other": 2, "before": 3}, 3)
    value = decoder(Renamed | Other)(document)
    assert type(value.next.next.next) in (Renamed, Other)


class A(SchemaModel):
    a: int


class B(SchemaModel):
    b: int


@pytest.mark.parametrize("type_", [A | B, list[A | B], int | str | list[int], A])
def test_where_trying_all_branches_is_cheap_nothing_is_added(type_: Any) -> None:
    assert discriminate_unions(exact_adapter(type_).core_schema) is None
