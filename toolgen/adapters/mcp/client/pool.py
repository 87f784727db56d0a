"""Pool of connections to one server: calls of one identity with the same credentials share a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger

from .connection import ServerConnection
from .errors import MCPServerError
from .servers import Credentials

_FIRST_PAUSE_S: Final = 0.5
"""Seconds before the second attempt to reconnect; each further pause is doubled."""
_RECONNECTS: Final = 3
"""Maximum number of attempts to reconnect to a server that was connected before."""

log = logger("toolgen.mcp")


@dataclass(slots=True, kw_only=True)
class _Slot:
    """Connection state shared by the calls of one identity."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: ServerConnection | None = None
    was_connected: bool = False
    is_closed: bool = False
    """Whether the pool is closed, so that pending calls get no connection."""
    users: int = 0
    used_at: float = 0.0


class Pool:
    """Opens connections on first use, reopens lost ones, and closes idle ones."""

    def __init__(
        self,
        name: str,
        make: Callable[[Credentials], ServerConnection],
        *,
        idle_s: float,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """Create an empty pool; `clock` and `sleep` use seconds."""
        self._name = name
        self._make = make
        self._idle_s = idle_s
        self._clock = clock
        self._sleep = sleep
        self._slots: dict[str, _Slot] = {}
        self._closing: set[ServerConnection] = set()
        """Idle connections whose processes might not have ended yet."""
        self._sweeper: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start to close idle connections."""
        self._sweeper = asyncio.create_task(self._sweep_often(), name=f"mcp {self._name} idle")

    async def close(self) -> None:
        """Close all connections, including used ones, and wait until their processes have ended.

        The connections end even if the caller is cancelled while it waits.
        """
        sweeper, self._sweeper = self._sweeper, None
        slots, self._slots = self._slots, {}
        closing = set(self._closing)
        for slot in slots.values():
            slot.is_closed = True
            if slot.connection is not None:
                closing.add(slot.connection)
        for connection in closing:
            connection.end()
        if sweeper is not None:
            sweeper.cancel()
            await asyncio.wait({sweeper})
        await asyncio.gather(*(connection.close() for connection in closing))

    @asynccontextmanager
    async def lease(self, key: str, credentials: Credentials) -> AsyncIterator[ServerConnection]:
        """Yield the connection of a key, which stays open for the duration of the context.

        Raises:
            ToolgenError: The toolset is not open.
            MCPServerError: The connection to the server failed.
        """
        if self._sweeper is None:
            raise ToolgenError(
                f"the MCP toolset {self._name!r} is not open",
                hint="use it inside `async with toolset:`; a runtime opens the toolsets that are registered "
                "with it",
            )
        slot = self._slots.setdefault(key, _Slot())
        slot.users += 1
        try:
            yield await self._connection(slot, credentials)
        finally:
            slot.users -= 1
            slot.used_at = self._clock()

    async def sweep(self) -> None:
        """Close the connections that were unused for the idle time."""
        now = self._clock()
        idle = [
            key for key, slot in self._slots.items() if not slot.users and now - slot.used_at >= self._idle_s
        ]
        slots = [self._slots.pop(key) for key in idle]
        closing = [slot.connection for slot in slots if slot.connection is not None]
        self._closing.update(closing)
        await asyncio.gather(*(connection.close() for connection in closing))
        self._closing.difference_update(closing)

    async def _sweep_often(self) -> None:
        while True:
            await self._sleep(self._idle_s / 2)
            await self.sweep()

    async def _connection(self, slot: _Slot, credentials: Credentials) -> ServerConnection:
        async with slot.lock:
            if slot.connection is None or slot.connection.is_lost:
                slot.connection = await self._connect(slot, credentials)
            else:
                await slot.connection.open()  # the caller that opened it might have been cancelled
            return slot.connection

    async def _connect(self, slot: _Slot, credentials: Credentials) -> ServerConnection:
        """Return an open connection; a lost connection is retried with pauses.

        Raises:
            MCPServerError: The connection cannot be opened.
        """
        if (lost := slot.connection) is not None:
            slot.connection = None
            await lost.close()
        pause = _FIRST_PAUSE_S
        attempts = _RECONNECTS if slot.was_connected else 1
        while True:
            if slot.is_closed:
                raise MCPServerError(f"the MCP toolset {self._name!r} was closed")
            # Stored before it is open, so that closing the pool closes it too.
            connection = slot.connection = self._make(credentials)
            try:
                await connection.open()
            except MCPServerError:
                attempts -= 1
                if not attempts or slot.is_closed:
                    raise
                await self._sleep(pause)
                pause *= 2
                continue
            if slot.was_connected:
                log.info("the MCP server %r is connected again", self._name)
            slot.was_connected = True
            return connection
