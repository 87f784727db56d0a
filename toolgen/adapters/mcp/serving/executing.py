"""How many calls of a server are executed now, whatever became of the connections that brought them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ExecutingCalls:
    """Counts the calls of one server.

    Open requests do not say it: through 2025-11-25 a client that is gone has not cancelled its call (MCP,
    Transports, Sending Messages).
    """

    def __init__(self) -> None:
        self.count = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call while the context lasts."""
        self.count += 1
        self._is_idle.clear()
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                self._is_idle.set()

    async def ended(self) -> None:
        """Wait until no call is executed."""
        await self._is_idle.wait()
