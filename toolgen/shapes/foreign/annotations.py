"""Limits of dates, durations and decimals in schemas written by toolgen, read from its annotations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Final, get_args

from ..constraints import LIMITS, constraints_in
from ..fields import DataType, ScalarKind, ScalarType
from ..tree.schema import limits_sentence, type_schema
from ..tree.validator import Validator

_ROWS: Final = tuple(row for row in LIMITS if row.is_annotation)
_WORDS: Final = frozenset(row.keyword for row in _ROWS)
_KINDS: Final[tuple[ScalarKind, ...]] = tuple(
    kind for kind in get_args(ScalarKind) if any(kind in row.holders for row in _ROWS)
)


def is_annotated(schema: Mapping[str, object]) -> bool:
    """Return whether a schema has a limit of toolgen's own."""
    return not _WORDS.isdisjoint(schema)


def annotated_type(schema: Mapping[str, Any]) -> ScalarType | None:
    """Return the type for the format and annotations of a string schema; None if they define none.

    The bounds of the limits leave at least one value.
    """
    kind = _kind_of(schema)
    if kind is None:
        return None
    unlimited = Validator(ScalarType(kind=kind), {})
    limits: dict[str, Any] = {}
    rows = {row.keyword: row for row in _ROWS if kind in row.holders}
    for keyword in dict.fromkeys(row.keyword for row in _ROWS if row.keyword in schema):
        row, value = rows.get(keyword), schema[keyword]
        if row is None or unlimited.issues(value):
            return None
        limits[row.name] = unlimited.parse(value)
        if row.takes == "step" and limits[row.name] <= type(limits[row.name])():
            return None
    type_ = ScalarType(kind=kind, **limits)
    return type_ if limits and _leaves_a_value(type_) else None


def is_written_by_toolgen(schema: Mapping[str, object]) -> bool:
    """Return whether a schema has annotations, and its description ends with their sentence.

    toolgen writes both consistently; in other schemas a keyword of the same name can mean anything.
    """
    type_ = annotated_type(schema) if is_annotated(schema) else None
    description = schema.get("description")
    return type_ is not None and isinstance(description, str) and description.endswith(limits_sentence(type_))


def without_limits(description: str, type_: DataType) -> str:
    """Return the author's description of a value, without the sentence of its limits."""
    return description.removesuffix(limits_sentence(type_)).rstrip()


def _kind_of(schema: Mapping[str, object]) -> ScalarKind | None:
    for kind in _KINDS:
        if _form(type_schema(ScalarType(kind=kind), {})) == _form(schema):
            return kind
    return None


def _form(schema: Mapping[str, object]) -> dict[str, object]:
    return {word: schema[word] for word in ("format", "pattern") if word in schema}


def _leaves_a_value(type_: ScalarType) -> bool:
    limits = tuple(constraints_in(type_, LIMITS))
    lows, highs = ([each for each in limits if each[0].side == side] for side in ("low", "high"))
    pairs = product(lows, highs)
    return all(low.passes(most, least) and high.passes(least, most) for (low, least), (high, most) in pairs)
