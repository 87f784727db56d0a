"""How many calls of a server are executed now, whatever became of the connections that brought them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp.types import INTERNAL_ERROR

from .identity import Context


class ExecutingCalls:
    """Counts the calls of one server.

    Open requests do not say it: through 2025-11-25 a client that is gone has not cancelled its call (MCP,
    Transports, Sending Messages).
    """

    def __init__(self) -> None:
        self.count = 0
        self._of_owner: Counter[str] = Counter()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def count_of(self, owner: str) -> int:
        """Return how many of them are of one owner, as `owner_of` names it."""
        return self._of_owner[owner]

    @contextmanager
    def counted(self, owner: str | None) -> Iterator[None]:
        """Count a call while the context lasts; the owner is None where nobody is verified."""
        owners = () if owner is None else (owner,)
        self.count += 1
        self._of_owner.update(owners)
        self._is_idle.clear()
        try:
            yield
        finally:
            self.count -= 1
            self._of_owner -= Counter(owners)  # which keeps no zeros
            if not self.count:
                self._is_idle.set()

    async def ended(self) -> None:
        """Wait until no call is executed."""
        await self._is_idle.wait()


class CallsAtOnce:
    """Refuses calls beyond so many at once, on a connection that has no other gate; middleware of the SDK."""

    def __init__(self, executing: ExecutingCalls, most: int) -> None:
        self._executing = executing
        self._most = most
        self._requests = ExecutingCalls()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Return the result of a request.

        Raises:
            MCPError: it is a call, and too many are executed.
        """
        if ctx.method != "tools/call":
            return await call_next(ctx)
        if max(self._requests.count, self._executing.count) >= self._most:
            text = f"{self._most} calls are executed already; call again later"
            raise MCPError(INTERNAL_ERROR, text)
        with self._requests.counted(None):
            return await call_next(ctx)
