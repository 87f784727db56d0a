"""Lists of workflows, newest first; pages are read on demand.

A server lists running workflows before ended ones. Running workflows are ordered by start and ended ones by
end, latest first (Temporal, List Filter, default ordering). A workflow never ends before it starts, so the
pages already read bound the start times of the remaining workflows.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Final

from temporalio.client import Client, WorkflowExecutionAsyncIterator

from .documents import SESSION, WORKFLOW, attribute
from .failures import of_server

RUNNING: Final = "ExecutionStatus = 'Running'"
ENDED: Final = "ExecutionStatus != 'Running'"
PAGE: Final = 1_000
"""Maximum number of workflows in a page, the default of the server."""
_SHORTEST: Final = timedelta(milliseconds=1)
"""Smallest difference of times that a list filter distinguishes reliably; the server's times are more
precise.
"""


def runs_query(prefix: str, session: str | None) -> str:
    """Return the list filter for the runs of an engine, or of one session."""
    query = f"WorkflowType = '{WORKFLOW}'"
    if session is not None:
        query += f" AND {SESSION} = {_quoted(attribute(session))}"
    return f"{query} AND WorkflowId STARTS_WITH {_quoted(prefix)}" if prefix else query


async def newest_first(
    client: Client,
    query: str,
    statuses: Sequence[str],
    *,
    after: tuple[datetime, str] | None = None,
    expected: int = PAGE,
) -> AsyncIterator[str]:
    """Yield the ids of workflows, newest first; workflows with the same start time are ordered by id.

    Args:
        client: Client of the server.
        query: List filter that selects the workflows.
        statuses: List filters; each matches only running or only ended workflows.
        after: Start time and id of a workflow; yield only the workflows that follow it.
        expected: Number of ids that the caller probably uses; the page size.

    Raises:
        EngineError: the server cannot be reached.
    """
    size, last = max(1, min(expected, PAGE)), (-inf, "")
    if after is not None:
        last = -after[0].timestamp(), after[1]
        query += f" AND StartTime < '{after[0] + _SHORTEST:%Y-%m-%dT%H:%M:%S.%fZ}'"
    parts = [_Part(client.list_workflows(f"{query} AND {status}", page_size=size)) for status in statuses]
    seen: set[str] = set()
    while True:
        heads = [(head, part) for part in parts if (head := await part.head()) is not None]
        if not heads:
            return
        place, part = min(heads, key=lambda head: head[0])
        id_ = part.take()
        if id_ not in seen and place > last:  # a workflow that ends meanwhile is in both parts
            seen.add(id_)
            yield id_


async def oldest_first(client: Client, query: str) -> AsyncIterator[str]:
    """Yield the ids of running workflows, oldest first, although the server lists the newest first.

    Raises:
        EngineError: the server cannot be reached.
    """
    with of_server():
        listed = client.list_workflows(f"{query} AND {RUNNING}", page_size=PAGE)
        ids = [workflow.id async for workflow in listed]
    for id_ in reversed(ids):
        yield id_


class _Part:
    """Workflows of one status."""

    def __init__(self, pages: WorkflowExecutionAsyncIterator) -> None:
        self._pages = pages
        self._read: list[tuple[float, str]] = []
        """Heap of negative start times and ids, newest first."""
        self._latest = inf
        """Latest possible start of the workflows on unread pages, in seconds since 1970."""
        self._is_at_end = False

    async def head(self) -> tuple[float, str] | None:
        """Return the negative start time and the id of the newest remaining workflow; None at the end."""
        while not self._is_at_end and not self._knows_newest():
            with of_server():
                await self._pages.fetch_next_page()
            for workflow in self._pages.current_page or ():
                heapq.heappush(self._read, (-workflow.start_time.timestamp(), workflow.id))
                self._latest = (workflow.close_time or workflow.start_time).timestamp()
            self._is_at_end = self._pages.next_page_token is None
        return self._read[0] if self._read else None

    def take(self) -> str:
        """Remove the newest remaining workflow, and return its id."""
        return heapq.heappop(self._read)[1]

    def _knows_newest(self) -> bool:
        return bool(self._read) and -self._read[0][0] >= self._latest


async def first(ids: AsyncIterator[str], most: int) -> AsyncIterator[str]:
    """Yield the next ids, at most this many."""
    for _ in range(most):
        try:
            yield await anext(ids)
        except StopAsyncIteration:
            return


def _quoted(text: str) -> str:
    """Return a text as a literal of a list filter."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
