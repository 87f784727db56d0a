"""Injected fields: filled by the server, never seen by the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolgen.contract.names import CALL_META_NAMES
from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import MISSING, Field, StringType

from ...expr import codes
from ...expr.source import Source
from ...tool_clauses import Inject
from ..checks.names import Unique
from ..report import RelatedSource, Report, suggestion
from ..types.modules import UNKNOWN
from ..types.resolved_fields import ResolvedFields
from ..types.spelling import type_text


@frozen_record
class SplitArguments:
    """Arguments, split into fields that the server fills and fields that the model sends."""

    fields: tuple[Field, ...]
    remaining: tuple[Field, ...]
    is_known: bool
    """Whether all names are known."""


def split_arguments(
    tool: str,
    clauses: Iterable[Inject],
    own: ResolvedFields,
    inherited: ResolvedFields,
    *,
    method_names: Iterable[str],
    is_known: bool,
    report: Report,
) -> SplitArguments:
    """Split the arguments of a tool into those that the server fills and those that the model sends.

    `own` are the fields of its `Args`, `inherited` are fields from the payload of its method, which has the
    fields `method_names`. With `Args`, only injected fields are inherited.
    """
    own_by_name = {field.name: field for field in own.fields}
    inherited_by_name = {field.name: field for field in inherited.fields}
    injected: dict[str, Field] = {}
    unique = Unique(report, f"Inject of tool {tool!r}")
    for clause in clauses:
        for name in clause.names:
            if not unique.add("field", name, clause.source):
                continue
            field = own_by_name.get(name) or inherited_by_name.get(name)
            if field is None:
                if is_known:
                    hint = suggestion(name, [*own_by_name, *method_names], _missing(name))
                    report.add(codes.UNKNOWN_INJECT, clause.source, tool=tool, name=name, hint=hint)
                is_known = False
                continue
            if name in own_by_name:
                _check_required(tool, field, own.sources[name], clause, report)
            source = {**inherited.sources, **own.sources}[name]
            _check_type(tool, field, source, clause, report)
            injected[name] = replace(field, required=True, default=MISSING)
    remaining = (field for field in (*own.fields, *inherited.fields) if field.name not in injected)
    return SplitArguments(fields=tuple(injected.values()), remaining=tuple(remaining), is_known=is_known)


def check_closed(tool: str, clauses: Iterable[Inject], arguments: Source, report: Report) -> None:
    """Report injected fields of open arguments."""
    related = [RelatedSource(message="the open arguments are defined here", source=arguments)]
    for clause in clauses:
        for name in clause.names:
            report.add(codes.OPEN_INJECTION, clause.source, related=related, tool=tool, name=name)


def _missing(name: str) -> str:
    return f'add Attribute("{name}", String, "…", required=True) to Args, or to the method\'s Payload'


def _check_required(tool: str, field: Field, source: Source, clause: Inject, report: Report) -> None:
    if not field.required:
        related = [RelatedSource(message=f"{field.name!r} is injected here", source=clause.source)]
        report.add(codes.INJECT_REQUIRED, source, related=related, name=field.name, tool=tool)


def _check_type(tool: str, field: Field, source: Source, clause: Inject, report: Report) -> None:
    if field.name in CALL_META_NAMES and field.type != UNKNOWN and not isinstance(field.type, StringType):
        related = [RelatedSource(message=f"{field.name!r} is injected here", source=clause.source)]
        type_ = type_text(field.type)
        report.add(codes.INJECT_TYPE, source, related=related, name=field.name, tool=tool, type=type_)
