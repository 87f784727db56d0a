"""Calls of one batch that run in this process: they share values and are settled together.

A call that changed shared state ends when its siblings have ended, so that what they did to the same state
is merged in the order of the calls. The others end at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from toolgen.runtime.call.batch import Batch
from toolgen.runtime.call.services import RuntimeServices
from toolgen.runtime.context import ToolContext
from toolgen.runtime.events.call_reporter import CallReporter
from toolgen.runtime.results import ToolResult
from toolgen.runtime.values import Values


class BatchCalls:
    """The calls of one batch that run in this process."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.running: dict[int, CallReporter] = {}
        """The reporters of the calls without a result, by their place."""
        self.is_closed = False
        """The last of them has ended; whoever comes later is no sibling."""
        self._results: dict[int, ToolResult] = {}
        self._reports: dict[int, CallReporter] = {}
        self._settled = asyncio.Event()
        self._late: asyncio.Task[None] | None = None

    async def result(self, context: ToolContext, result: ToolResult) -> ToolResult:
        """Record the result of a call; return it with the tool's actions once the batch is settled."""
        place = context.place
        waits = any(touched is context for touched in self.batch.touched)
        self._results[place], self._reports[place] = result, self.running.pop(place)
        if not self.running:
            self.is_closed = True
            await self._settle()
        if waits:
            try:
                await self._settled.wait()
            except asyncio.CancelledError:
                self._results.pop(place)  # its time is over, so that what it did is not kept
                raise
        return self._results[place]

    def leave(self, place: int) -> None:
        """End a call of the batch; a cancelled one has no result."""
        if self.running.pop(place, None) is not None and not self.running:
            self.is_closed = True
            self._late = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        """Merge the changes of the calls that have a result; those of cancelled calls are dropped."""
        batch, found = self.batch, self._results
        batch.touched = [context for context in batch.touched if context.place in found]
        try:
            if batch.touched:
                # The first that changed something still waits, so that its events are still taken.
                reports = self._reports[min(context.place for context in batch.touched)]
                some = next(iter(found.values()))
                results = [found.get(place, some) for place in range(max(found) + 1)]
                settled = await batch.settle(results, reports)
                self._results = {place: settled[place] for place in found}
        finally:
            self._settled.set()


class Batches:
    """The batches that run now."""

    def __init__(self) -> None:
        self._running: dict[str, BatchCalls] = {}

    @contextmanager
    def enter(self, key: str, place: int, services: RuntimeServices, values: Values) -> Iterator[BatchCalls]:
        """Yield the batch with the call at this place running in it, and remove the call at the end."""
        siblings = self._running.get(key)
        if siblings is None or siblings.is_closed:
            siblings = self._running[key] = BatchCalls(Batch(services.capabilities, values))
        siblings.running[place] = services.reports
        try:
            yield siblings
        finally:
            siblings.leave(place)
            if siblings.is_closed and self._running.get(key) is siblings:
                del self._running[key]
