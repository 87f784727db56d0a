"""The types with constraints: strings, numbers, dates and similar types, and sizes of arrays and maps."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any as Anything
from typing import Final

from toolgen.contract.record import record
from toolgen.shapes.constraints import CONSTRAINTS, Holder, held_by, limits_of
from toolgen.shapes.fields import DataType, NumberType, ScalarKind, ScalarType, StringType
from toolgen.shapes.lexical import STRING_FORMATS
from toolgen.shapes.patterns import PatternError, to_rust
from toolgen.shapes.values import plain

from ...composites import ArrayOf, MapOf, Nullable
from ...datatypes import DataType as DataTypeClause
from ...datatypes import FloatClause, IntClause, ScalarClause, StringClause
from ...expr import codes
from ...expr.source import Source
from ..report import MOST_DIGITS, Report, source_text, suggestion
from .spelling import SCALARS, clause_text

_HOLDERS: Final[dict[type[object], Holder]] = {
    StringClause: "string",
    IntClause: "integer",
    FloatClause: "number",
    ArrayOf: "array",
    MapOf: "map",
}
_TAKES: Final = {row.name: row.takes for row in CONSTRAINTS}
_SIDES: Final = {row.name: row.side for row in CONSTRAINTS}
_FORMAT_WORDS: Final = {
    "date": "Date",
    "date-time": "DateTime",
    "datetime": "DateTime",
    "duration": "Duration",
    "uuid": "Uuid",
    "uri": "Url",
    "url": "Url",
    "byte": "Bytes",
    "base64": "Bytes",
    "binary": "Bytes",
    "decimal": "Decimal",
}


@record
class Subject:
    """The owner of a type, and the place of its diagnostics."""

    what: str
    source: Source
    report: Report


def constraints_of(
    clause: DataTypeClause[Anything, Anything, Anything, Anything, Anything, Anything] | str,
    outer: dict[str, object],
    subject: Subject,
) -> dict[str, Anything]:
    """Return the constraints of a type and its attribute that are well formed and apply to the type."""
    own = {} if isinstance(clause, str) else clause.constraints
    if not (own or outer):
        return {}
    allowed = _allowed(clause)
    written = {**own, **outer}
    good: dict[str, Anything] = {}
    for keyword, value in written.items():
        if keyword not in allowed:
            _mismatch(
                keyword, f"the type {clause_text(clause)}", _alternative(clause, keyword, allowed), subject
            )
        elif _TAKES[keyword] == "choice" or _well_formed(keyword, value, _holder(clause), subject):
            good[keyword] = value
    if "enum" in good and len(good) > 1:
        other = next(keyword for keyword in good if keyword != "enum")
        _mismatch(other, "an enum", f"remove {other}: the values already define everything", subject)
        good = {"enum": good["enum"]}
    return good


def string_type(constraints: dict[str, Anything], subject: Subject) -> DataType | None:
    """Return the type of a String; None if it was reported."""
    sound = _check_order("string", constraints, subject)
    if "format" in constraints and "pattern" in constraints:
        _mismatch("pattern", "a format", "remove one of them: a format already has a pattern", subject)
        return None
    if "format" in constraints:
        sound = _check_format(constraints["format"], subject) and sound
    if "pattern" in constraints:
        sound = _check_regex(constraints["pattern"], subject) and sound
    return StringType(**constraints) if sound else None


def number_type(constraints: dict[str, Anything], integer: bool, subject: Subject) -> DataType | None:
    """Return the type of an Int or a Float; None if it was reported."""
    sound = _check_order("integer" if integer else "number", constraints, subject)
    if integer and sound:
        sound = _check_integers(constraints, subject)
    return NumberType(integer=integer, **constraints) if sound else None


def scalar_type(kind: ScalarKind, constraints: dict[str, Anything], subject: Subject) -> DataType | None:
    """Return the type of a primitive with its own form; None if it was reported."""
    return ScalarType(kind=kind, **constraints) if _check_order(kind, constraints, subject) else None


def lengths(holder: Holder, constraints: dict[str, Anything], subject: Subject) -> bool:
    """Return whether the lengths of an array or a map allow at least one value."""
    return _check_order(holder, constraints, subject)


def as_kind(value: object, kind: type[str] | type[int]) -> str | None:
    """Return the value written as a string or as a whole number; None if it is neither."""
    if kind is str and type(value) in (int, float) and is_writable(value):
        return f'"{value}"'
    if kind is int and isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal():
        return source_text(value)[1:-1]
    return None


def short(wanted: str, value: object) -> str:
    """Return the expected value; for a number with too many digits, with their maximum number."""
    is_long = type(value) is int and not is_writable(value)
    return f"{wanted} of up to {MOST_DIGITS} digits" if is_long else wanted


def is_writable(value: object) -> bool:
    try:
        str(value).encode()
    except ValueError:  # half of a surrogate pair, or more digits than Python prints
        return False
    return True


def _well_formed(keyword: str, value: object, holder: Holder | None, subject: Subject) -> bool:
    wanted, accepts = _form(keyword, holder)
    if not accepts(value):
        meant = _python_value(value, holder)
        proposal = _written(meant) if accepts(meant) else None
        if proposal is None and holder not in _ORDERED and _TAKES[keyword] in ("length", "bound", "step"):
            proposal = as_kind(value, int)
        bad_value(keyword, value, short(wanted, value), subject, proposal)
        return False
    return True


def _python_value(value: object, holder: Holder | None) -> object:
    """Return a number or a text as the Python value of an ordered type; None if that is impossible."""
    try:
        match holder:
            case "decimal" if type(value) in (int, float, str):
                return Decimal(str(value))
            case "date" if isinstance(value, dt.datetime):
                return value.date()
            case "date" if isinstance(value, str):
                return dt.date.fromisoformat(value)
            case "datetime" if isinstance(value, dt.datetime):
                return value.replace(tzinfo=dt.UTC)
            case _:
                return None
    except (ValueError, ArithmeticError):
        return None


def _written(value: object) -> str:
    """Return a Python value of an ordered type as a design writes it, with its module."""
    return f'decimal.Decimal("{value}")' if isinstance(value, Decimal) else repr(value)


def _is_aware(value: object) -> bool:
    return isinstance(value, dt.datetime) and value.utcoffset() is not None


_ORDERED: Final[dict[Holder | None, tuple[str, Callable[[Anything], bool]]]] = {
    "date": ("a datetime.date", lambda value: type(value) is dt.date),
    "datetime": ("a datetime.datetime with a time zone", _is_aware),
    "duration": ("a datetime.timedelta", lambda value: isinstance(value, dt.timedelta)),
    "decimal": ("a finite decimal.Decimal", lambda value: isinstance(value, Decimal) and value.is_finite()),
}
"""Bounds of each primitive: a description and a check."""


def _form(keyword: str, holder: Holder | None) -> tuple[str, Callable[[Anything], bool]]:
    """Return the form of a constraint's value, as text and as a check."""

    def is_whole(value: Anything) -> bool:
        return type(value) is int and is_writable(value)

    def is_finite(value: Anything) -> bool:
        return is_whole(value) or (type(value) is float and math.isfinite(value))

    takes = _TAKES[keyword]
    if takes == "length":
        return "a whole number from 0", lambda value: is_whole(value) and value >= 0
    if takes == "flag":
        return "True or False", lambda value: type(value) is bool
    if takes == "text":
        return "a string", lambda value: isinstance(value, str) and is_writable(value)
    number = ("a whole number", is_whole) if holder == "integer" else ("a finite number", is_finite)
    wanted, accepts = _ORDERED.get(holder, number)
    if takes == "step":
        return f"{wanted} above 0", lambda value: accepts(value) and value > type(value)()
    return wanted, accepts


def bad_value(
    keyword: str, value: object, wanted: str, subject: Subject, proposal: str | None = None
) -> None:
    """Report a value that its constraint does not accept; `proposal` is the correction, if it is known."""
    if keyword == "enum" and isinstance(value, (str, int)):
        proposal = f"({source_text(value)},)"
    subject.report.add(
        codes.BAD_CONSTRAINT,
        subject.source,
        keyword=keyword,
        what=subject.what,
        value=source_text(value),
        wanted=wanted,
        hint=f"write {keyword}={proposal}" if proposal else f"write {wanted}, or remove {keyword}",
    )


def _mismatch(keyword: str, type_: str, hint: str, subject: Subject) -> None:
    subject.report.add(
        codes.CONSTRAINT_MISMATCH, subject.source, keyword=keyword, what=subject.what, type=type_, hint=hint
    )


def _allowed(clause: object) -> tuple[str, ...]:
    """Return the constraints that a type can have."""
    holder = _holder(clause)
    return () if holder is None else _names_of(holder)


def _holder(clause: object) -> Holder | None:
    """Return the kind of a type; None if the type has no constraints."""
    if isinstance(clause, ScalarClause):
        return clause.kind
    return next((_HOLDERS[kind] for kind in type(clause).__mro__ if kind in _HOLDERS), None)


@cache
def _names_of(holder: Holder) -> tuple[str, ...]:
    return tuple(row.name for row in held_by(holder))


def _alternative(clause: object, keyword: str, allowed: tuple[str, ...]) -> str:
    inner = (
        clause.inner
        if isinstance(clause, Nullable)
        else clause.items
        if isinstance(clause, ArrayOf)
        else None
    )
    if inner is not None and keyword in _allowed(inner):
        text = clause_text(inner)
        return f"write {clause_text(clause).replace(text, f'{text}({keyword}=…)', 1)}"
    if meant := next((name for name in allowed if _SIDES[name] and _SIDES[name] == _SIDES[keyword]), None):
        return f"write {meant}=…; {clause_text(clause)} takes {', '.join(allowed)}"
    if allowed:
        return f"remove it; {clause_text(clause)} takes {', '.join(allowed)}"
    takers = {holder for row in CONSTRAINTS if row.name == keyword for holder in row.holders}
    holders = [kind.__name__.removesuffix("Clause") for kind, holder in _HOLDERS.items() if holder in takers]
    holders += [name for kind, name in SCALARS.items() if kind in takers]
    return f"remove it; {keyword} belongs to {', '.join(holders[:-1])} and {holders[-1]}"


def _check_order(holder: Holder, constraints: dict[str, Anything], subject: Subject) -> bool:
    """Check that each upper limit of a type allows values above each lower limit."""
    if not constraints:
        return True
    limits = [row for row in limits_of(holder) if row.name in constraints]
    lows, highs = ([row for row in limits if row.side == side] for side in ("low", "high"))
    for low, high in product(lows, highs):
        least, most = constraints[low.name], constraints[high.name]
        if not (low.passes(most, least) and high.passes(least, most)):
            _empty_range(low.name, least, high.name, most, subject)
            return False
    return True


def _empty_range(low: str, least: object, high: str, most: object, subject: Subject, hint: str = "") -> None:
    subject.report.add(
        codes.EMPTY_RANGE,
        subject.source,
        what=subject.what,
        low=f"{low.replace('_', ' ')} {plain(least)}",
        high=f"{high.replace('_', ' ')} {plain(most)}",
        hint=hint or f"lower {low}, or raise {high}",
    )


def _check_integers(constraints: dict[str, Anything], subject: Subject) -> bool:
    """Check that a whole number exists between exclusive bounds, and a multiple between all bounds."""
    bounds = [row for row in limits_of("integer", "bound") if row.name in constraints]
    lows = [(constraints[row.name] + row.is_exclusive, row.name) for row in bounds if row.side == "low"]
    highs = [(constraints[row.name] - row.is_exclusive, row.name) for row in bounds if row.side == "high"]
    if not lows or not highs:
        return True
    (least, low), (most, high) = max(lows), min(highs)
    (stepped,) = limits_of("integer", "step")
    step = constraints.get(stepped.name, 1)
    if -(-least // step) * step <= most:
        return True
    if stepped.name in constraints and least <= most:
        multiple = -(-least // step) * step
        hint = f"raise {high} to {multiple + constraints[high] - most}, or change {stepped.name}"
        _empty_range("smallest multiple", multiple, high, constraints[high], subject, hint)
    else:
        _empty_range(low, constraints[low], high, constraints[high], subject)
    return False


def _check_format(format_: str, subject: Subject) -> bool:
    if format_ in STRING_FORMATS:
        return True
    clause = _FORMAT_WORDS.get(format_)
    hint = f"remove format, and write {clause} instead of d.String" if clause else ""
    hint = hint or suggestion(format_, STRING_FORMATS, "write pattern=… instead")
    subject.report.add(codes.UNKNOWN_FORMAT, subject.source, format=format_, what=subject.what, hint=hint)
    return False


def _check_regex(pattern: str, subject: Subject) -> bool:
    try:
        to_rust(pattern)
    except PatternError as error:
        subject.report.add(
            codes.BAD_PATTERN, subject.source, pattern=pattern, what=subject.what, fault=str(error)
        )
        return False
    return True
