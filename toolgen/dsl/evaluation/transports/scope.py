"""One method whose transport is resolved: the names for its clauses, and its report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import Field, Objects, ObjectType

from ...clause import Clause
from ...expr import codes
from ...expr.rule import Rule
from ...expr.source import Source
from ..bindings.methods import ResolvedMethod
from ..report import RelatedSource, Report, suggestion
from ..types.modules import UNKNOWN

_UNKNOWN: Final = ObjectType(name=UNKNOWN.name, description="", fields=())


@frozen_record(kw_only=False)
class MethodScope:
    """A method, and the report for mistakes in its transport."""

    operation: ResolvedMethod
    report: Report

    @property
    def payload(self) -> ObjectType:
        return self.operation.payload_type

    @property
    def result(self) -> ObjectType:
        return self.operation.result_type

    @property
    def unknown(self) -> ObjectType:
        """Replaces an object that was reported."""
        return _UNKNOWN

    @property
    def objects(self) -> Objects:
        return self.operation.module.objects

    def add(
        self, rule: Rule, source: Source, related: Iterable[RelatedSource] = (), /, **facts: object
    ) -> None:
        """Report a mistake in the transport of this method."""
        self.report.add(rule, source, related=related, method=self.operation.name, **facts)

    def knows(self, of: ObjectType) -> bool:
        """Return whether all attributes of an object of this method are known."""
        if of is self.payload:
            return self.operation.payload_is_known and of.foreign is None
        if of is self.result:
            return self.operation.result_is_known and of.foreign is None
        return of is not _UNKNOWN

    def attribute(self, clause: Clause, name: str, of: ObjectType, where: str) -> Field | None:
        """Return the attribute that a clause names; report an unknown one if all attributes are known."""
        field = of.field(name)
        if field is None and self.knows(of):
            hint = suggestion(name, [field.name for field in of.fields], f"add it to the {where}")
            kind = type(clause).__name__
            self.add(codes.UNKNOWN_ATTRIBUTE, clause.source, clause=kind, name=name, where=where, hint=hint)
        return field
