"""`toolgen tools`: lists tools of the configured runtime, disables and enables them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from datetime import UTC, datetime

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable
from toolgen.runtime import Runtime
from toolgen.runtime.capabilities import MemoryStateStore
from toolgen.runtime.disabling import DisabledTool

from .config import Project
from .runtime import load_runtime, specs_of


async def disable_tool(project: Project, tool: str, reason: str, by: str) -> int:
    """Disable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: the runtime keeps nowhere what is disabled, or in memory only.
    """
    async with _with_tool(project, tool) as runtime:
        print(printable(f"disabled {await runtime.disable_tool(tool, reason, by=by)}"))
    return 0


async def enable_tool(project: Project, tool: str) -> int:
    """Enable a tool, and print its id.

    Raises:
        UnknownToolError: there is no such tool.
        ToolgenError: as `disable_tool`.
    """
    async with _with_tool(project, tool) as runtime:
        print(printable(f"enabled {await runtime.enable_tool(tool)}"))
    return 0


async def list_tools(project: Project, *, only_disabled: bool) -> int:
    """Print a line for each registered tool, and for each that is disabled: who disabled it, when and why.

    Raises:
        ToolgenError: as `disable_tool`, where only disabled ones are wanted.
    """
    async with _loaded(project) as runtime:
        disabled: dict[str, DisabledTool] = {}
        if only_disabled or runtime.disabled is not None:
            disabled = {one.tool: one for one in await runtime.disabled_tools()}
        registered = [] if only_disabled else [spec.id for spec in runtime.list_tools()]
        for tool in dict.fromkeys([*registered, *disabled]):
            print(printable(_line(disabled[tool]) if tool in disabled else tool))
    if only_disabled and not disabled:
        print("no tool is disabled", file=sys.stderr)
    return 0


def _line(one: DisabledTool) -> str:
    since = datetime.fromtimestamp(one.since, UTC).isoformat(timespec="seconds")
    parts = (one.tool, "disabled", since, f"by {one.by}" if one.by else "", one.reason)
    return "  ".join(part for part in parts if part)


@asynccontextmanager
async def _loaded(project: Project) -> AsyncIterator[Runtime]:
    """Yield the runtime, which is not opened, and close it.

    Raises:
        ToolgenError: what it keeps is of this process alone.
    """
    runtime = await load_runtime(project)
    if runtime.disabled is not None and isinstance(runtime.disabled.store, MemoryStateStore):
        raise ToolgenError(
            "the configured runtime keeps in memory which tools are disabled, so no other process sees it",
            hint='share a store: DisabledTools(SqliteStateStore("state.db"))',
        )
    runtime.be_client()
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
