"""Pinned tools: tools of a server without a lock that must stay as they were first listed."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import mcp_types as types

from toolgen.contract.logs import logger

from .errors import MCPServerError, shortened
from .listing import pin_of

OnChange: TypeAlias = Literal["drop", "refuse", "accept"]
"""Policy for a pinned tool that changed: leave the tool out, refuse the list, or accept the change."""

_MOST_PINNED: Final = 10_000
"""Maximum number of pinned tool names; further tools are left out."""

log = logger("toolgen.mcp")


class Pins:
    """Tools of one server as they were first listed, for all identities."""

    def __init__(self, server: str, on_change: OnChange) -> None:
        """Create an empty set of pins; `server` names the server in errors."""
        self._server = server
        self._on_change: OnChange = on_change
        self._digests: dict[str, str] = {}

    def of(self, tool: str) -> str:
        """Return the pin that a call compares; "" if the tool may change."""
        return "" if self._on_change == "accept" else self._digests[tool]

    def changed(self, tool: types.Tool) -> str:
        """Return why a tool is left out, "" if it is not; pin a new tool.

        Raises:
            MCPServerError: The tool changed, and `on_change` is `refuse`.
        """
        digest = pin_of(tool)
        if tool.name not in self._digests and len(self._digests) >= _MOST_PINNED:
            return f"{_MOST_PINNED} other tools of the server are already pinned, which is the maximum"
        if self._digests.setdefault(tool.name, digest) == digest:
            return ""
        what = f"the MCP server {self._server!r} changed the pinned tool {shortened(tool.name)!r}"
        if self._on_change == "refuse":
            raise MCPServerError(what)
        if self._on_change == "accept":
            log.warning("%s; the change is accepted", what)
            self._digests[tool.name] = digest
            return ""
        return "it is pinned, and its server changed it after the first listing"
