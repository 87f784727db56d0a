"""The branches of unions: each is an object of its own, which begins with the tag."""

from __future__ import annotations

from dataclasses import dataclass

from toolgen.expr import codes
from toolgen.expr.source import Source
from toolgen.shapes import naming
from toolgen.shapes.fields import EnumType, Field, ObjectType

from ..report import RelatedSource, Report
from .constraints import Subject
from .modules import Module
from .resolved_fields import ResolvedFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch of a union, whose fields may not be resolved yet."""

    module: Module
    class_name: str
    tag: str
    value: str
    subject: Subject


class Branches:
    """Makes the objects of branches, those of named types once the types are resolved."""

    def __init__(self, report: Report, shared: Module) -> None:
        self._report = report
        self._shared = shared
        self._postponed: list[tuple[Branch, str]] = []
        self.titles: dict[str, str] = {}
        """Those that the author gave to named types, by class name."""

    def postpone(self, branch: Branch, class_name: str) -> None:
        """Keep a branch that has the fields of a named type until `finish`."""
        self._postponed.append((branch, class_name))

    def finish(self) -> None:
        """Define what was postponed, now that the fields of every named type are known."""
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

    def define(self, branch: Branch, description: str, fields: ResolvedFields, title: str = "") -> None:
        """Make the object of a branch; `title` is what the author calls its type, "" for nothing."""
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

    def _refuse_tag(self, branch: Branch, place: Source | None) -> None:
        """Report an attribute that has the name of the tag; `place` is where it stands."""
        tag = branch.tag
        self._report.add(
            codes.BAD_UNION,
            branch.subject.source,
            related=[RelatedSource(message=f"attribute {tag!r} stands here", source=place)] if place else [],
            what=branch.subject.what,
            fault=f"has the branch {branch.value!r} with an attribute of the tag's name {tag!r}",
            hint=f'remove the attribute, which the tag writes for you, or name the tag: OneOf("{tag}_of", …)',
        )
