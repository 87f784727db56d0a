"""Types as clauses, and the primitives.

`DataType` is invariant in what it holds, so that one signature of `Attribute` lets a type checker
compare a default, an enum and each constraint with the type they are written for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal as PythonDecimal
from typing import Any as Anything
from typing import Final, Generic, Self, TypeAlias, TypeVar, final
from uuid import UUID

from toolgen.shapes.constraints import CONSTRAINTS
from toolgen.shapes.fields import ScalarKind

from .clause import Clause

Held = TypeVar("Held")
"""What a default or an example of the type is in Python."""
Choice = TypeVar("Choice")
"""What stands in `enum`."""
Bound = TypeVar("Bound")
"""What `minimum`, `maximum` and `multiple_of` are."""
Length = TypeVar("Length")
"""What `min_length` and `max_length` are."""
Text = TypeVar("Text")
"""What `pattern` and `format` are."""
Flag = TypeVar("Flag")
"""What `unique_items` is."""


_NAMES: Final = frozenset(row.name for row in CONSTRAINTS)


@final
class NotOnThisType:
    """Stands where a type cannot hold a constraint; it has no values to pass."""


class DataType(Clause, Generic[Held, Choice, Bound, Length, Text, Flag]):
    """A type of the language, and which constraints it can hold."""

    constraints: Final[dict[str, object]]
    """The constraints that were written, by keyword."""

    def __init__(self, **constraints: object) -> None:
        super().__init__()
        self.constraints = constraints

    def _invariant(
        self, value: Held, choice: Choice, bound: Bound, length: Length, text: Text, flag: Flag
    ) -> tuple[Held, Choice, Bound, Length, Text, Flag]:
        """Return the argument; the method only makes the type variables invariant."""
        return value, choice, bound, length, text, flag


Holds: TypeAlias = DataType[Held, Anything, Anything, Anything, Anything, Anything]
"""A type by its Python value alone."""
Unconstrained: TypeAlias = DataType[
    Held, NotOnThisType, NotOnThisType, NotOnThisType, NotOnThisType, NotOnThisType
]
"""A type that holds no constraints."""


def written(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the constraints among the arguments of a call, such as its `locals()`; none that is left out."""
    return {name: value for name, value in arguments.items() if value is not None and name in _NAMES}


Member = TypeVar("Member", covariant=True)


class Value(Clause, Generic[Member]):
    """A value of an enumeration, and what it means, for models and for people who choose.

    Example: `d.Enum("Tag", "Tag of an article.", d.Value("6809637769959178254", "Backend"), "other")`
    """

    value: Final[object]
    meaning: Final[str]

    def __init__(self, value: Member, meaning: str) -> None:
        super().__init__()
        self.value = value
        self.meaning = meaning


class StringClause(DataType[str, str, NotOnThisType, int, str, NotOnThisType]):
    """The clause `String`, also with constraints when it is called."""

    def __call__(
        self,
        *,
        enum: tuple[str | Value[str], ...] | list[str] | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        format: str | None = None,
    ) -> StringClause:
        return StringClause(**written(locals()))


class IntClause(DataType[int, int, int, NotOnThisType, NotOnThisType, NotOnThisType]):
    """The clause `Int`, also with constraints when it is called."""

    def __call__(
        self,
        *,
        enum: tuple[int | Value[int], ...] | list[int] | None = None,
        minimum: int | None = None,
        maximum: int | None = None,
        exclusive_minimum: int | None = None,
        exclusive_maximum: int | None = None,
        multiple_of: int | None = None,
    ) -> IntClause:
        return IntClause(**written(locals()))


class FloatClause(DataType[float, NotOnThisType, float, NotOnThisType, NotOnThisType, NotOnThisType]):
    """The clause `Float`, also with constraints when it is called."""

    def __call__(
        self,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        exclusive_minimum: float | None = None,
        exclusive_maximum: float | None = None,
        multiple_of: float | None = None,
    ) -> FloatClause:
        return FloatClause(**written(locals()))


class ScalarClause(DataType[Held, NotOnThisType, Bound, NotOnThisType, NotOnThisType, NotOnThisType]):
    """A primitive with a form of its own: `Boolean`, `DateTime`."""

    kind: Final[ScalarKind]

    def __init__(self, kind: ScalarKind, **constraints: object) -> None:
        super().__init__(**constraints)
        self.kind = kind

    def __call__(self) -> Self:
        return self


class OrderedClause(ScalarClause[Held, Held]):
    """A primitive whose values have an order: `Date`, `Decimal`; its bounds are such values."""

    def __call__(
        self,
        *,
        minimum: Held | None = None,
        maximum: Held | None = None,
        exclusive_minimum: Held | None = None,
        exclusive_maximum: Held | None = None,
    ) -> Self:
        return type(self)(self.kind, **written(locals()))


class SteppedClause(OrderedClause[Held]):
    """A primitive whose values may be multiples of one: `Duration`, `Decimal`."""

    def __call__(
        self,
        *,
        minimum: Held | None = None,
        maximum: Held | None = None,
        exclusive_minimum: Held | None = None,
        exclusive_maximum: Held | None = None,
        multiple_of: Held | None = None,
    ) -> Self:
        return type(self)(self.kind, **written(locals()))


String: Final = StringClause()
"""Unicode text; lengths count characters.

Example: `d.String(pattern="^[a-z]+$", max_length=20)`
"""
Int: Final = IntClause()
"""A whole number of any size; `5.0` is one, `true` and `"5"` are not.

Example: `d.Int(minimum=1, maximum=500)`
"""
Float: Final = FloatClause()
"""A finite number; an integer stays an integer.

Example: `d.Float(minimum=0, exclusive_maximum=1)`
"""
Boolean: Final = ScalarClause[bool, NotOnThisType]("boolean")
"""True or false.

Example: `d.Attribute("hard", d.Boolean, "At once.", default=False)`
"""
Bytes: Final = ScalarClause[bytes, NotOnThisType]("bytes")
"""Bytes; padded base64 in JSON.

Example: `d.Attribute("photo", d.Bytes, "A picture.")`
"""
Date: Final = OrderedClause[dt.date]("date")
"""A day of the calendar; `2026-01-31` in JSON.

Example: `d.Attribute("day", d.Date, "Day to read.")`
"""
DateTime: Final = OrderedClause[dt.datetime]("datetime")
"""An instant with its offset; `2026-01-31T12:00:00Z` in JSON (RFC 3339).

Example: `d.Attribute("since", d.DateTime, "First instant.")`
"""
Duration: Final = SteppedClause[dt.timedelta]("duration")
"""A span of days and smaller units; `P1DT2H` in JSON (ISO 8601).

Example: `d.Attribute("step", d.Duration, "Time between two readings.")`
"""
Uuid: Final = ScalarClause[UUID, NotOnThisType]("uuid")
"""A UUID; 8-4-4-4-12 hexadecimal digits in JSON.

Example: `d.Attribute("id", d.Uuid, "Identifier.")`
"""
Url: Final = ScalarClause[str, NotOnThisType]("url")
"""An absolute URI, kept as it was written.

Example: `d.Attribute("manual", d.Url, "Where the manual is.")`
"""
Decimal: Final = SteppedClause[PythonDecimal]("decimal")
"""An exact number; a string of digits in JSON, `"1.50"`.

Example: `d.Attribute("price", d.Decimal, "Price in euros.")`
"""
Any: Final = ScalarClause[Anything, NotOnThisType]("any")
"""Any JSON value.

Example: `d.Attribute("extra", d.Any, "Whatever the planner wants to keep.")`
"""
