"""Toolsets of servers of the Model Context Protocol, by what the servers have listed."""

from __future__ import annotations

from typing import Final

from .clause import Clause


class MCPToolset(Clause):
    """The tools of an MCP server, as `toolgen import mcp` has locked them in a file beside the design.

    Example: `MCPToolset("git", lock="git.mcp.json")`
    """

    name: Final[str]
    lock: Final[str]
    """Path of the lock, from the folder of the design's file."""
    title: Final[str | None]
    prefix: Final[str]

    def __init__(self, name: str, *, lock: str, title: str | None = None, prefix: str = "") -> None:
        super().__init__()
        self.name = name
        self.lock = lock
        self.title = title
        self.prefix = prefix
