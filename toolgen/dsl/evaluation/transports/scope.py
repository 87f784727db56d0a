"""One method whose transport is resolved: what its clauses may name, and how it is reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolgen.expr import codes
from toolgen.expr.rule import Rule
from toolgen.expr.source import Source
from toolgen.shapes.fields import Field, ObjectType

from ...clause import Clause
from ..bindings.methods import Operation
from ..report import RelatedSource, Report, suggestion


@dataclass(frozen=True, slots=True)
class MethodScope:
    """A method, and the report of what is wrong with its transport."""

    operation: Operation
    report: Report

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def payload(self) -> ObjectType:
        return self.operation.payload_type

    @property
    def result(self) -> ObjectType:
        return self.operation.result_type

    def add(
        self, rule: Rule, source: Source, *, related: Iterable[RelatedSource] = (), **facts: object
    ) -> None:
        """Report a mistake in the transport of this method."""
        self.report.add(rule, source, related=related, method=self.name, **facts)

    def attribute(self, clause: Clause, name: str, of: ObjectType, where: str) -> Field | None:
        """Return the attribute that a clause names; an unknown one is reported where all are known."""
        field = of.field(name)
        is_known = {"payload": self.operation.payload_is_known, "result": self.operation.result_is_known}
        if field is None and of.foreign is None and is_known.get(where, True):
            hint = suggestion(name, [field.name for field in of.fields], f"add it to the {where}")
            kind = type(clause).__name__
            self.add(codes.UNKNOWN_ATTRIBUTE, clause.source, clause=kind, name=name, where=where, hint=hint)
        return field

    def source_of(self, of: ObjectType, name: str) -> Source:
        """Return where an attribute was written."""
        return self.operation.module.source_of(of.name, name) or self.operation.source
