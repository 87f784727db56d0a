"""Tools that the model's provider runs itself."""

from __future__ import annotations

from toolgen.expr.tree import NativeTool as CheckedNativeTool

from ...behaviour import NativeTool
from ...structure import Toolset
from ..checks.names import Unique, check_snake
from ..clause_lookup import clauses_of_kind
from ..report import Report
from ..types.jsonvalues import json_value


def native_tools(
    clause: Toolset, service: str, unique: Unique, report: Report
) -> tuple[CheckedNativeTool, ...]:
    """Return the native tools of a toolset; their kinds are names beside those of its other tools."""
    tools = []
    for native in clauses_of_kind(clause.children, NativeTool):
        check_snake(report, "a provider", native.provider, native.source)
        check_snake(report, "a native tool", native.kind, native.source)
        hint = "move one of them into another toolset: ids are service.toolset.kind"
        if not unique.add("tool", native.kind, native.source, hint):
            continue
        config = json_value(native.config)
        tools.append(
            CheckedNativeTool(
                id=f"{service}.{clause.name}.{native.kind}",
                provider=native.provider,
                kind=native.kind,
                config=config if isinstance(config, dict) else {},
            )
        )
    return tuple(tools)
