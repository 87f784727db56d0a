"""The types that hold constraints: String, Int, Float, and the lengths of ArrayOf and MapOf."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any as Anything
from typing import Final

from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes.fields import DataType, EnumType, NumberType, StringType
from toolgen.shapes.lexical import STRING_FORMATS
from toolgen.shapes.patterns import PatternError, to_rust

from ...composites import ArrayOf, MapOf, Nullable
from ...datatypes import DataType as TypeWord
from ...datatypes import FloatWord, IntWord, StringWord
from ..report import MOST_DIGITS, Report, shown, suggestion
from .spelling import BOUNDS, LENGTHS, spelled

_ALLOWED: Final[dict[type[object], tuple[str, ...]]] = {
    StringWord: ("enum", *LENGTHS, "pattern", "format"),
    IntWord: ("enum", *BOUNDS),
    FloatWord: BOUNDS,
    ArrayOf: LENGTHS,
    MapOf: LENGTHS,
}
_MEANT: Final = {
    "minimum": "min_length",
    "maximum": "max_length",
    "min_length": "minimum",
    "max_length": "maximum",
}
"""What the author may have meant where a type cannot hold a bound or a length."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a type is written for, and where its mistakes are shown."""

    what: str
    source: Source
    report: Report


def constraints_of(
    word: TypeWord[Anything, Anything, Anything, Anything, Anything] | str,
    outer: dict[str, object],
    subject: Subject,
) -> dict[str, Anything]:
    """Return the constraints of a type and its attribute that are well formed and that it can hold."""
    allowed = next((_ALLOWED[kind] for kind in type(word).__mro__ if kind in _ALLOWED), ())
    own = {} if isinstance(word, str) else word.constraints
    given = {**own, **outer}
    good: dict[str, Anything] = {}
    for keyword, value in given.items():
        if keyword not in allowed:
            _mismatch(keyword, f"the type {spelled(word)}", _alternative(word, keyword, allowed), subject)
        elif keyword == "enum" or _well_formed(keyword, value, isinstance(word, IntWord), subject):
            good[keyword] = value
    if "enum" in good and len(good) > 1:
        other = next(keyword for keyword in good if keyword != "enum")
        _mismatch(other, "an enum", f"remove {other}: the values say it all", subject)
        good = {"enum": good["enum"]}
    return good


def string_type(constraints: dict[str, Anything], subject: Subject) -> DataType | None:
    """Return the type of a String; None when it was reported."""
    if "enum" in constraints:
        return enum_type(constraints["enum"], str, subject)
    sound = _check_order(constraints, "min_length", "max_length", subject)
    if "format" in constraints and "pattern" in constraints:
        _mismatch("pattern", "a format", "remove one of them: a format has a pattern of its own", subject)
        return None
    if "format" in constraints:
        sound = _check_format(constraints["format"], subject) and sound
    if "pattern" in constraints:
        sound = _check_regex(constraints["pattern"], subject) and sound
    return StringType(**constraints) if sound else None


def number_type(constraints: dict[str, Anything], integer: bool, subject: Subject) -> DataType | None:
    """Return the type of an Int or a Float; None when it was reported."""
    if "enum" in constraints:
        return enum_type(constraints["enum"], int, subject)
    sound = True
    for low in ("minimum", "exclusive_minimum"):
        for high in ("maximum", "exclusive_maximum"):
            strict = "exclusive" in low or "exclusive" in high
            sound = sound and _check_order(constraints, low, high, subject, strict=strict)
    if integer and sound:
        sound = _check_integers(constraints, subject)
    return NumberType(integer=integer, **constraints) if sound else None


def lengths(constraints: dict[str, Anything], subject: Subject) -> bool:
    """Return whether the lengths of an array or a map leave one that is possible."""
    return _check_order(constraints, "min_length", "max_length", subject)


def enum_type(
    values: object, kind: type[str] | type[int] | None, subject: Subject, name: str | None = None
) -> EnumType | None:
    """Return the enumeration; None when it was reported. Without a kind, the first value decides."""
    if not isinstance(values, (tuple, list)):
        _bad_value("enum", values, "a tuple of values", subject)
        return None
    if not values:
        example = 'enum=("on", "off")' if name is None else f'Enum("{name}", "…", "on", "off")'
        subject.report.add(codes.EMPTY_ENUM, subject.source, what=subject.what, example=example)
        return None
    kind = kind or (int if type(values[0]) is int else str)
    wanted = "a whole number" if kind is int else "a string"
    wrong = [value for value in values if type(value) is not kind or not _writable(value)]
    for value in wrong:
        proposal = _as_kind(value, kind)
        hint = f"write {wanted}" if proposal is None else f"write {proposal}"
        if isinstance(value, (tuple, list)):
            hint = "write a star before it: its items are values of their own"
        subject.report.add(
            codes.BAD_ENUM_VALUE,
            subject.source,
            value=shown(value),
            what=subject.what,
            wanted=_short(wanted, value),
            hint=hint,
        )
    if wrong:
        return None
    twice = [value for value, times in Counter(values).items() if times > 1]
    for value in twice:
        subject.report.add(codes.DUPLICATE_ENUM_VALUE, subject.source, value=shown(value), what=subject.what)
    return EnumType(values=tuple(values), name=name) if not twice else None


def _as_kind(value: object, kind: type[str] | type[int]) -> str | None:
    """Return how the value is written as a string or as a whole number; None when it is neither."""
    if kind is str and type(value) in (int, float) and _writable(value):
        return f'"{value}"'
    if kind is int and isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal():
        return shown(value)[1:-1]
    return None


def _short(wanted: str, value: object) -> str:
    """Return what is wanted; of a number that is only too long, how long it may be."""
    is_long = type(value) is int and not _writable(value)
    return f"{wanted} of up to {MOST_DIGITS} digits" if is_long else wanted


def _writable(value: object) -> bool:
    try:
        str(value).encode()
    except ValueError:  # half of a surrogate pair, or more digits than Python prints
        return False
    return True


def _well_formed(keyword: str, value: object, integer: bool, subject: Subject) -> bool:
    wanted, accepts = _form(keyword, integer)
    if not accepts(value):
        _bad_value(keyword, value, _short(wanted, value), subject)
        return False
    return True


def _form(keyword: str, integer: bool) -> tuple[str, Callable[[Anything], bool]]:
    """Return what a constraint takes, in words and as a test."""

    def is_whole(value: Anything) -> bool:
        return type(value) is int and _writable(value)

    def is_finite(value: Anything) -> bool:
        return is_whole(value) or (type(value) is float and math.isfinite(value))

    if keyword in LENGTHS:
        return "a whole number from 0", lambda value: is_whole(value) and value >= 0
    if keyword in ("pattern", "format"):
        return "a string", lambda value: isinstance(value, str) and _writable(value)
    is_number = is_whole if integer else is_finite
    wanted = "a whole number" if integer else "a finite number"
    if keyword == "multiple_of":
        return f"{wanted} above 0", lambda value: is_number(value) and value > 0
    return wanted, is_number


def _bad_value(keyword: str, value: object, wanted: str, subject: Subject) -> None:
    proposal = _as_kind(value, int) if keyword in (*LENGTHS, *BOUNDS) else None
    if keyword == "enum" and isinstance(value, (str, int)):
        proposal = f"({shown(value)},)"
    subject.report.add(
        codes.BAD_CONSTRAINT,
        subject.source,
        keyword=keyword,
        what=subject.what,
        value=shown(value),
        wanted=wanted,
        hint=f"write {keyword}={proposal}" if proposal else f"write {wanted}, or remove {keyword}",
    )


def _mismatch(keyword: str, type_: str, hint: str, subject: Subject) -> None:
    subject.report.add(
        codes.CONSTRAINT_MISMATCH, subject.source, keyword=keyword, what=subject.what, type=type_, hint=hint
    )


def _alternative(word: object, keyword: str, allowed: tuple[str, ...]) -> str:
    inner = word.inner if isinstance(word, Nullable) else word.items if isinstance(word, ArrayOf) else None
    if inner is not None and any(keyword in _ALLOWED.get(kind, ()) for kind in type(inner).__mro__):
        text = spelled(inner)
        return f"write {spelled(word).replace(text, f'{text}({keyword}=…)', 1)}"
    if _MEANT.get(keyword) in allowed:
        return f"write {_MEANT[keyword]}=…; {spelled(word)} takes {', '.join(allowed)}"
    if allowed:
        return f"remove it; {spelled(word)} takes {', '.join(allowed)}"
    holders = [
        kind.__name__.removesuffix("Word") for kind, keywords in _ALLOWED.items() if keyword in keywords
    ]
    return f"remove it; {keyword} belongs to {' and '.join(holders)}"


def _check_order(
    constraints: dict[str, Anything], low: str, high: str, subject: Subject, *, strict: bool = False
) -> bool:
    least, most = constraints.get(low), constraints.get(high)
    if least is None or most is None or least < most or (least == most and not strict):
        return True
    _empty_range(low, least, high, most, subject)
    return False


def _empty_range(low: str, least: object, high: str, most: object, subject: Subject, hint: str = "") -> None:
    subject.report.add(
        codes.EMPTY_RANGE,
        subject.source,
        what=subject.what,
        low=f"{low.replace('_', ' ')} {least}",
        high=f"{high.replace('_', ' ')} {most}",
        hint=hint or f"lower {low}, or raise {high}",
    )


def _check_integers(constraints: dict[str, Anything], subject: Subject) -> bool:
    """Check that a whole number lies between exclusive bounds, and a multiple between all bounds."""
    lows = [(constraints[name] + extra, name) for name, extra in _LOWS if name in constraints]
    highs = [(constraints[name] - extra, name) for name, extra in _HIGHS if name in constraints]
    if not lows or not highs:
        return True
    (least, low), (most, high) = max(lows), min(highs)
    step = constraints.get("multiple_of", 1)
    if -(-least // step) * step <= most:
        return True
    if "multiple_of" in constraints and least <= most:
        multiple = -(-least // step) * step
        hint = f"raise {high} to {multiple + (high == 'exclusive_maximum')}, or change multiple_of"
        _empty_range("smallest multiple", multiple, high, constraints[high], subject, hint)
    else:
        _empty_range(low, constraints[low], high, constraints[high], subject)
    return False


_LOWS = (("minimum", 0), ("exclusive_minimum", 1))
_HIGHS = (("maximum", 0), ("exclusive_maximum", 1))


def _check_format(format_: str, subject: Subject) -> bool:
    if format_ in STRING_FORMATS:
        return True
    word = _FORMAT_WORDS.get(format_)
    hint = f"remove format, and write {word} instead of String" if word else ""
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
