"""The replacements of deprecated tools, once all tools of the design are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from toolgen.contract.tool_facts import Deprecation
from toolgen.expr import codes
from toolgen.expr.tree import Tool

from ...tool_clauses import Deprecated
from ..report import Report, suggestion


def deprecation(clause: Deprecated | None) -> Deprecation | None:
    """Return the deprecation of a tool, with the replacement as it is written."""
    if clause is None:
        return None
    return Deprecation(reason=clause.reason.strip(), replacement=clause.replacement or "")


def replaced(tool: Tool, clause: Deprecated, tools: Mapping[str, Tool], report: Report) -> Tool:
    """Return the tool with the id of its replacement; one that cannot be is reported.

    `tools` are all of the design, by id.
    """
    written = clause.replacement
    if tool.facts.deprecated is None or not written:
        return tool
    toolset = tool.id.rpartition(".")[0]
    id_ = written if "." in written else f"{toolset}.{written}"
    found, fault, hint = tools.get(id_), "", ""
    if found is None:
        fault, hint = f"is {written!r}, which is no tool of the design", _meant(written, toolset, tools)
    elif id_ == tool.id:
        fault, hint = "is the tool itself", "name another tool, or leave the replacement out"
    elif found.facts.deprecated is not None:
        fault, hint = f"is {written!r}, which is deprecated too", f"name what replaces {written!r}"
    if fault:
        report.add(codes.BAD_REPLACEMENT, clause.source, tool=tool.name, fault=fault, hint=hint)
        return tool
    facts = replace(tool.facts, deprecated=replace(tool.facts.deprecated, replacement=id_))
    return replace(tool, facts=facts)


def _meant(written: str, toolset: str, ids: Collection[str]) -> str:
    """Return the hint for an unknown tool: another toolset may have it."""
    elsewhere = next((id_ for id_ in ids if id_.rpartition(".")[2] == written), None)
    if elsewhere is not None:
        return f"write {elsewhere!r}, which is in another toolset"
    own = [id_.removeprefix(f"{toolset}.") for id_ in ids if id_.startswith(f"{toolset}.")]
    return suggestion(written, ids if "." in written else own, "leave the replacement out")
