"""`notifications/tools/list_changed`: who is told that the tools are others than those that it listed.

A connection through 2025-11-25 is told on its own channel. Since 2026-07-28 there is none, and those are told
who listen by `subscriptions/listen`.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final
from weakref import WeakKeyDictionary

from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

from .identity import Context, is_modern
from .listing import ListedTool

_MOST_SESSIONS: Final = 10_000
"""Whose list is remembered, of those without a connection."""


class ListChanges:
    """Remembers what each client of one server has listed."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._of_connections: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
        self._of_sessions: OrderedDict[str, str] = OrderedDict()

    def listed(self, ctx: Context, session_id: str, tools: Iterable[ListedTool]) -> None:
        """Remember what a client has listed."""
        if not is_modern(ctx):
            self._of_connections[_connection(ctx)] = _digest(tools)
            return
        self._of_sessions[session_id] = _digest(tools)
        self._of_sessions.move_to_end(session_id)
        while len(self._of_sessions) > _MOST_SESSIONS:
            self._of_sessions.popitem(last=False)

    def has_listed(self, ctx: Context, session_id: str) -> bool:
        """Return whether a client has listed, and was not told since that its list is old."""
        return session_id in self._of_sessions if is_modern(ctx) else _connection(ctx) in self._of_connections

    async def compare(self, ctx: Context, session_id: str, tools: Iterable[ListedTool]) -> None:
        """Tell a client whose last list was another one, once until it lists again."""
        if not self.has_listed(ctx, session_id):
            return
        now = _digest(tools)
        if not is_modern(ctx):
            if self._of_connections[_connection(ctx)] != now:
                del self._of_connections[_connection(ctx)]
                await ctx.session.send_tool_list_changed()
        elif self._of_sessions[session_id] != now:
            del self._of_sessions[session_id]
            await self.bus.publish(ToolsListChanged())

    async def announce(self) -> None:
        """Tell every client that has listed tools, or listens, that they may have changed."""
        for connection in list(self._of_connections):
            await connection.send_tool_list_changed()
        await self.bus.publish(ToolsListChanged())


def _connection(ctx: Context) -> Connection:
    """Return the connection of a request.

    The SDK offers it to handlers under no public name; by nothing else can one connection be told from
    another, or be told of something while it asks for nothing.
    """
    return ctx.session._connection


def _digest(tools: Iterable[ListedTool]) -> str:
    return hashlib.sha256("".join(tool.digest for tool in tools).encode()).hexdigest()
