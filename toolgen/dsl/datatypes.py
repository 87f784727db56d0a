"""Types as clauses, and the primitives.

`DataType` is invariant in its type variables, so that with one signature of `Attribute`, a type checker can
compare a default, an enum and each constraint with the type they belong to.
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
"""Python type of a default or an example."""
Choice = TypeVar("Choice")
"""Type of the values of `enum`."""
Bound = TypeVar("Bound")
"""Type of `minimum`, `maximum` and `multiple_of`."""
Length = TypeVar("Length")
"""Type of `min_length` and `max_length`."""
Text = TypeVar("Text")
"""Type of `pattern` and `format`."""
Flag = TypeVar("Flag")
"""Type of `unique_items`."""


_NAMES: Final = frozenset(row.name for row in CONSTRAINTS)


@final
class NotOnThisType:
    """Type of a constraint that a type cannot have; it has no values to pass."""


class DataType(Clause, Generic[Held, Choice, Bound, Length, Text, Flag]):
    """A type of the language, and the constraints that it can have."""

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
"""A type identified only by its Python value."""
Unconstrained: TypeAlias = DataType[
    Held, NotOnThisType, NotOnThisType, NotOnThisType, NotOnThisType, NotOnThisType
]
"""A type without constraints."""


def written(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the constraints among the arguments of a call, such as its `locals()`; omit absent ones."""
    return {name: value for name, value in arguments.items() if value is not None and name in _NAMES}


Member = TypeVar("Member", covariant=True)


class Value(Clause, Generic[Member]):
    """Value of an enumeration with its meaning.

    In Python and JSON, only the value is used. The schema is a `oneOf` with the meaning as `title`, and the
    docstring of the `Literal` lists the meanings. If a provider does not support `oneOf`, the meanings are in
    the description. A model that sends another value reads them too: must be one of "6809637769959178254"
    (Backend), "other".

    Args:
        value: A string or an integer.
        meaning: Short explanation for models and people.

    Example: `d.Enum("Tag", "Tag of an article.", d.Value("6809637769959178254", "Backend"), "other")`
    """

    value: Final[object]
    meaning: Final[str]

    def __init__(self, value: Member, meaning: str) -> None:
        super().__init__()
        self.value = value
        self.meaning = meaning


class StringClause(DataType[str, str, NotOnThisType, int, str, NotOnThisType]):
    """The clause `String`; calling it adds constraints."""

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
    """The clause `Int`; calling it adds constraints."""

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
    """The clause `Float`; calling it adds constraints."""

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
    """A primitive with its own lexical form: `Boolean`, `DateTime`."""

    kind: Final[ScalarKind]

    def __init__(self, kind: ScalarKind, **constraints: object) -> None:
        super().__init__(**constraints)
        self.kind = kind

    def __call__(self) -> Self:
        return self


class OrderedClause(ScalarClause[Held, Held]):
    """A primitive whose values are ordered: `Date`, `Decimal`; its bounds are such values."""

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
    """A primitive whose values can be limited to multiples of a value: `Duration`, `Decimal`."""

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
"""Unicode text.

In Python a `str`.

Example: `d.String(pattern="^[a-z]+$", max_length=20)`
"""
Int: Final = IntClause()
"""Integer of any size.

In Python an `int`. In JSON, `5` and `5.0` are valid; `true` and `"5"` are not.

Example: `d.Int(minimum=1, maximum=500)`
"""
Float: Final = FloatClause()
"""Finite number.

In Python a `float`, or an `int` if the JSON number has neither a fraction nor an exponent; it keeps all of
its digits. So write `float(value)` before you call a method that only `float` has. NaN, infinity and `true`
are invalid.

Example: `d.Float(minimum=0, exclusive_maximum=1)`
"""
Boolean: Final = ScalarClause[bool, NotOnThisType]("boolean")
"""True or false.

In Python a `bool`.

Example: `d.Attribute("hard", d.Boolean, "Whether to reset at once.", default=False)`
"""
Bytes: Final = ScalarClause[bytes, NotOnThisType]("bytes")
"""Binary data.

In Python `bytes`, in JSON a string of padded base64.

Example: `d.Attribute("photo", d.Bytes, "Photo of the device.")`
"""
Date: Final = OrderedClause[dt.date]("date")
"""Calendar day.

In Python a `datetime.date`, in JSON a string such as `"2026-01-31"`.

Example: `d.Attribute("day", d.Date, "Day to read.")`
"""
DateTime: Final = OrderedClause[dt.datetime]("datetime")
"""Instant with a time zone.

In Python an aware `datetime.datetime`, in JSON a string such as `"2026-01-31T12:00:00Z"` (RFC 3339).

Example: `d.Attribute("since", d.DateTime, "First instant.")`
"""
Duration: Final = SteppedClause[dt.timedelta]("duration")
"""Length of time in days or smaller units.

In Python a `datetime.timedelta`, in JSON a string such as `"P1DT2H"` (ISO 8601).

Example: `d.Attribute("step", d.Duration, "Time between two readings.")`
"""
Uuid: Final = ScalarClause[UUID, NotOnThisType]("uuid")
"""UUID.

In Python a `uuid.UUID`, in JSON a string of 8-4-4-4-12 hexadecimal digits.

Example: `d.Attribute("id", d.Uuid, "Identifier.")`
"""
Url: Final = ScalarClause[str, NotOnThisType]("url")
"""Absolute URI.

In Python a `str`, exactly as it was sent.

Example: `d.Attribute("manual", d.Url, "Where the manual is.")`
"""
Decimal: Final = SteppedClause[PythonDecimal]("decimal")
"""Exact decimal number.

In Python a `decimal.Decimal`, in JSON a string such as `"1.50"`.

Example: `d.Attribute("price", d.Decimal, "Price in euros.")`
"""
Any: Final = ScalarClause[Anything, NotOnThisType]("any")
"""Any JSON value.

In Python `toolgen.runtime.generated.AnyJson`.

Example: `d.Attribute("extra", d.Any, "Further data as JSON.")`
"""
