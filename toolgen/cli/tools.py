"""`toolgen tools`: lists tools of the configured runtime, disables and enables them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from datetime import UTC, datetime

from toolgen.capabilities import MemoryStateStore
from toolgen.capabilities.disabling import DisabledTool
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runtime import Runtime

from .config import Project
from .runtime import load_runtime, specs_of


async def disable_tool(project: Project, tool: str, reason: str, by: str) -> int:
    """Disable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: the runtime keeps nowhere what is disabled, or in memory only.
    """
    async with _with_tool(project, tool) as runtime:
        print(printable(f"disabled {await runtime.tools.disable(tool, reason, by=by)}"))
    return 0


async def enable_tool(project: Project, tool: str) -> int:
    """Enable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: as `disable_tool`.
    """
    async with _with_tool(project, tool) as runtime:
        print(printable(f"enabled {await runtime.tools.enable(tool)}"))
    return 0


async def list_tools(project: Project, *, only_disabled: bool) -> int:
    """Print a line for each registered tool, and for each that is disabled: who disabled it, when and why.

    Raises:
        ToolgenError: as `disable_tool`, where only disabled ones are wanted.
    """
    async with _loaded(project) as runtime:
        disabled: dict[str, DisabledTool] = {}
        if only_disabled or runtime.tools.disabled_store is not None:
            disabled = {tool.tool: tool for tool in await runtime.tools.disabled()}
        registered = [] if only_disabled else [spec.id for spec in runtime.tools.list()]
        for tool in dict.fromkeys([*registered, *disabled]):
            print(printable(_line(disabled[tool]) if tool in disabled else tool))
    if only_disabled and not disabled:
        print("no tool is disabled", file=sys.stderr)
    return 0


def _line(tool: DisabledTool) -> str:
    since = datetime.fromtimestamp(tool.since, UTC).isoformat(timespec="seconds")
    parts = (tool.tool, "disabled", since, f"by {tool.by}" if tool.by else "", tool.reason)
    return "  ".join(part for part in parts if part)


@asynccontextmanager
async def _loaded(project: Project) -> AsyncIterator[Runtime]:
    """Yield the runtime, which is not opened, and close it.

    Raises:
        ToolgenError: what it keeps is of this process alone.
    """
    runtime = await load_runtime(project)
    if isinstance(runtime.tools.disabled_store, MemoryStateStore):
        raise ToolgenError(
            "the configured runtime keeps in memory which tools are disabled, so no other process sees it",
            hint='share a store: DisabledTools(SqliteStateStore("state.db"))',
        )
    runtime.runs.be_client()
    try:
        yield runtime
    finally:
        await runtime.aclose()


@asynccontextmanager
async def _with_tool(project: Project, tool: str) -> AsyncIterator[Runtime]:
    """Yield the runtime, opened where the tool is not a registered one, but may be listed.

    Raises:
        ToolgenError: as `_loaded`.
    """
    async with _loaded(project) as runtime:
        if not specs_of(runtime, tool):
            with redirect_stdout(sys.stderr):
                await runtime.__aenter__()
        yield runtime
