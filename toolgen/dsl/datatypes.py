"""Types as words, and the primitives.

`DataType` is invariant in what it holds, so that one signature of `Attribute` lets a type checker
compare a default, an enum and each constraint with the type they are written for.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal as PythonDecimal
from typing import Any as Anything
from typing import Final, Generic, Self, TypeAlias, TypeVar, final
from uuid import UUID

from toolgen.contract.fields import ScalarKind

from .word import Word

Value = TypeVar("Value")
"""What a default or an example of the type is in Python."""
Choice = TypeVar("Choice")
"""What stands in `enum`."""
Bound = TypeVar("Bound")
"""What `minimum`, `maximum` and `multiple_of` are."""
Length = TypeVar("Length")
"""What `min_length` and `max_length` are."""
Text = TypeVar("Text")
"""What `pattern` and `format` are."""


@final
class NotOnThisType:
    """Stands where a type cannot hold a constraint; it has no values to pass."""


class DataType(Word, Generic[Value, Choice, Bound, Length, Text]):
    """A type of the language, and which constraints it can hold."""

    constraints: Final[dict[str, object]]
    """The constraints that were written, by keyword."""

    def __init__(self, **constraints: object) -> None:
        super().__init__()
        self.constraints = written(constraints)

    def _invariant(
        self, value: Value, choice: Choice, bound: Bound, length: Length, text: Text
    ) -> tuple[Value, Choice, Bound, Length, Text]:
        """Return what came in; it only pins the type variables."""
        return value, choice, bound, length, text


Holds: TypeAlias = DataType[Value, Anything, Anything, Anything, Anything]
"""A type by its Python value alone."""
Unconstrained: TypeAlias = DataType[Value, NotOnThisType, NotOnThisType, NotOnThisType, NotOnThisType]
"""A type that holds no constraints."""


def written(constraints: dict[str, object]) -> dict[str, object]:
    """Return the constraints that are not left out."""
    return {keyword: value for keyword, value in constraints.items() if value is not None}


class StringWord(DataType[str, str, NotOnThisType, int, str]):
    """Unicode text: `String`, `String(pattern="^[a-z]+$", max_length=20)`."""

    def __call__(
        self,
        *,
        enum: tuple[str, ...] | list[str] | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        format: str | None = None,
    ) -> StringWord:
        return StringWord(
            enum=enum, min_length=min_length, max_length=max_length, pattern=pattern, format=format
        )


class IntWord(DataType[int, int, int, NotOnThisType, NotOnThisType]):
    """A whole number without limits: `Int`, `Int(minimum=1, maximum=500)`."""

    def __call__(
        self,
        *,
        enum: tuple[int, ...] | list[int] | None = None,
        minimum: int | None = None,
        maximum: int | None = None,
        exclusive_minimum: int | None = None,
        exclusive_maximum: int | None = None,
        multiple_of: int | None = None,
    ) -> IntWord:
        return IntWord(
            enum=enum,
            minimum=minimum,
            maximum=maximum,
            exclusive_minimum=exclusive_minimum,
            exclusive_maximum=exclusive_maximum,
            multiple_of=multiple_of,
        )


class FloatWord(DataType[float, NotOnThisType, float, NotOnThisType, NotOnThisType]):
    """A finite number: `Float`, `Float(minimum=0, exclusive_maximum=1)`."""

    def __call__(
        self,
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        exclusive_minimum: float | None = None,
        exclusive_maximum: float | None = None,
        multiple_of: float | None = None,
    ) -> FloatWord:
        return FloatWord(
            minimum=minimum,
            maximum=maximum,
            exclusive_minimum=exclusive_minimum,
            exclusive_maximum=exclusive_maximum,
            multiple_of=multiple_of,
        )


class ScalarWord(Unconstrained[Value]):
    """A primitive that takes no constraints: `Boolean`, `DateTime`."""

    kind: Final[ScalarKind]

    def __init__(self, kind: ScalarKind) -> None:
        super().__init__()
        self.kind = kind

    def __call__(self) -> Self:
        return self


String: Final = StringWord()
Int: Final = IntWord()
Float: Final = FloatWord()
Boolean: Final = ScalarWord[bool]("boolean")
Bytes: Final = ScalarWord[bytes]("bytes")
Date: Final = ScalarWord[dt.date]("date")
DateTime: Final = ScalarWord[dt.datetime]("datetime")
Duration: Final = ScalarWord[dt.timedelta]("duration")
Uuid: Final = ScalarWord[UUID]("uuid")
Url: Final = ScalarWord[str]("url")
Decimal: Final = ScalarWord[PythonDecimal]("decimal")
Any: Final = ScalarWord[Anything]("any")
