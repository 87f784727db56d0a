"""Toolsets of servers of the Model Context Protocol, by what the servers have listed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from .clause import Clause


@dataclass(frozen=True, eq=False, repr=False)
class MCPToolset(Clause):
    """The tools of an MCP server, as `toolgen import mcp` has locked them in a file beside the design.

    Example: `MCPToolset("git", lock="git.mcp.json")`
    """

    name: str
    _: KW_ONLY
    lock: str
    """Path of the lock, from the folder of the design's file."""
    title: str | None = None
    prefix: str = ""
