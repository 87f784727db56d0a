"""`toolgen tools`: lists tools of the configured runtime, disables and enables them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from toolgen.capabilities import MemoryStateStore
from toolgen.capabilities.disabling import DisabledTool
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runtime import Runtime, Snapshot, ToolSpec

from .config import Project
from .runtime import opened_for, project_runtime
from .terminal import show_line


async def disable_tool(project: Project, tool: str, reason: str, by: str) -> int:
    """Disable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: the runtime has no store for disabled tools, or one in memory.
    """
    async with _opened(project, tool) as (runtime, _):
        disabled = await runtime.tools.disable(tool, reason, by=by)
    print(printable(f"disabled {disabled}"))
    return 0


async def enable_tool(project: Project, tool: str) -> int:
    """Enable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: as `disable_tool`.
    """
    async with _opened(project, tool) as (runtime, _):
        enabled = await runtime.tools.enable(tool)
    print(printable(f"enabled {enabled}"))
    return 0


async def list_tools(project: Project, *, only_disabled: bool, as_json: bool = False) -> int:
    """Print a line or a JSON object for each tool; disabled tools with person, time and reason.

    Raises:
        ToolgenError: as `disable_tool`, if `only_disabled` is set.
    """
    async with _opened(project, "" if only_disabled else None) as (runtime, within):
        disabled: dict[str, DisabledTool] = {}
        if only_disabled or runtime.tools.disabled_store is not None:
            disabled = {tool.tool: tool for tool in await runtime.tools.disabled()}
        specs = runtime.tools.list() if within is None else within.directory.specs
        left_out = {} if within is None else {**within.left_out, **within.failures}
    offered = [] if only_disabled else [spec.id for spec in specs]
    texts = {spec.id: spec for spec in specs}
    for tool in dict.fromkeys([*offered, *disabled]):
        if as_json:
            show_line(_record(tool, texts.get(tool), disabled.get(tool)))
            continue
        print(printable(_line(disabled[tool]) if tool in disabled else tool))
    for name, why in left_out.items():
        print(printable(f"{name} is not offered: {why}"), file=sys.stderr)
    if only_disabled and not disabled:
        print("no tool is disabled", file=sys.stderr)
    return 0


def _record(tool: str, spec: ToolSpec | None, disabled: DisabledTool | None) -> dict[str, Any]:
    """Return a tool as JSON; `disabled` is None if the tool can be called."""
    why = disabled and {"since": disabled.since, "by": disabled.by, "reason": disabled.reason}
    facts = {"name": spec.name, "title": spec.title, "description": spec.description} if spec else {}
    return {"id": tool, **facts, "disabled": why}


def _line(tool: DisabledTool) -> str:
    since = f"{datetime.fromtimestamp(tool.since, UTC):%Y-%m-%d %H:%M:%S} UTC"
    parts = (tool.tool, "disabled", since, f"by {tool.by}" if tool.by else "", tool.reason)
    return "  ".join(part for part in parts if part)


@asynccontextmanager
async def _opened(project: Project, tool: str | None) -> AsyncIterator[tuple[Runtime, Snapshot | None]]:
    """Yield the runtime and the tools that it offers, as `opened_for` does.

    Raises:
        ToolgenError: the store of disabled tools is in the memory of this process.
    """
    async with project_runtime(project) as runtime:
        if isinstance(runtime.tools.disabled_store, MemoryStateStore):
            raise ToolgenError(
                "the configured runtime keeps disabled tools in memory, so no other process sees them",
                hint='share a store: DisabledTools(SqliteStateStore("state.db"))',
            )
        runtime.runs.run_as_client()
        async with opened_for(runtime, tool) as within:
            yield runtime, within
