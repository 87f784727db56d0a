"""Numbers that keep what came: an integer stays one, however many digits it has.

JSON has one kind of number, Python has two. What is written in digits alone becomes an int; a fraction or an
exponent makes a float, as in `json`. pydantic-core decides; Python runs only for steps and for bounds beyond
2^53, from where on not every integer is a float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any, Final

from pydantic_core import ErrorDetails, PydanticKnownError
from pydantic_core import core_schema as cs

AnySchema = Any
"""A core schema under rewriting, a dict; pydantic's own type is a union of some fifty TypedDicts."""

NUMBER: Final = "<number>"
INTEGER: Final = "<integer>"
"""End the location of an error that a number has as a float, and as an integer."""
AS_FLOAT: Final = "toolgen_as_float"
"""Key of the metadata of a number under which the float of pydantic stands that it was made of."""

_EXACT_FLOATS: Final = 2**53
_Known = Any
"""Name of an error of pydantic-core; its type is a Literal of all of them."""
_BOUNDS: Final[dict[str, tuple[Callable[[Any, Any], bool], Callable[[Any], int], _Known]]] = {
    "ge": (ge, math.ceil, "greater_than_equal"),
    "gt": (gt, math.floor, "greater_than"),
    "le": (le, math.floor, "less_than_equal"),
    "lt": (lt, math.ceil, "less_than"),
}
"""By keyword: the comparison, the integer that bounds the same integers, and the error."""
_OF_INTEGERS: Final = frozenset(("int_type", *(error for _, _, error in _BOUNDS.values())))


def number(node: AnySchema) -> AnySchema:
    """Return the exact form of a float: finite, never a boolean, and an int where an integer came."""
    written: AnySchema = {**node, "strict": True, "allow_inf_nan": False}
    step = written.pop("multiple_of", None)
    checks = [] if step is None else [_multiple_of(step)]
    whole: dict[str, Any] = {}
    for keyword, (_, rounded, _) in _BOUNDS.items():
        if (bound := written.get(keyword)) is None:
            continue
        if abs(bound) < _EXACT_FLOATS:
            whole[keyword] = rounded(bound)
        else:
            del written[keyword]
            checks.append(_bounded(keyword, bound))
    # A float first: it is no more work than it was, and an integer is an exact match only further on.
    both = cs.union_schema([(written, NUMBER), (cs.int_schema(strict=True, **whole), INTEGER)])
    schema: AnySchema = both
    for check in checks:
        schema = cs.no_info_after_validator_function(check, schema)
    own = {"serialization": written.pop("serialization")} if "serialization" in written else {}
    return {**schema, **own, "metadata": {AS_FLOAT: node}}


def floats_first(choices: Sequence[AnySchema]) -> list[AnySchema]:
    """Return the choices of a union in an order in which `5.0` is a float where it may be one."""
    return sorted(choices, key=lambda choice: choice["type"] != "float")


def one_error_each(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the errors; the two of a number, as a float and as an integer, become one without a label."""
    found: list[ErrorDetails] = []
    for error in errors:
        loc = error["loc"]
        is_second = loc[-1:] == (INTEGER,) and error["type"] in _OF_INTEGERS
        if is_second and found and found[-1]["loc"] == (*loc[:-1], NUMBER):
            first = found.pop()
            # An integer that is too long for a float says itself which bound it crosses.
            said = error if first["type"] == "finite_number" and "ctx" in error else first
            found.append({**said, "loc": loc[:-1]})
        else:
            found.append(error)
    return found


def _multiple_of(step: int | float) -> Callable[[int | float], int | float]:
    divisor = _decimal(step)

    def check(value: int | float) -> int | float:
        # pydantic compares float quotients with a tolerance; a decimal literal is a multiple or is not.
        if _decimal(value) % divisor:
            raise PydanticKnownError("multiple_of", {"multiple_of": step})
        return value

    return check


def _bounded(keyword: str, bound: int | float) -> Callable[[int | float], int | float]:
    fits, _, error = _BOUNDS[keyword]

    def check(value: int | float) -> int | float:
        if not fits(value, bound):
            raise PydanticKnownError(error, {keyword: bound})
        return value

    return check


def _decimal(value: int | float) -> Fraction:
    """Return the number that its digits say: 0.3 is three times 0.1."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
