"""Lists of workflows, those that began last first, or first; pages are read when they are needed.

A server lists what runs before what has ended: the first by its start and the second by its end, the latest
first (Temporal, List Filter, default ordering). Nothing ends before it begins, so what has been read tells
how late the rest may have begun.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Final

from temporalio.client import Client, WorkflowExecutionAsyncIterator

from .documents import SESSION, WORKFLOW, attribute
from .failures import of_server

RUNNING: Final = "ExecutionStatus = 'Running'"
ENDED: Final = "ExecutionStatus != 'Running'"
PAGE: Final = 1_000
"""The most workflows of a page, by the default of the server."""
_FEW: Final = 100
"""Workflows that are listed about as quickly as they are counted."""
_BEFORE_ALL: Final = datetime(2019, 1, 1, tzinfo=UTC)
"""No server is as old."""
_AHEAD: Final = timedelta(days=1)
"""The most that the clock of a server may be ahead of ours."""
_SHORTEST: Final = timedelta(milliseconds=10)
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


def runs_query(prefix: str, session: str | None) -> str:
    """Return the list filter of the runs of an engine, or of those of a session."""
    query = f"WorkflowType = '{WORKFLOW}'"
    if session is not None:
        query += f" AND {SESSION} = {_quoted(attribute(session))}"
    return f"{query} AND WorkflowId STARTS_WITH {_quoted(prefix)}" if prefix else query


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
        heads = [(head, part) for part in parts if (head := await part.head()) is not None]
        if not heads:
            return
        _, part = max(heads, key=lambda head: head[0])
        id_ = part.take()
        if id_ not in seen:  # what ends meanwhile is in both parts
            seen.add(id_)
            yield id_


async def oldest_first(client: Client, query: str, *, expected: int) -> AsyncIterator[str]:
    """Yield the ids of running workflows, the oldest first.

    The server lists the newest first, and counts quickly: so the time is halved until so few began in its
    first part that these are listed, and turned around.

    Args:
        client: Of the server.
        query: Which workflows, as a list filter.
        expected: How many ids are used, most likely.

    Raises:
        EngineError: the server cannot be reached.
    """
    most = max(_FEW, min(expected, PAGE))
    after, ends = _BEFORE_ALL, [datetime.now(UTC) + _AHEAD]
    while ends:
        part = (
            f"{query} AND {RUNNING} AND StartTime >= '{after:{_TIME}}' AND StartTime < '{ends[-1]:{_TIME}}'"
        )
        with of_server():
            count = (await client.count_workflows(part)).count
        if count > most and ends[-1] - after > _SHORTEST:
            ends.append(after + (ends[-1] - after) / 2)
            continue
        with of_server():
            listed = client.list_workflows(part, page_size=PAGE)
            ids = [workflow.id async for workflow in listed] if count else []
        for id_ in reversed(ids):
            yield id_
        after = ends.pop()


class _Part:
    """The workflows of one status."""

    def __init__(self, pages: WorkflowExecutionAsyncIterator) -> None:
        self._pages = pages
        self._read: list[tuple[float, str]] = []
        """A heap of negative start times and ids, the newest first."""
        self._latest = inf
        """No workflow on the pages that were not read began later, in seconds since 1970."""
        self._is_at_end = False

    async def head(self) -> float | None:
        """Return the start of the newest one that was not taken, in seconds since 1970; None at the end."""
        while not self._is_at_end and not self._knows_newest():
            with of_server():
                await self._pages.fetch_next_page()
            for workflow in self._pages.current_page or ():
                heapq.heappush(self._read, (-workflow.start_time.timestamp(), workflow.id))
                self._latest = (workflow.close_time or workflow.start_time).timestamp()
            self._is_at_end = self._pages.next_page_token is None
        return -self._read[0][0] if self._read else None

    def take(self) -> str:
        """Return the id of the newest one, and go on to the next."""
        return heapq.heappop(self._read)[1]

    def _knows_newest(self) -> bool:
        return bool(self._read) and -self._read[0][0] >= self._latest


async def first(ids: AsyncIterator[str], most: int) -> AsyncIterator[str]:
    """Yield the next ids, as many as there are up to a number of them."""
    for _ in range(most):
        try:
            yield await anext(ids)
        except StopAsyncIteration:
            return


def _quoted(text: str) -> str:
    """Return a text as a literal of a list query."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
