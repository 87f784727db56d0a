"""Counter of the calls that a server executes now, including calls whose connection was closed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp.types import INTERNAL_ERROR

from .identity import Context, scope_of, verified_owner

SLOT: Final = "toolgen.slot"
"""Key in an ASGI scope for the `CallSlot` of the request's call."""


@dataclass(frozen=True, slots=True, eq=False)
class Returning:
    """Call that released its slot after execution, and is about to resume."""

    owner: str | None
    is_full: Callable[[], bool]
    """Returns whether the limit is reached for a call of this owner."""
    has_turn: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the call is counted again."""


class ExecutingCalls:
    """Counter of the calls of one server.

    Open requests are not sufficient: through 2025-11-25 a client that disconnects does not cancel its call
    (MCP, Transports, Sending Messages).
    """

    def __init__(self) -> None:
        self.count = 0
        """Number of calls that are executed now, without calls whose client is being asked."""
        self._of_owner: Counter[str] = Counter()
        self._open = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._returning: dict[Returning, None] = {}

    def count_of(self, owner: str) -> int:
        """Return the number of executed calls of one owner, as identified by `owner_of`."""
        return self._of_owner[owner]

    @contextmanager
    def counted(self, owner: str | None) -> Iterator[None]:
        """Count a call for the duration of the context; the owner is None if nobody is verified."""
        self._open += 1
        self._is_idle.clear()
        self.add(owner, 1)
        try:
            yield
        finally:
            self.add(owner, -1)
            self._open -= 1
            if not self._open:
                self._is_idle.set()

    def add(self, owner: str | None, number: int) -> None:
        """Change the number of executed calls; if it decreases, resume returning calls first."""
        self.count += number
        if owner is not None:
            self._of_owner[owner] += number
            self._of_owner += Counter()  # removes zeros
        if number < 0:
            for returning in tuple(self._returning):
                if not returning.is_full():
                    self.count_again(returning)

    async def turn_of(self, returning: Returning) -> None:
        """Wait until a returning call can resume; calls resume in the order of their requests."""
        if returning.is_full():
            self._returning[returning] = None
            await returning.has_turn.wait()
        else:
            self.count_again(returning)

    def count_again(self, returning: Returning) -> None:
        """Count a returning call, even beyond the limit; repeated calls have no effect."""
        self._returning.pop(returning, None)
        if not returning.has_turn.is_set():
            returning.has_turn.set()
            self.add(returning.owner, 1)

    async def ended(self) -> None:
        """Wait until no call is open, whether it is executed or its client is being asked."""
        await self._is_idle.wait()


class CallSlot:
    """Slot of one call among the executed calls; it lasts until both the request and the call have ended."""

    def __init__(self, calls: ExecutingCalls, owner: str | None, is_full: Callable[[], bool]) -> None:
        """Store a function that returns whether a call must wait for its slot after its client was asked."""
        self._calls = calls
        self._owner = owner
        self._is_full = is_full
        self._holders = 0
        self._counted = ExitStack()
        self.has_client = True
        """Whether the request is open, so that its client receives the result."""
        self._asking: set[anyio.CancelScope] = set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the slot for the duration of the context."""
        if not self._holders:
            self._counted.enter_context(self._calls.counted(self._owner))
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._counted.close()

    def end_client(self) -> None:
        """End the client's question and the wait for a slot, because the client has disconnected."""
        self.has_client = False
        for scope in tuple(self._asking):
            scope.cancel()

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Release the slot while the client is asked; the context ends early if the client disconnects.

        Afterwards the call gets a slot again, before any new call.
        """
        returning = Returning(self._owner, self._is_full)
        self._calls.add(self._owner, -1)
        try:
            with self._ended_with_client():
                yield
            with self._ended_with_client():
                await self._calls.turn_of(returning)
        finally:
            self._calls.count_again(returning)

    @contextmanager
    def _ended_with_client(self) -> Iterator[None]:
        with anyio.CancelScope() as scope:
            self._asking.add(scope)
            try:
                if not self.has_client:
                    scope.cancel()
                yield
            finally:
                self._asking.discard(scope)


def slot_of(ctx: Context, calls: ExecutingCalls) -> CallSlot:
    """Return the slot of a request's call; over HTTP the request already has it."""
    slot = scope_of(ctx).get(SLOT)
    return slot if isinstance(slot, CallSlot) else CallSlot(calls, verified_owner(ctx), lambda: False)


class CallsAtOnce:
    """SDK middleware that limits concurrent calls if a connection has no other limit."""

    def __init__(self, executing: ExecutingCalls, most: int) -> None:
        self._executing = executing
        self._most = most
        self._requests = ExecutingCalls()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Return the result of a request.

        Raises:
            MCPError: The request is a call, and too many calls are executed.
        """
        if ctx.method != "tools/call":
            return await call_next(ctx)
        if max(self._requests.count, self._executing.count) >= self._most:
            text = f"too many concurrent calls ({self._most} running); try again later"
            raise MCPError(INTERNAL_ERROR, text)
        with self._requests.counted(None):
            return await call_next(ctx)
