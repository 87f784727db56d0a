"""Lists of workflows, those that began last first; pages are read when they are needed.

A server lists what runs before what has ended: the first by its start and the second by its end, the latest
first (Temporal, List Filter, default ordering). Nothing ends before it begins, so what has been read tells
how late the rest may have begun.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import count
from typing import Final

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionAsyncIterator

from .failures import of_server

RUNNING: Final = "ExecutionStatus = 'Running'"
ENDED: Final = "ExecutionStatus != 'Running'"
PAGE: Final = 1_000
"""The most workflows of a page, by the default of the server."""


async def newest_first(
    client: Client, query: str, statuses: Sequence[str], *, expected: int = PAGE
) -> AsyncIterator[str]:
    """Yield the ids of workflows, the newest first.

    Args:
        client: Of the server.
        query: Which workflows, as a list filter.
        statuses: List filters; each finds only workflows that run, or only ones that have ended.
        expected: How many ids are used, most likely; the size of a page.

    Raises:
        EngineError: the server cannot be reached.
    """
    size = max(1, min(expected, PAGE))
    parts = [_Part(client.list_workflows(f"{query} AND {status}", page_size=size)) for status in statuses]
    seen: set[str] = set()
    while True:
        found = [(head.start_time, part) for part in parts if (head := await part.head()) is not None]
        if not found:
            return
        _, part = max(found, key=lambda one: one[0])
        id_ = part.take().id
        if id_ not in seen:  # what ends meanwhile is in both parts
            seen.add(id_)
            yield id_


class _Part:
    """The workflows of one status."""

    def __init__(self, pages: WorkflowExecutionAsyncIterator) -> None:
        self._pages = pages
        self._numbers = count()
        self._read: list[tuple[float, int, WorkflowExecution]] = []
        """A heap, the newest first."""
        self._latest: datetime | None = None
        """No workflow on the pages that were not read began later; None before the first page."""
        self._is_at_end = False

    async def head(self) -> WorkflowExecution | None:
        """Return the newest one that was not taken; None at the end."""
        while not self._is_at_end and not self._knows_newest():
            with of_server():
                await self._pages.fetch_next_page()
            for one in self._pages.current_page or ():
                heapq.heappush(self._read, (-one.start_time.timestamp(), next(self._numbers), one))
                self._latest = one.close_time or one.start_time
            self._is_at_end = self._pages.next_page_token is None
        return self._read[0][2] if self._read else None

    def take(self) -> WorkflowExecution:
        """Return the newest one, and go on to the next."""
        return heapq.heappop(self._read)[2]

    def _knows_newest(self) -> bool:
        return bool(self._read) and self._latest is not None and self._read[0][2].start_time >= self._latest
