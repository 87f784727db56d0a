"""The fields of an object while clauses are resolved into the tree, and the objects for union branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field as dataclass_field
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.record import record
from toolgen.shapes import naming
from toolgen.shapes.fields import MISSING, EnumType, Field, Foreign, ObjectType

from ...attributes import Attribute, Required
from ...expr import codes
from ...expr.source import Source
from ..checks.names import Unique
from ..report import RelatedSource, Report, source_text, suggestion
from .constraints import Subject
from .modules import Module


@record
class FieldChoice:
    """The attributes of an object that are taken over, with their names."""

    rename: Mapping[str, str] = dataclass_field(default_factory=dict)
    """The new names, by the original names."""
    only: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()

    def name(self, written: str) -> str:
        return self.rename.get(written, written)

    def includes(self, name: str) -> bool:
        return name not in self.excluded and (self.only is None or name in self.only)


ALL_FIELDS: Final = FieldChoice()
"""All fields, under their original names."""


@record
class ResolvedFields:
    """The fields of one object, their sources, and the facts of its type."""

    fields: tuple[Field, ...] = ()
    sources: Mapping[str, Source] = dataclass_field(default_factory=dict)
    description: str = ""
    open: bool = False
    examples: tuple[Json, ...] = ()
    foreign: Foreign | None = None
    """Third-party schema instead of fields."""
    is_known: bool = True
    """Whether all fields could be resolved; if not, the reason was reported."""


@record
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


@record
class UnionBranch:
    """A branch of a union, whose fields might not be resolved yet."""

    module: Module
    class_name: str
    tag: str
    value: str
    subject: Subject


class Branches:
    """Creates the objects of branches, for named types after the types are resolved."""

    def __init__(self, report: Report, shared: Module) -> None:
        self._report = report
        self._shared = shared
        self._postponed: list[tuple[UnionBranch, str]] = []
        self.titles: dict[str, str] = {}
        """Titles that the author gave to named types, by class name."""

    def postpone(self, branch: UnionBranch, class_name: str) -> None:
        """Store a branch with the fields of a named type until `finish`."""
        self._postponed.append((branch, class_name))

    def finish(self) -> None:
        """Define the postponed branches, because the fields of every named type are known now."""
        for branch, class_name in self._postponed:
            type_ = self._shared.classes.get(class_name)
            if type_ is None:
                continue
            sources = {
                field.name: self._shared.source_of(type_.name, field) or branch.subject.source
                for field in type_.fields
            }
            fields = ResolvedFields(fields=type_.fields, sources=sources, open=type_.open)
            self.define(branch, type_.description, fields, self.titles.get(class_name, ""))
        self._postponed.clear()

    def define(self, branch: UnionBranch, description: str, fields: ResolvedFields, title: str = "") -> None:
        """Create the object of a branch; `title` is the author's title of its type, "" if there is none."""
        rest = tuple(field for field in fields.fields if field.name != branch.tag)
        if len(rest) < len(fields.fields):
            self._refuse_tag(branch, fields.sources.get(branch.tag))
        tag = Field(
            name=branch.tag,
            type=EnumType(values=(branch.value,)),
            description="",
            title=naming.title(branch.tag),
            required=True,
        )
        object_ = ObjectType(
            name=branch.class_name,
            description=description,
            title=title or naming.title(branch.value),
            fields=(tag, *rest),
            open=fields.open,
        )
        branch.module.define(object_, {branch.tag: branch.subject.source, **fields.sources})

    def _refuse_tag(self, branch: UnionBranch, place: Source | None) -> None:
        """Report an attribute with the name of the tag; `place` is its source."""
        tag = branch.tag
        self._report.add(
            codes.BAD_UNION,
            branch.subject.source,
            related=[RelatedSource(message=f"attribute {tag!r} is defined here", source=place)]
            if place
            else [],
            what=branch.subject.what,
            fault=f"has a branch {branch.value!r} with an attribute named like the tag, {tag!r}",
            hint=f'remove the attribute, since toolgen adds the tag, or rename the tag: OneOf("{tag}_of", …)',
        )
