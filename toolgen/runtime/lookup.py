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
    if found := registered.by_name.get(name):
        return found.spec.id
    listed = await asyncio.gather(*(listing() for listing in listings), return_exceptions=True)
    tools = {tool.spec.id: tool for tool in registered.tools}
    for one in listed:
        if isinstance(one, Snapshot):
            tools |= {tool.spec.id: tool for tool in one.directory.tools if tool.spec.id not in tools}
    known = Directory(tools.values())
    if found := known.by_name.get(name):
        return found.spec.id
    for one in listed:
        if isinstance(one, BaseException):
            raise one
    raise UnknownToolError(known.unknown_tool_message(name))
