"""Checks of tools that an agent implements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolgen.contract.names import CALL_META_NAMES
from toolgen.expr import codes
from toolgen.expr.tree import Tool as CheckedTool
from toolgen.expr.tree import Toolset as CheckedToolset

from ...structure import Args, Return, Tool, Toolset
from ..clause_lookup import clauses_of_kind
from ..report import Report
from ..tools.tools import ToolDraft


def check_exported(
    clause: Toolset, toolset: CheckedToolset, drafts: Mapping[str, ToolDraft], report: Report
) -> None:
    """Report clauses that the tools of an exported toolset cannot have."""
    for native in toolset.native:
        fault = "is run by the provider of a model"
        hint = "move it into a toolset of its own"
        report.add(
            codes.EXPORTED_TOOL,
            clause.source,
            tool=native.kind,
            toolset=toolset.name,
            fault=fault,
            hint=hint,
        )
    for tool in clauses_of_kind(clause.children, Tool):
        draft = drafts.get(tool.name)
        if draft is None:
            continue
        for fault, hint in _faults(tool, draft, draft.tool):
            report.add(
                codes.EXPORTED_TOOL,
                tool.source,
                tool=tool.name,
                toolset=toolset.name,
                fault=fault,
                hint=hint,
            )


def _faults(written: Tool, draft: ToolDraft, tool: CheckedTool) -> Iterator[tuple[str, str]]:
    if draft.bind is not None:
        yield "has BindTo", "remove BindTo; the agent calls its own tools"
    for clause in (Args, Return):
        if not clauses_of_kind(written.children, clause):
            yield f"has no {clause.__name__}", f"add {clause.__name__}(…)"
    if tool.facts.needs:
        yield "has Needs", "move Needs to the tools that the agent uses"
    if tool.long_running:
        yield "is LongRunning", "remove LongRunning; the caller waits for the agent's run"
    if tool.artifacts:
        yield "has artifacts", "move Artifact to the tools that the agent uses; its runs pass them on"
    if tool.errors:
        yield "has Error", "remove Error; a run that fails has no details of its own"
    if others := [field.name for field in tool.injected if field.name not in CALL_META_NAMES]:
        yield f"injects {', '.join(others)}", "inject only facts of the call, such as session_id"
