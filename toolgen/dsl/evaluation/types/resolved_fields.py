"""The fields of an object while clauses are resolved into the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes.fields import MISSING, Field, Foreign

from ...attributes import Attribute, Required
from ..checks.names import Unique
from ..report import Report, source_text, suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Which attributes of an object are taken over, and under which names."""

    rename: Mapping[str, str] = dataclass_field(default_factory=dict)
    """The names here, by those that were written."""
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def name(self, written: str) -> str:
        return self.rename.get(written, written)

    def keeps(self, name: str) -> bool:
        return name not in self.without and (self.only is None or name in self.only)


ALL_FIELDS: Final = Projection()
"""Everything, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFields:
    """The fields of one object, their sources, and the facts of its type."""

    fields: tuple[Field, ...] = ()
    sources: Mapping[str, Source] = dataclass_field(default_factory=dict)
    description: str = ""
    open: bool = False
    examples: tuple[Json, ...] = ()
    foreign: Foreign | None = None
    """What somebody else wrote in the place of fields."""
    is_known: bool = True
    """Whether these are all that its author meant; else something was reported."""


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
