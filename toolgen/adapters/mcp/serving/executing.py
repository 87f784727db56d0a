"""The number of calls that a server executes now, including calls whose connection was closed."""

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
"""Key of an ASGI scope: the `CallSlot` of the call that its request is."""


@dataclass(frozen=True, slots=True, eq=False)
class Returning:
    """A call that was executed, has left its slot, and is to go on."""

    owner: str | None
    is_full: Callable[[], bool]
    """Returns whether there is no room for a call of this owner."""
    has_turn: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether it is counted again."""


class ExecutingCalls:
    """Counts the calls of one server.

    Open requests do not say it: through 2025-11-25 a client that is gone has not cancelled its call (MCP,
    Transports, Sending Messages).
    """

    def __init__(self) -> None:
        self.count = 0
        """Those that are executed; of the others a client is asked something."""
        self._of_owner: Counter[str] = Counter()
        self._open = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._returning: dict[Returning, None] = {}

    def count_of(self, owner: str) -> int:
        """Return how many of them are of one owner, as `owner_of` names it."""
        return self._of_owner[owner]

    @contextmanager
    def counted(self, owner: str | None) -> Iterator[None]:
        """Count a call while the context lasts; the owner is None where nobody is verified."""
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
        """Count so many more calls that are executed; where there are fewer, those that return come first."""
        self.count += number
        if owner is not None:
            self._of_owner[owner] += number
            self._of_owner += Counter()  # which keeps no zeros
        if number < 0:
            for returning in tuple(self._returning):
                if not returning.is_full():
                    self.count_again(returning)

    async def turn_of(self, returning: Returning) -> None:
        """Wait until there is room for a call that was executed before, in the order in which they ask."""
        if returning.is_full():
            self._returning[returning] = None
            await returning.has_turn.wait()
        else:
            self.count_again(returning)

    def count_again(self, returning: Returning) -> None:
        """Count a call that was executed before, whether there is room or not; once more does nothing."""
        self._returning.pop(returning, None)
        if not returning.has_turn.is_set():
            returning.has_turn.set()
            self.add(returning.owner, 1)

    async def ended(self) -> None:
        """Wait until there is no call, executed or not."""
        await self._is_idle.wait()


class CallSlot:
    """The slot of one call among those that are executed, from its request to the end of both."""

    def __init__(self, calls: ExecutingCalls, owner: str | None, is_full: Callable[[], bool]) -> None:
        """Take what says whether a call whose client was asked has to wait for its slot."""
        self._calls = calls
        self._owner = owner
        self._is_full = is_full
        self._holders = 0
        self._counted = ExitStack()
        self.has_client = True
        """Whether its request is open, so that somebody hears of its result."""
        self._asking: set[anyio.CancelScope] = set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the slot while the context lasts."""
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
        """End what its client is asked, and its wait for a slot: nobody hears of what becomes of the call."""
        self.has_client = False
        for scope in tuple(self._asking):
            scope.cancel()

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Leave the slot to others while the client is asked; the context ends early with the client.

        After it the call has a slot again, before any call that had none yet.
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
    """Return the slot of the call that a request is; over HTTP the request has it already."""
    slot = scope_of(ctx).get(SLOT)
    return slot if isinstance(slot, CallSlot) else CallSlot(calls, verified_owner(ctx), lambda: False)


class CallsAtOnce:
    """Refuses calls beyond so many at once if a connection has no other limit; middleware of the SDK."""

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
            text = f"too many concurrent calls ({self._most} running); try again later"
            raise MCPError(INTERNAL_ERROR, text)
        with self._requests.counted(None):
            return await call_next(ctx)
