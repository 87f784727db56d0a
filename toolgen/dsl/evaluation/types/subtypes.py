"""Whether the constraints of one type allow a value that those of another do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from toolgen.shapes.constraints import FLAGS, LIMITS, constraints_in, exact_number
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


def is_subtype(source: DataType, target: DataType) -> bool:
    """Return whether every value of the source type is a value of the target type.

    A pattern or a format is within itself alone. Objects and unions are not entered: their fields
    are compared one by one.
    """
    match source, target:
        case NullableType(), _:
            return is_subtype(source.inner, target)
        case _, NullableType():
            return is_subtype(source, target.inner)
        case EnumType(), StringType() | NumberType():
            validator = Validator(target, {})
            return not any(validator.issues(value) for value in source.values)
        case ScalarType(), StringType():
            return target == StringType()
        case ScalarType(), ScalarType():
            return _within_limits(source, target)
        case StringType(), StringType():
            forms = (target.pattern, target.format)
            return _within_limits(source, target) and forms in ((None, None), (source.pattern, source.format))
        case NumberType(), NumberType():
            return _within_limits(source, target)
        case ArrayType(), ArrayType():
            return _within_limits(source, target) and is_subtype(source.items, target.items)
        case MapType(), MapType():
            parts = (source.keys, target.keys), (source.values, target.values)
            return _within_limits(source, target) and all(is_subtype(*part) for part in parts)
        case _:
            return True


def _within_limits(source: DataType, target: DataType) -> bool:
    """Return whether every value within the limits of the source is within those of the target."""
    if any(not getattr(source, row.name) for row, _ in constraints_in(target, FLAGS)):
        return False
    for row, _ in constraints_in(target, LIMITS):
        if row.side is None:
            continue
        inner, outer = _outermost(source, row.side), _outermost(target, row.side)
        if inner is None or outer is None or (inner < outer if row.side == "low" else inner > outer):
            return False
    return all(
        _step(source) % exact_number(step) == 0
        for row, step in constraints_in(target, LIMITS)
        if row.takes == "step"
    )


def _outermost(type_: DataType, side: str) -> tuple[Any, bool] | None:
    """Return the tighter limit on a side; None where there is none.

    With it a flag that orders limits of one value: an exclusive one comes later on the low side, earlier on
    the high side.
    """
    whole = isinstance(type_, NumberType) and type_.integer
    limits = []
    for row, limit in constraints_in(type_, LIMITS):
        if row.side == side:
            exact = exact_number(limit) if isinstance(limit, int | float) else limit
            if whole and row.is_exclusive:
                limits.append((exact + (1 if side == "low" else -1), side == "high"))
            else:
                limits.append((exact, row.is_exclusive == (side == "low")))
    if side == "high":
        return min(limits, default=None)
    sizes = isinstance(type_, StringType | ArrayType | MapType)
    return max(limits, default=(0, False) if sizes else None)


def _step(type_: DataType) -> Fraction | float:
    """Return what every value is a multiple of; a number that is none where there is no such step."""
    step = next((step for row, step in constraints_in(type_, LIMITS) if row.takes == "step"), None)
    if step is None:
        return 1 if isinstance(type_, NumberType) and type_.integer else float("nan")
    return exact_number(step)
