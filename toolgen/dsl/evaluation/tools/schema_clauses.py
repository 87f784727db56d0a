"""Clauses that need to know a foreign schema's fields, which a tool cannot combine with `JSONSchema`."""

from __future__ import annotations

from collections.abc import Iterator

from toolgen.expr import codes
from toolgen.shapes.fields import ObjectType

from ...clause import Clause
from ...structure import Tool
from ...tool_clauses import BindTo, BoundedResult, Inject
from ..bindings.methods import Operation
from ..clause_lookup import clauses_of_kind
from ..report import Report


def check_schema_clauses(
    tool: Tool, payload: ObjectType, result: ObjectType, operation: Operation | None, report: Report
) -> bool:
    """Report clauses that refer into a `JSONSchema`; return whether there are none."""
    found = list(_clauses(tool, payload, result, operation))
    for clause, hint in found:
        name = type(clause).__name__
        report.add(codes.WHOLE_SCHEMA, clause.source, clause=name, tool=tool.name, hint=hint)
    return not found


def _clauses(
    tool: Tool, payload: ObjectType, result: ObjectType, operation: Operation | None
) -> Iterator[tuple[Clause, str]]:
    """Yield each clause that refers into a `JSONSchema`, with its hint."""
    bound = (operation.payload_type, operation.result_type) if operation else ()
    if any(part.foreign for part in (payload, result, *bound)):
        for clause in clauses_of_kind(tool.children, BindTo):
            yield clause, "remove BindTo, and call the method in the executor"
    if payload.foreign:
        for inject in clauses_of_kind(tool.children, Inject):
            yield inject, "remove Inject, or write the arguments as attributes"
    if payload.foreign or result.foreign:
        for window in clauses_of_kind(tool.children, BoundedResult):
            yield window, "remove BoundedResult, or write Args and Return as attributes"
