"""Calls of one batch that run in this process: they share values, and are settled together.

A call that changed shared state ends when its siblings have ended, so that what they did to the same state
is merged in the order of the calls. The others end at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from ..batch import Batch
from ..context import ToolContext, Values
from ..failures import log
from ..host import Host
from ..reports import Reports
from ..results import ToolResult


class Siblings:
    """The calls of one batch."""

    def __init__(self, batch: Batch, reports: Reports) -> None:
        self.batch = batch
        self.entered = 0
        self.left = 0
        self._ended = 0
        self._reports = reports
        self._results: dict[int, ToolResult] = {}
        self._settled = asyncio.Event()
        self._late: asyncio.Task[None] | None = None

    async def result(self, context: ToolContext, result: ToolResult) -> ToolResult:
        """Return the result, with what the tool asked of its agent."""
        place = context.place
        waits = any(touched is context for touched in self.batch.touched)
        self._results[place] = result
        self._ended += 1
        if self._ended == self.entered:
            await self._settle()
        if waits:
            await self._settled.wait()
        return self._results[place]

    def leave(self) -> None:
        """Take that a call is over; one that was cancelled has no result, and its siblings still end."""
        self.left += 1
        if self._ended < self.left:
            self._ended = self.left
            if self._ended == self.entered:
                self._late = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        try:
            if self.batch.touched:
                some = next(iter(self._results.values()))
                results = [self._results.get(place, some) for place in range(max(self._results) + 1)]
                settled = await self.batch.settle(results, self._reports)
                self._results |= {place: settled[place] for place in self._results}
        except Exception:
            log.exception("a capability did not keep what %d calls did", len(self._results))
        finally:
            self._settled.set()


class Batches:
    """The batches that run now."""

    def __init__(self) -> None:
        self._running: dict[str, Siblings] = {}

    @contextmanager
    def enter(self, key: str, host: Host, values: Values) -> Iterator[Siblings]:
        """Be one of the calls of a batch."""
        siblings = self._running.get(key)
        if siblings is None:
            siblings = self._running[key] = Siblings(Batch(host.capabilities, values), host.reports)
        siblings.entered += 1
        try:
            yield siblings
        finally:
            siblings.leave()
            if siblings.left == siblings.entered:
                self._running.pop(key, None)
