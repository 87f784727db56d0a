"""Arrays of generated classes in which no two items are one value."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from toolgen.runtime import ToolModel
from toolgen.runtime.generated import Nullable, UniqueItems
from toolgen.shapes.design.model import AnyJson


class Place(ToolModel):
    name: str
    floor: int = 0
    room_: Annotated[str | None, Field(validation_alias="room", serialization_alias="room")] = None
    note: Nullable[str] = None


class Tour(ToolModel):
    places: Annotated[UniqueItems[Place] | None, Field(min_length=1)] = None
    days: UniqueItems[dt.date] | None = None
    extra: UniqueItems[AnyJson] | None = None
    tags: UniqueItems[Annotated[str, Field(max_length=3)]] = Field(default_factory=list)


@pytest.mark.parametrize(
    "places",
    [
        '{"name":"a"},{"name":"b"}',
        '{"name":"a","room":"a"},{"name":"a"}',
        '{"name":"a","note":null},{"name":"a"}',
        '{"name":"a","note":""},{"name":"a","room":""}',
    ],
)
def test_objects_that_differ(places: str) -> None:
    read = Tour.model_validate_json(f'{{"places":[{places}]}}', by_name=False)
    assert read.places is not None
    assert len(read.places) == 2


@pytest.mark.parametrize(
    "document",
    [
        '{"places":[{"name":"a","floor":0},{"floor":0,"name":"a"}]}',
        '{"places":[{"name":"a"},{"name":"a","floor":0}]}',
        '{"places":[{"name":"a","room":null},{"name":"a"}]}',
        '{"days":["2026-01-31","2026-01-31"]}',
        '{"extra":[{"a":[1]},{"a":[1.0]}]}',
        '{"tags":["a","b","a"]}',
    ],
)
def test_items_that_are_written_alike(document: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Tour.model_validate_json(document, by_name=False)
    assert [error["type"] for error in refused.value.errors()] == ["unique_items"]


def test_a_size_is_checked_before_the_items_are_compared() -> None:
    with pytest.raises(ValidationError) as refused:
        Tour.model_validate_json('{"places":[]}')
    assert [error["type"] for error in refused.value.errors()] == ["too_short"]


def test_python_values_are_compared_too() -> None:
    place = Place(name="a")
    with pytest.raises(ValidationError, match="the same item twice"):
        Tour(places=[place, place])
