"""The connections to one server: calls of one identity with the same credentials share one."""

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
"""Seconds before the second attempt to connect again; they double."""
_RECONNECTS: Final = 3
"""Attempts to connect again, of a server that was connected before."""

log = logger("toolgen.mcp")


@dataclass(slots=True, kw_only=True)
class _Slot:
    """What calls of one identity share."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: ServerConnection | None = None
    was_connected: bool = False
    is_closed: bool = False
    """Whether the pool is closed, so that waiting calls get no connection."""
    users: int = 0
    used_at: float = 0.0


class Pool:
    """Opens connections at their first use, again when they are lost, and closes those that are idle."""

    def __init__(
        self,
        name: str,
        make: Callable[[Credentials], ServerConnection],
        *,
        idle_s: float,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """Hold no connection; `clock` and `sleep` count seconds."""
        self._name = name
        self._make = make
        self._idle_s = idle_s
        self._clock = clock
        self._sleep = sleep
        self._slots: dict[str, _Slot] = {}
        self._closing: set[ServerConnection] = set()
        """Idle ones whose processes may not be gone yet."""
        self._sweeper: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to close what is idle."""
        self._sweeper = asyncio.create_task(self._sweep_often(), name=f"mcp {self._name} idle")

    async def close(self) -> None:
        """Close all connections, used or not, and wait until their processes are gone.

        They end even where the caller is cancelled, and does not wait for it.
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
        """Yield the connection of a key, which stays open meanwhile.

        Raises:
            ToolgenError: the toolset is not open.
            MCPServerError: the server cannot be connected.
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
        """Close the connections that nobody has used for the idle time."""
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
                await slot.connection.open()  # whoever opened it first may have been cancelled meanwhile
            return slot.connection

    async def _connect(self, slot: _Slot, credentials: Credentials) -> ServerConnection:
        """Return an open connection; one that was lost is tried again after pauses.

        Raises:
            MCPServerError: it cannot be opened.
        """
        if (lost := slot.connection) is not None:
            slot.connection = None
            await lost.close()
        pause = _FIRST_PAUSE_S
        attempts = _RECONNECTS if slot.was_connected else 1
        while True:
            if slot.is_closed:
                raise MCPServerError(f"the MCP toolset {self._name!r} was closed")
            # In its place before it is open, so that whoever closes the pool closes it too.
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
