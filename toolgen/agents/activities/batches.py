"""Calls of one batch that run in this process: they share values and are settled together.

A call that changed shared state ends when its siblings have ended, so that all changes to the same state are
merged in the order of the calls. The other calls end at once.

A batch is over when no call is running and none is about to begin: an engine starts some of the calls in each
iteration of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from toolgen.calls.context import Batch, ToolContext, Values
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.engines import ActivityInfo

_TURNS: Final = 2
"""Event loop iterations to wait for calls that are ready to begin, before the batch is considered over."""


class BatchCalls:
    """The calls of one batch that run in this process."""

    def __init__(
        self, batch: Batch, *, is_followed: Callable[[], bool], on_close: Callable[[], None]
    ) -> None:
        """Construct the calls of a batch.

        Args:
            batch: Values and state that the calls share.
            is_followed: Whether more calls may be about to begin, as `ActivityInfo.is_followed`.
            on_close: Called when the batch is over; a call that begins later joins another batch.
        """
        self.batch = batch
        self._is_followed = is_followed
        self._on_close = on_close
        self.running = set[int]()
        """Positions of the calls that have no result yet."""
        self._results: dict[int, ToolResult] = {}
        self._waiting: dict[int, asyncio.Future[None]] = {}
        """Calls that wait until the batch is settled, by position."""
        self._settling: asyncio.Task[None] | None = None
        self._emptied = 0
        """Number of times that the set of running calls became empty."""

    async def result(self, context: ToolContext, result: ToolResult) -> ToolResult:
        """Record the result of a call; return it with the tool's actions once the batch is settled."""
        place = context.place
        waits = any(touched is context for touched in self.batch.touched)
        self._results[place] = result
        self.running.remove(place)
        self._close_when_idle()
        if waits:
            self._waiting[place] = asyncio.get_running_loop().create_future()
            try:
                await self._waiting[place]
            except asyncio.CancelledError:
                self._results.pop(place)  # the call timed out, so its changes are discarded
                raise
        return self._results[place]

    def leave(self, place: int) -> None:
        """End a call of the batch; a cancelled one has no result."""
        if place in self.running:
            self.running.remove(place)
            self._close_when_idle()

    def _close_when_idle(self) -> None:
        if not self.running:
            self._emptied += 1
            asyncio.get_running_loop().call_soon(self._close_if_idle, self._emptied, _TURNS)

    def _close_if_idle(self, emptied: int, turns: int) -> None:
        """Close the batch unless a call has begun since the batch became empty for the `emptied`-th time."""
        if self.running or emptied != self._emptied:
            return
        if self._is_followed():
            turns = _TURNS + 1
        if turns:
            asyncio.get_running_loop().call_soon(self._close_if_idle, emptied, turns - 1)
            return
        self._on_close()
        if self.batch.touched:
            self._settling = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        """Merge the changes of the calls that have a result; discard the changes of cancelled calls."""
        batch, pending = self.batch, self._results
        batch.touched = [context for context in batch.touched if context.place in pending]
        try:
            if batch.touched:
                some = next(iter(pending.values()))
                results = [pending.get(place, some) for place in range(max(pending) + 1)]
                settled = await batch.settle(results)
                self._results = {place: settled[place] for place in pending}
        finally:
            for _, future in sorted(self._waiting.items()):
                if not future.done():
                    future.set_result(None)


class Batches:
    """The batches that are currently running."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], BatchCalls] = {}

    @contextmanager
    def enter(
        self, info: ActivityInfo, step: int, place: int, services: RuntimeServices, values: Values
    ) -> Iterator[BatchCalls]:
        """Yield the batch of a step with the call at this position running; remove the call at the end."""
        key = info.run_id, step
        siblings = self._running.get(key)
        if siblings is None:
            batch = Batch(services.capabilities, values)
            siblings = self._running[key] = BatchCalls(
                batch, is_followed=info.is_followed, on_close=partial(self._running.__delitem__, key)
            )
        siblings.running.add(place)
        try:
            yield siblings
        finally:
            siblings.leave(place)
