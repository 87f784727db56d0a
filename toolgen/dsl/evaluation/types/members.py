"""The attributes of one object, and which of them are required."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes.fields import MISSING

from ...attributes import Attribute, Required
from ..checks.names import Unique
from ..report import Report, source_text, suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    attribute: Attribute
    required: bool


def members(children: Iterable[object], where: str, source: Source, report: Report) -> list[Member]:
    """Return the attributes among the children, each name once, in order."""
    listed = list(children)
    unique = Unique(report, where)
    attributes = [
        child
        for child in listed
        if isinstance(child, Attribute) and unique.add("attribute", child.name, child.source)
    ]
    names = [attribute.name for attribute in attributes]
    required: set[str] = set()
    for child in listed:
        if isinstance(child, Required):
            required.update(child.names)
            for name in child.names:
                if name not in names:
                    hint = suggestion(name, names, f'add Attribute("{name}", …) beside it')
                    report.add(codes.UNKNOWN_REQUIRED, child.source, name=name, where=where, hint=hint)
    return [_member(attribute, attribute.name in required, report) for attribute in attributes]


def _member(attribute: Attribute, listed: bool, report: Report) -> Member:
    required = attribute.required or listed
    if required and attribute.default is not MISSING:
        report.add(
            codes.REQUIRED_DEFAULT,
            attribute.source,
            name=attribute.name,
            default=source_text(attribute.default),
        )
    return Member(attribute=attribute, required=required)
