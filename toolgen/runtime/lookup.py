"""Finds a tool by its name among all that a runtime may call, dynamic toolsets included."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from toolgen.calls.errors import UnknownToolError
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.snapshot import Snapshot

Listing: TypeAlias = Callable[[], Awaitable[Snapshot]]
"""Lists tools as they are now."""


async def id_of_tool(name: str, registered: Directory, listings: Sequence[Listing]) -> str:
    """Return the id of a tool, by its id or by a wire name that one tool has; registered ones come first.

    Raises:
        UnknownToolError: no tool, or more than one, has the name; with close names.
        SnapshotError: no tool that could be listed has it, and a toolset cannot list its tools.
    """
    if tool := registered.by_name.get(name):
        return tool.spec.id
    snapshots = await asyncio.gather(*(listing() for listing in listings), return_exceptions=True)
    tools = {tool.spec.id: tool for tool in registered.tools}
    for snapshot in snapshots:
        if isinstance(snapshot, Snapshot):
            tools |= {tool.spec.id: tool for tool in snapshot.directory.tools if tool.spec.id not in tools}
    directory = Directory(tools.values())
    if tool := directory.by_name.get(name):
        return tool.spec.id
    for error in snapshots:
        if isinstance(error, BaseException):
            raise error
    raise UnknownToolError(directory.unknown_tool_message(name))
