"""Whether the constraints of one type allow a value that those of another do not."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from toolgen.shapes.constraints import LIMITS, Constraint, exact_number, given
from toolgen.shapes.design.validator import Validator
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    MapType,
    NullableType,
    NumberType,
    ScalarType,
    StringType,
)


def is_within(source: DataType, target: DataType) -> bool:
    """Return whether the target takes every value of the source, both of kinds that go together.

    A pattern or a format is within itself alone. Objects and unions are not entered: their fields
    are compared one by one.
    """
    match source, target:
        case NullableType(), _:
            return is_within(source.inner, target)
        case _, NullableType():
            return is_within(source, target.inner)
        case EnumType(), StringType() | NumberType():
            validator = Validator(target, {})
            return not any(validator.issues(value) for value in source.values)
        case ScalarType(), StringType():
            return target == StringType()
        case StringType(), StringType():
            forms = (target.pattern, target.format)
            return _within_limits(source, target) and forms in ((None, None), (source.pattern, source.format))
        case NumberType(), NumberType():
            return _within_limits(source, target)
        case ArrayType(), ArrayType():
            return _within_limits(source, target) and is_within(source.items, target.items)
        case MapType(), MapType():
            parts = (source.keys, target.keys), (source.values, target.values)
            return _within_limits(source, target) and all(is_within(*part) for part in parts)
        case _:
            return True


def _within_limits(source: DataType, target: DataType) -> bool:
    """Return whether what the limits of the source let pass, those of the target let pass too."""
    if not _lowest(source) >= _lowest(target) or not _highest(source) <= _highest(target):
        return False
    return all(
        isinstance(source, NumberType) and _step(source) % exact_number(step) == 0
        for row, step in given(target, LIMITS)
        if row.takes == "step"
    )


def _lowest(type_: DataType) -> tuple[Any, bool]:
    """Return the lower limit and whether it is itself left out; of two, the one that says more."""
    whole = isinstance(type_, NumberType) and type_.integer
    limits = [
        (limit + 1, False) if whole and row.is_exclusive else (limit, row.is_exclusive)
        for row, limit in _sides(type_, "low")
    ]
    return max(limits, default=(float("-inf") if isinstance(type_, NumberType) else 0, False))


def _highest(type_: DataType) -> tuple[Any, bool]:
    """Return the upper limit and whether it is itself in; of two, the one that says more."""
    whole = isinstance(type_, NumberType) and type_.integer
    limits = [
        (limit - 1, True) if whole and row.is_exclusive else (limit, not row.is_exclusive)
        for row, limit in _sides(type_, "high")
    ]
    return min(limits, default=(float("inf"), True))


def _sides(type_: DataType, side: str) -> Iterator[tuple[Constraint, Fraction]]:
    return ((row, exact_number(limit)) for row, limit in given(type_, LIMITS) if row.side == side)


def _step(type_: NumberType) -> Fraction | float:
    """Return what every value is a multiple of; a number that is none where there is no such step."""
    step = next((step for row, step in given(type_, LIMITS) if row.takes == "step"), None)
    if step is None:
        return 1 if type_.integer else float("nan")
    return exact_number(step)
