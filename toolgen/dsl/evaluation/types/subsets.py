"""Whether the constraints of one type allow a value that those of another do not."""

from __future__ import annotations

from fractions import Fraction

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
            return _lengths(source, target) and forms in ((None, None), (source.pattern, source.format))
        case NumberType(), NumberType():
            return _number(source, target)
        case ArrayType(), ArrayType():
            return _lengths(source, target) and is_within(source.items, target.items)
        case MapType(), MapType():
            parts = (source.keys, target.keys), (source.values, target.values)
            return _lengths(source, target) and all(is_within(*part) for part in parts)
        case _:
            return True


def _lengths(source: StringType | ArrayType | MapType, target: StringType | ArrayType | MapType) -> bool:
    if (source.min_length or 0) < (target.min_length or 0):
        return False
    return target.max_length is None or (
        source.max_length is not None and source.max_length <= target.max_length
    )


def _number(source: NumberType, target: NumberType) -> bool:
    if not _lowest(source) >= _lowest(target) or not _highest(source) <= _highest(target):
        return False
    if target.multiple_of is None:
        return True
    step = source.multiple_of or (1 if source.integer else None)
    return step is not None and _exact(step) % _exact(target.multiple_of) == 0


def _lowest(type_: NumberType) -> tuple[Fraction | float, bool]:
    """Return the lower bound and whether it is itself left out; of two, the one that says more."""
    bounds = [(_exact(type_.minimum), False)] if type_.minimum is not None else []
    if type_.exclusive_minimum is not None:
        bound = _exact(type_.exclusive_minimum)
        bounds.append((bound + 1, False) if type_.integer else (bound, True))
    return max(bounds, default=(float("-inf"), False))


def _highest(type_: NumberType) -> tuple[Fraction | float, bool]:
    """Return the upper bound and whether it is itself in; of two, the one that says more."""
    bounds = [(_exact(type_.maximum), True)] if type_.maximum is not None else []
    if type_.exclusive_maximum is not None:
        bound = _exact(type_.exclusive_maximum)
        bounds.append((bound - 1, True) if type_.integer else (bound, False))
    return min(bounds, default=(float("inf"), True))


def _exact(number: float) -> Fraction:
    """Return the number that its digits say: 0.3 is three times 0.1."""
    return Fraction(repr(number))
