"""Numbers that keep their type: an integer stays an integer, with any number of digits.

JSON has one kind of number, Python has two. As in `json`, a number that is written only with digits becomes
an int; a fraction or an exponent makes a float. pydantic-core decides; Python runs only for steps and for
bounds beyond 2^53, where not every integer is a float.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from pydantic_core import ErrorDetails, PydanticKnownError
from pydantic_core import core_schema as cs

from .constraints import Constraint, limits_of
from .values import plain

AnySchema: TypeAlias = Any
"""A core schema that is being rewritten, a dict; pydantic's own type is a union of some fifty TypedDicts."""

NUMBER: Final = "<number>"
INTEGER: Final = "<integer>"
"""Last steps in the locations of a number's two errors: as a float, and as an integer."""
MADE_OF: Final = "toolgen_made_of"
"""Metadata key of an exact schema for pydantic's original scalar schema."""

EXACT_FLOATS: Final = 2**53
"""Beyond this integer, not every integer is a float."""
_BOUNDS: Final = limits_of("number", "bound")
(_STEP,) = limits_of("number", "step")
_OF_INTEGERS: Final = frozenset(("int_type", *(bound.error for bound in _BOUNDS)))


def number(node: AnySchema) -> AnySchema:
    """Return the exact form of a float: finite, never a boolean, and an int for an integer."""
    written: AnySchema = {**node, "strict": True, "allow_inf_nan": False}
    # pydantic compares float quotients with a tolerance; the decimal literal is checked exactly.
    step = written.pop(_STEP.core, None)
    checks = [] if step is None else [limited(_STEP, step)]
    integer_limits: dict[str, Any] = {}
    for row in _BOUNDS:
        if (bound := written.get(row.core)) is None:
            continue
        if abs(bound) < EXACT_FLOATS:
            integer_limits[row.core] = row.integer_limit(bound)
        else:
            del written[row.core]
            checks.append(limited(row, bound))
    # The float is first: it takes no more work than before, and an integer is an exact match only for the
    # second.
    both = cs.union_schema([(written, NUMBER), (cs.int_schema(strict=True, **integer_limits), INTEGER)])
    schema: AnySchema = both
    for check in checks:
        schema = cs.no_info_after_validator_function(check, schema)
    own = {"serialization": written.pop("serialization")} if "serialization" in written else {}
    return {**schema, **own, "metadata": {MADE_OF: node}}


def floats_first(choices: Sequence[AnySchema]) -> list[AnySchema]:
    """Return the choices of a union in an order in which `5.0` becomes a float if the union has one."""
    return sorted(choices, key=lambda choice: choice["type"] != "float")


def one_error_each(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the errors, with the two errors of a number, as a float and as an integer, merged."""
    merged: list[ErrorDetails] = []
    for error in errors:
        loc = error["loc"]
        is_second = loc[-1:] == (INTEGER,) and error["type"] in _OF_INTEGERS
        if is_second and merged and merged[-1]["loc"] == (*loc[:-1], NUMBER):
            first = merged.pop()
            # The error of an integer that is too long for a float has the violated bound.
            clearest = error if first["type"] == "finite_number" and "ctx" in error else first
            merged.append({**clearest, "loc": loc[:-1]})
        else:
            merged.append(error)
    return merged


def limited(row: Constraint, limit: Any) -> Callable[[Any], Any]:
    """Return a validator for one limit, with pydantic's error."""
    error: Any = row.error  # pydantic's parameter is a Literal of all errors
    shown = plain(limit)

    def check(value: Any) -> Any:
        if not row.passes(value, limit):
            raise PydanticKnownError(error, {row.core: shown})
        return value

    return check
