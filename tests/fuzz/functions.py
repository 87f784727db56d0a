"""Functions whose arguments and results have every kind of type that a function tool takes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from pydantic import BaseModel, Field

from toolgen.calls.functions.tools import function_toolset


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=0)] = 0


class Options(TypedDict):
    deep: bool
    inner: NotRequired[list[Options]]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str | None = None
    friends: list[Cat | Dog] = []


class Pair(NamedTuple):
    key: str
    value: int = 0


class Leaf(BaseModel):
    value: int


class Branch(BaseModel):
    left: Branch | Leaf
    right: Branch | Leaf | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def scalars(
    whole: int, part: float, text: str, is_so: bool, raw: bytes, exact: Decimal, id: UUID
) -> dict[str, float]:
    """Take a value of each plain type."""
    return {}


def times(day: dt.date, at: dt.datetime, took: dt.timedelta | None = None) -> list[dt.datetime]:
    """Take times."""
    return []


def bounded(
    count: Annotated[int, Field(ge=1, lt=10)],
    name: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$")],
    share: Annotated[float, Field(gt=0, le=1)] = 0.5,
    step: Annotated[int, Field(multiple_of=5)] = 5,
) -> Annotated[list[int], Field(max_length=3)]:
    """Take values within limits."""
    return []


def chosen(colour: Colour, mode: Literal["a", 1, True, None] = None, other: str | int = 0) -> Colour:
    """Take one of some values."""
    return colour


def nested(
    point: Point, options: Options | None = None, pairs: list[Pair] | None = None
) -> dict[Colour, Point]:
    """Take objects."""
    return {}


def pets(pet: Pet, others: Sequence[Cat | Dog] | None = None) -> Pet:
    """Take one of two classes."""
    return pet


def tree(root: Branch | Leaf, marks: dict[str, Branch | Leaf | int] | None = None) -> Branch | Leaf:
    """Take a union that holds itself."""
    return root


def rows(
    numbers: set[int], pair: tuple[int, str], more: tuple[float, ...] = (), any_: Any = None
) -> set[str]:
    """Take arrays of several kinds."""
    return set()


def loose(values: dict[str, Any], items: list[Any] | None = None) -> Any:
    """Take any JSON."""
    return values


TOOLS: Final = function_toolset(
    "fuzz.functions", [scalars, times, bounded, chosen, nested, pets, tree, rows, loose]
)
