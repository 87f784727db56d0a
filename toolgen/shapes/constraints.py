"""The table of constraints: one row for each keyword of a type. Other lists of constraints derive from it.

If a constraint becomes several keywords of JSON Schema, it has a row for each: `min_length` is `minLength`
for a string, `minItems` for an array and `minProperties` for a map.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cache
from operator import ge, gt, le, lt
from typing import Any, Final, Literal, TypeAlias

from toolgen.contract.record import frozen_record

from .fields import ArrayType, DataType, MapType, NumberType, ScalarKind, ScalarType, StringType

IssueCode = Literal[
    "missing_field",
    "unknown_field",
    "invalid_type",
    "invalid_enum_value",
    "invalid_format",
    "invalid_pattern",
    "invalid_range",
    "invalid_length",
    "invalid_value",
    "invalid_json",
]
"""Code of an issue."""
Holder: TypeAlias = Literal["string", "integer", "number", "array", "map"] | ScalarKind
"""A kind of type that can have constraints."""
Takes = Literal["choice", "bound", "step", "length", "flag", "text"]
"""Kind of a limit: values, a bound of the value, a step, a bound of the size, a flag, a text."""


@frozen_record(eq=False)
class Constraint:
    """One row of the table."""

    name: str
    """The keyword of the design language, and the attribute of the field tree."""
    keyword: str
    """The keyword of JSON Schema."""
    holders: tuple[Holder, ...]
    takes: Takes
    code: IssueCode
    core: str = ""
    """The keyword of pydantic's core schemas and of its `Field`; empty if it has none."""
    error: str = ""
    """Error type of pydantic; empty if pydantic has none."""
    message: str = ""
    """Requirement on a value; braces mark the place of the limit."""
    side: Literal["low", "high"] | None = None
    """Whether the limit is the smallest or the largest accepted value."""
    compare: Callable[[Any, Any], bool] | None = None
    """Returns whether a value, or a size, is within a limit; None if the constraint is not a limit."""

    @property
    def is_annotation(self) -> bool:
        """Whether the keyword is toolgen's own, which validators of JSON Schema ignore."""
        return self.keyword.startswith("x-")

    @property
    def is_exclusive(self) -> bool:
        """Whether the limit itself is rejected."""
        return self.compare in (gt, lt)

    def passes(self, value: object, limit: object) -> bool:
        """Return whether a value, or a size, is within a limit."""
        return self.compare is None or self.compare(value, limit)

    def message_of(self, limit: object) -> str:
        """Return the requirement on a value, with its limit; a size of one is in the singular."""
        message = self.message.format(limit)
        if limit != 1 or self.takes != "length":
            return message
        return f"{message[:-3]}y" if message.endswith("ies") else message.removesuffix("s")

    def integer_limit(self, limit: int | float) -> int:
        """Return the integer limit that accepts the same integers."""
        return math.ceil(limit) if self.compare in (ge, lt) else math.floor(limit)

    def tighter(self, limit: Any, other: Any) -> object:
        """Return the stricter of two limits."""
        return max(limit, other) if self.side == "low" else min(limit, other)


def exact_number(value: int | float | Decimal | dt.timedelta) -> Fraction:
    """Return the exact number of the written digits, so that 0.3 is three times 0.1.

    For a duration, return its microseconds.
    """
    if isinstance(value, dt.timedelta):
        return Fraction(value // dt.timedelta(microseconds=1))
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _is_multiple(value: Any, step: Any) -> bool:
    if isinstance(value, Decimal):  # reducing a fraction with many digits is slow
        return _EXACT.remainder(value, Decimal(str(step))) == 0
    return exact_number(value) % exact_number(step) == 0


_EXACT: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Decimal context in which a remainder loses no digit."""


_NUMBERS: Final[tuple[Holder, ...]] = ("integer", "number")
_DATES: Final[tuple[Holder, ...]] = ("date", "datetime")
_AMOUNTS: Final[tuple[Holder, ...]] = ("duration", "decimal")
"""Kinds that are strings in JSON, as dates are, without bounds in JSON Schema.

Their keywords are annotations that codecs check.
"""
_ANNOTATIONS: Final = ("x-minimum", "x-maximum", "x-exclusiveMinimum", "x-exclusiveMaximum")


def _bounds(
    holders: tuple[Holder, ...], keywords: Sequence[str], messages: Sequence[str] = ()
) -> Iterator[Constraint]:
    """Yield the rows for limits of a value, with these JSON Schema keywords, in the order of `_BOUNDS`.

    `messages` replace the messages of `_BOUNDS`.
    """
    for place, (keyword, bound) in enumerate(zip(keywords, _BOUNDS, strict=True)):
        name, core, error, message, side, compare = bound
        message = messages[place] if messages else message
        yield Constraint(
            name=name,
            keyword=keyword,
            holders=holders,
            takes="bound",
            code="invalid_range",
            core=core,
            error=error,
            message=message,
            side=side,
            compare=compare,
        )


def _lengths(
    holder: Holder,
    least: str,
    most: str,
    unit: str,
    *,
    errors: tuple[str, str] = ("too_short", "too_long"),
) -> tuple[Constraint, Constraint]:
    """Return the rows for limits of a size, with these JSON Schema keywords; sizes are counted in `unit`."""
    low = Constraint(
        name="min_length",
        keyword=least,
        holders=(holder,),
        takes="length",
        code="invalid_length",
        core="min_length",
        error=errors[0],
        message=f"must have at least {{}} {unit}",
        side="low",
        compare=ge,
    )
    high = replace(
        low,
        name="max_length",
        keyword=most,
        core="max_length",
        error=errors[1],
        message=f"must have at most {{}} {unit}",
        side="high",
        compare=le,
    )
    return low, high


_Bound: TypeAlias = tuple[str, str, str, str, Literal["low", "high"], Callable[[Any, Any], bool]]
_BOUNDS: Final[tuple[_Bound, ...]] = (
    ("minimum", "ge", "greater_than_equal", "must be at least {}", "low", ge),
    ("maximum", "le", "less_than_equal", "must be at most {}", "high", le),
    ("exclusive_minimum", "gt", "greater_than", "must be above {}", "low", gt),
    ("exclusive_maximum", "lt", "less_than", "must be below {}", "high", lt),
)
"""Name, `core`, `error`, message, side and comparison of each limit of a value."""

CONSTRAINTS: Final = (
    Constraint(
        name="enum",
        keyword="enum",
        holders=("string", "integer"),
        takes="choice",
        code="invalid_enum_value",
    ),
    *_bounds(_NUMBERS, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
    Constraint(
        name="multiple_of",
        keyword="multipleOf",
        holders=_NUMBERS,
        takes="step",
        code="invalid_range",
        core="multiple_of",
        error="multiple_of",
        message="must be a multiple of {}",
        compare=_is_multiple,
    ),
    *_bounds(
        _DATES,
        _ANNOTATIONS,
        ("must not be before {}", "must not be after {}", "must be after {}", "must be before {}"),
    ),
    *_bounds(_AMOUNTS, _ANNOTATIONS),
    Constraint(
        name="multiple_of",
        keyword="x-multipleOf",
        holders=("duration", "decimal"),
        takes="step",
        code="invalid_range",
        core="multiple_of",
        error="multiple_of",
        message="must be a multiple of {}",
        compare=_is_multiple,
    ),
    *_lengths(
        "string", "minLength", "maxLength", "characters", errors=("string_too_short", "string_too_long")
    ),
    *_lengths("array", "minItems", "maxItems", "items"),
    Constraint(
        name="unique_items",
        keyword="uniqueItems",
        holders=("array",),
        takes="flag",
        code="invalid_value",
        error="unique_items",
        message="must not contain the same item twice",
    ),
    *_lengths("map", "minProperties", "maxProperties", "properties"),
    Constraint(
        name="pattern",
        keyword="pattern",
        holders=("string",),
        takes="text",
        code="invalid_pattern",
        message="must match {}",
    ),
    Constraint(
        name="format",
        keyword="format",
        holders=("string",),
        takes="text",
        code="invalid_format",
        message="must be written as {}",
    ),
)
"""All rows, in their order in classes, schemas and messages."""

LIMITS: Final = tuple(row for row in CONSTRAINTS if row.compare is not None)
"""The constraints that compare a value, or its size, with a limit."""


FLAGS: Final = tuple(row for row in CONSTRAINTS if row.takes == "flag")
"""The constraints without a value, which a type either has or does not have."""


OF_BYTES: Final = _lengths(
    "bytes", "x-minLength", "x-maxLength", "bytes", errors=("bytes_too_short", "bytes_too_long")
)
"""The limits of bytes.

Only types written in Python can have them; the design language has no clause for them.
"""


def held_by(holder: Holder) -> tuple[Constraint, ...]:
    """Return the constraints of a kind of type."""
    return tuple(row for row in CONSTRAINTS if holder in row.holders)


@cache
def limits_of(holder: Holder, takes: Takes | None = None) -> tuple[Constraint, ...]:
    """Return the constraints of a kind of type that are limits; with `takes`, only limits of this kind."""
    return tuple(row for row in LIMITS if holder in row.holders and takes in (None, row.takes))


def lengths_of(holder: Holder) -> tuple[str, str]:
    """Return the JSON Schema keywords for the smallest and the largest size of a kind of type."""
    low, high = limits_of(holder, "length")
    return low.keyword, high.keyword


def holder_of(type_: DataType) -> Holder | None:
    """Return the kind of a type; None if the type has no constraints of its own."""
    match type_:
        case StringType():
            return "string"
        case NumberType():
            return "integer" if type_.integer else "number"
        case ArrayType():
            return "array"
        case MapType():
            return "map"
        case ScalarType():
            return type_.kind
        case _:
            return None


def constraints_in(
    type_: DataType, rows: tuple[Constraint, ...] = CONSTRAINTS
) -> Iterator[tuple[Constraint, Any]]:
    """Yield the constraints that a type has, each with its value."""
    for row in _rows_of(holder_of(type_), rows):
        value = getattr(type_, row.name, None)
        if value is not None and value is not False:
            yield row, value


@cache
def _rows_of(holder: Holder | None, rows: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    return tuple(row for row in rows if holder in row.holders)


def core_keywords(type_: DataType) -> dict[str, Any]:
    """Return the limits of a type by pydantic's keywords."""
    return {row.core: value for row, value in constraints_in(type_, LIMITS) if row.core}


def sentence_of(limits: Iterable[tuple[Constraint, object]]) -> str:
    """Return the limits that no keyword of JSON Schema expresses, as a sentence; empty without any."""
    texts = [row.message_of(value) for row, value in limits if row.is_annotation]
    return joined(texts) if texts else ""


def joined(texts: Sequence[str]) -> str:
    """Return the messages of some limits as one sentence."""
    shared = next((start for start in _STARTS if all(text.startswith(start) for text in texts)), "")
    first, *others = texts
    rest = (text.removeprefix(shared) for text in others)
    return f"{first[0].upper()}{' and '.join((first[1:], *rest))}."


_STARTS: Final = ("must be ", "must have ")
"""Beginnings of the messages of limits. Messages with the same beginning share it in a sentence."""


def with_sentence(text: str, sentence: str) -> str:
    """Return a description, followed by the sentence of its limits."""
    if not text or not sentence:
        return text or sentence
    return f"{text}{'' if text[-1] in '.!?…' else '.'} {sentence}"
