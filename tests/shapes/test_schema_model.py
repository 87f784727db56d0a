"""Types of other people's schemas accept and write what the schemas say."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

import pytest
from pydantic import ConfigDict, Field, ValidationError

from toolgen.contract.json_value import Json
from toolgen.shapes.design.model import AnyJson, Injected, Nullable, ToolModel
from toolgen.shapes.foreign.model import Foreign, SchemaModel, exact_adapter


class Point(SchemaModel):
    kind: Literal["point"]
    x_axis: Annotated[int | None, Field(validation_alias="xAxis", serialization_alias="xAxis", ge=0)] = None


class Line(SchemaModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["line"]
    length: float


class Everything(SchemaModel):
    title: Annotated[str | None, Field(min_length=1)] = None
    milestone: Nullable[int] = None
    limit: int = 10
    number: float | None = None
    step: Annotated[float | None, Field(ge=1.5, multiple_of=0.1)] = None
    anything: AnyJson = None
    state: Literal["open", "closed"] | None = None
    mixed: Literal["a"] | Literal[1, 2] | bool | None = None
    flag: Literal[True] | None = None
    shape: Annotated[Point | Line | None, Field(discriminator="kind")] = None
    loose: str | list[str] | Point | Line | None = None
    scores: (
        dict[Annotated[str, Field(pattern="^a")], Annotated[float, Field(ge=0, le=9007199254740993)]] | None
    ) = None
    holes: list[Nullable[int]] | None = None
    inner: Everything | None = None
    schema_: Annotated[str | None, Field(validation_alias="schema", serialization_alias="schema")] = None


class Filled(SchemaModel):
    name: str | None = None

    session_id = Injected[str]()


def written(value: SchemaModel) -> Any:
    return json.loads(
        type(value).__pydantic_serializer__.to_json(value, exclude_unset=True, warnings="error")
    )


def parsed(document: Json) -> Everything:
    Everything.model_rebuild()
    return Everything.__pydantic_validator__.validate_json(  # type: ignore[no-any-return]  # of pydantic-core
        json.dumps(document), by_alias=True, by_name=False
    )


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"title": "a", "milestone": 3, "limit": 10},
        {"milestone": None},
        {"limit": 5.0},
        {"number": 2**70 + 1},
        {"number": -0.5},
        {"step": 1.6},
        {"anything": None},
        {"anything": [None, {"a": None}]},
        {"mixed": True},
        {"mixed": 1},
        {"mixed": 2.0},
        {"flag": True},
        {"shape": {"kind": "point", "xAxis": 1, "more": None}},
        {"shape": {"kind": "line", "length": 2}},
        {"shape": {"kind": "point", "x_axis": "a key of its own"}},
        {"loose": "text"},
        {"loose": ["text"]},
        {"loose": {"kind": "line", "length": 2.5}},
        {"scores": {"a": 1, "ab": 2.5}},
        {"holes": [1, None]},
        {"inner": {"inner": {"milestone": None, "new": {"deep": [None]}}}},
        {"schema": "a", "__class__": 1, "": 2, "model_config": 3, "self": 4},
    ],
)
def test_a_document_is_written_as_it_was_read(document: Json) -> None:
    assert written(parsed(document)) == document


@pytest.mark.parametrize(
    "document",
    [
        {"title": None},
        {"title": ""},
        {"limit": None},
        {"limit": True},
        {"limit": 5.5},
        {"limit": "5"},
        {"number": "5"},
        {"number": True},
        {"step": 1.65},
        {"step": 1},
        {"state": "lost"},
        {"state": None},
        {"mixed": 3},
        {"mixed": "b"},
        {"flag": 1},
        {"flag": False},
        {"shape": {"kind": "circle"}},
        {"shape": {}},
        {"shape": None},
        {"shape": {"kind": "line", "length": 2, "more": 1}},
        {"shape": {"kind": "line"}},
        {"loose": [1]},
        {"loose": 3},
        {"scores": {"b": 1}},
        {"scores": {"a": -1}},
        {"holes": [True]},
        {"inner": {"inner": {"title": None}}},
    ],
)
def test_what_the_schema_refuses_is_refused(document: Json) -> None:
    with pytest.raises(ValidationError):
        parsed(document)


def test_python_leaves_an_optional_field_out_with_none() -> None:
    assert written(Everything(title=None, milestone=None, anything=None)) == {
        "milestone": None,
        "anything": None,
    }


def test_python_may_give_further_keys() -> None:
    more: dict[str, Any] = {"Further-Key": [1, None]}
    assert written(Everything(limit=3, **more)) == {"limit": 3, "Further-Key": [1, None]}


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object()])
def test_a_further_key_holds_json(value: object) -> None:
    more: dict[str, Any] = {"key": value}
    with pytest.raises(ValidationError):
        Everything(**more)


def test_python_is_held_to_the_types() -> None:
    with pytest.raises(ValidationError):
        Everything(limit=None)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValidationError, match="is not a field here"):
        Line(kind="line", length=2, more=1)  # type: ignore[call-arg]  # on purpose


def test_an_injected_field_is_never_read_from_a_document() -> None:
    payload = Filled.model_validate_json('{"name": "a", "session_id": "forged", "other": 1}')
    Filled.session_id.fill(payload, "real")
    assert payload.session_id == "real"
    assert payload.model_extra == {"other": 1}
    assert written(payload) == {"name": "a", "other": 1}


class Left(SchemaModel):
    type_: Annotated[Literal["left"], Field(validation_alias="type", serialization_alias="type")]


class Right(SchemaModel):
    type_: Annotated[Literal["right"], Field(validation_alias="type", serialization_alias="type")]


Side: TypeAlias = Annotated[Left | Right, Field(discriminator="type_")]


def test_a_union_goes_by_the_key_of_its_tag() -> None:
    adapter = exact_adapter(Side)
    value = adapter.validator.validate_json(
        '{"type": "right", "type_": "left"}', by_alias=True, by_name=False
    )
    assert type(value) is Right
    assert adapter.serializer.to_json(value, exclude_unset=True) == b'{"type":"right","type_":"left"}'
    assert adapter.validator.validate_python(Left(type_="left")) == Left(type_="left")


class Designed(ToolModel):
    note: str | None = None
    query: Foreign[Everything] | None = None
    numbers: Foreign[list[int]]
    queries: list[Foreign[Everything]] | None = None
    comment: Foreign[Nullable[str]] = None


def test_a_foreign_value_inside_a_designed_one_is_written_by_its_own_rules() -> None:
    text = (
        '{"note":null,"query":{"milestone":null,"limit":3,"new":null},"numbers":[1,2.0],"comment":null,'
        '"queries":[{"milestone":null}]}'
    )
    value = Designed.model_validate_json(text)
    assert value.numbers == [1, 2]
    assert json.loads(value.model_dump_json(exclude_none=True)) == {
        "query": {"milestone": None, "limit": 3, "new": None},
        "numbers": [1, 2],
        "comment": None,
        "queries": [{"milestone": None}],
    }


def test_a_foreign_value_inside_a_designed_one_is_exact() -> None:
    with pytest.raises(ValidationError):
        Designed.model_validate_json('{"numbers": [true]}')


def test_a_type_that_is_no_class_is_exact() -> None:
    adapter = exact_adapter(list[Point | int])
    value = adapter.validator.validate_json('[1, 2.0, {"kind": "point", "new": null}]')
    assert adapter.serializer.to_json(value, exclude_unset=True) == b'[1,2,{"kind":"point","new":null}]'
    with pytest.raises(ValidationError):
        adapter.validator.validate_json("[true]")
