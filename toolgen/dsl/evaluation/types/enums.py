"""Enumerations: values of one kind, with or without meanings."""

from __future__ import annotations

from collections import Counter
from typing import Any as Anything

from toolgen.shapes.fields import EnumType

from ...datatypes import Value
from ...expr import codes
from ..checks.names import described
from ..report import source_text
from .constraints import Subject, as_kind, bad_value, is_writable, short


def enum_type(
    values: object, kind: type[str] | type[int] | None, subject: Subject, name: str | None = None
) -> EnumType | None:
    """Return the enumeration; None if it was reported. Without a kind, the first value decides."""
    if not isinstance(values, (tuple, list)):
        bad_value("enum", values, "a tuple of values", subject)
        return None
    if not values:
        example = 'enum=("on", "off")' if name is None else f'Enum("{name}", "…", "on", "off")'
        subject.report.add(codes.EMPTY_ENUM, subject.source, what=subject.what, example=example)
        return None
    meanings = tuple(_meaning(value, subject) for value in values)
    plain_values: Anything = tuple(value.value if isinstance(value, Value) else value for value in values)
    return _enum(plain_values, meanings, kind, subject, name)


def _enum(
    values: tuple[Anything, ...],
    meanings: tuple[str, ...],
    kind: type[str] | type[int] | None,
    subject: Subject,
    name: str | None,
) -> EnumType | None:
    """Return the enumeration of values of one kind; None if it was reported."""
    kind = kind or (int if type(values[0]) is int else str)
    wanted = "a whole number" if kind is int else "a string"
    wrong = [value for value in values if type(value) is not kind or not is_writable(value)]
    for value in wrong:
        proposal = as_kind(value, kind)
        hint = f"write {wanted}" if proposal is None else f"write {proposal}"
        if isinstance(value, (tuple, list)):
            hint = "unpack it with a star: each item is a separate value"
        if isinstance(value, (set, frozenset)):
            hint = "write the items as separate values: a set has no order"
        subject.report.add(
            codes.BAD_ENUM_VALUE,
            subject.source,
            value=source_text(value),
            what=subject.what,
            wanted=short(wanted, value),
            hint=hint,
        )
    if wrong:
        return None
    twice = [value for value, times in Counter(values).items() if times > 1]
    for value in twice:
        subject.report.add(
            codes.DUPLICATE_ENUM_VALUE, subject.source, value=source_text(value), what=subject.what
        )
    if twice:
        return None
    return EnumType(values=values, meanings=meanings if any(meanings) else (), name=name)


def _meaning(value: object, subject: Subject) -> str:
    """Return the meaning of an enumeration's value, on one line; "" if it has none."""
    if not isinstance(value, Value):
        return ""
    what = f"value {source_text(value.value)} of {subject.what}"
    meaning: object = value.meaning
    if isinstance(meaning, str) and is_writable(meaning):
        return " ".join(described(subject.report, what, meaning, value.source).split())
    subject.report.add(
        codes.WRONG_ARGUMENT,
        value.source,
        argument="meaning",
        clause=what,
        value=source_text(meaning),
        wanted="a string",
        hint='describe the value, such as Value("on", "Switched on")',
    )
    return ""
