"""Declared errors: errors of tools, and of the methods behind them, which a bound tool inherits."""

from __future__ import annotations

from collections.abc import Iterable

from toolgen.contract.names import RESERVED_CODES
from toolgen.contract.tool_facts import Error as CheckedError
from toolgen.shapes import naming

from ...composites import Object
from ...expr import codes
from ...expr.source import Source
from ...services import Service
from ...structure import Method, Tool
from ...tool_clauses import Error
from ..checks.names import Unique, check_snake, described
from ..clause_lookup import clauses_of_kind
from ..report import Report
from ..types.constraints import Subject
from ..types.modules import UNKNOWN, Module
from ..types.types import Types


def tool_errors(
    tool: Tool, module: Module, inherited: Iterable[CheckedError[str]], types: Types, report: Report
) -> tuple[CheckedError[str], ...]:
    """Return the errors of a tool: its own, then the other errors of its method."""
    declared = _errors(tool, f"tool {tool.name!r}", module, types, report)
    own = {error.name: (error, clause) for error, clause in declared}
    errors = [error for error, _ in declared]
    for error in inherited:
        if error.name not in own:
            errors.append(error)
            continue
        mine, clause = own[error.name]
        if mine.type != error.type and UNKNOWN.name not in (mine.type, error.type):
            report.add(
                codes.ERROR_MISMATCH,
                clause.source,
                name=error.name,
                tool=tool.name,
                type=mine.type or "no type",
                other=error.type or "no type",
            )
    return tuple(errors)


def method_errors(
    method: Method | Service, module: Module, types: Types, report: Report
) -> tuple[CheckedError[str], ...]:
    """Return the errors of a method, or the errors of a service for all its methods.

    Their types have names, so that tools can pass them on unchanged.
    """
    what = f"{type(method).__name__.lower()} {method.name!r}"
    good = []
    for clause in clauses_of_kind(method.children, Error):
        if isinstance(clause.type, Object):
            report.add(
                codes.UNNAMED_ERROR,
                clause.source,
                name=clause.name,
                owner=what,
                proposal=naming.class_name(clause.name),
            )
        else:
            good.append(clause)
    return tuple(error for error, _ in _errors(method, what, module, types, report, good))


def _errors(
    owner: Tool | Method | Service,
    what: str,
    module: Module,
    types: Types,
    report: Report,
    clauses: Iterable[Error] | None = None,
) -> list[tuple[CheckedError[str], Error]]:
    """Return the checked errors of a clause, each with its own clause."""
    unique = Unique(report, what)
    declared = []
    for clause in clauses_of_kind(owner.children, Error) if clauses is None else clauses:
        named = f"error {clause.name!r}"
        check_snake(report, "an error", clause.name, clause.source)
        _check_code(clause.name, owner.name, clause.source, report)
        description = described(report, named, clause.description, clause.source)
        if not unique.add("error", clause.name, clause.source):
            continue
        type_ = None
        if clause.type is not None:
            subject = Subject(what=named, source=clause.source, report=report)
            class_name = naming.class_name(owner.name, clause.name)
            type_ = types.object_type(clause.type, module, class_name, subject, description)
        error = CheckedError(
            name=clause.name, description=description, type=type_, is_retryable=clause.retryable
        )
        declared.append((error, clause))
    return declared


def _check_code(name: str, owner: str, source: Source, report: Report) -> None:
    if name in RESERVED_CODES:
        report.add(
            codes.RESERVED_NAME,
            source,
            name=name,
            what="an error",
            taken_by="the runtime",
            proposal=naming.snake(f"{owner}_{name}"),
        )
