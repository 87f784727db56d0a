"""Reports of activities, such as pieces of text, for followers of a run in this process.

It stands in no journal. A follower that is slow, or comes late, loses the oldest of it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from toolgen.contract.json_value import Json

_MOST: Final = 1_000
"""Reports of one run that are kept, and that wait for one follower."""


class ReportQueue:
    """The unread reports of one follower, in their order."""

    def __init__(self, recent: Iterable[tuple[int, Mapping[str, Json]]]) -> None:
        self._waiting = deque(recent, maxlen=_MOST)
        self._news = asyncio.Event()

    def add(self, after: int, event: Mapping[str, Json]) -> None:
        """Append a report, with the current number of events in the log."""
        self._waiting.append((after, event))
        self._news.set()

    async def wait(self) -> None:
        """Return once a report was added since the last return.

        Take the reports after it, not before: what is added later is for the next wait.
        """
        await self._news.wait()
        self._news.clear()

    def take_until(self, offset: int) -> Iterator[Mapping[str, Json]]:
        """Yield the reports before the event after this offset."""
        while self._waiting and self._waiting[0][0] <= offset:
            yield self._waiting.popleft()[1]


class Followers:
    """The followers of runs in this process."""

    def __init__(self) -> None:
        self._reports: dict[str, list[ReportQueue]] = {}
        self._recent: dict[str, deque[tuple[int, Mapping[str, Json]]]] = {}
        """By run that goes on, its newest reports."""
        self.on_report: Callable[[str], None] = lambda run_id: None
        """Wakes those who follow a run."""

    @contextmanager
    def follow(self, run_id: str, offset: int) -> Iterator[ReportQueue]:
        """Follow a run: yield a queue of its recent reports and those from now on."""
        recent = self._recent.get(run_id, ())
        reports = ReportQueue(report for report in recent if report[0] >= offset)
        self._reports.setdefault(run_id, []).append(reports)
        try:
            yield reports
        finally:
            self._reports[run_id].remove(reports)
            if not self._reports[run_id]:
                del self._reports[run_id]

    def publish(self, run_id: str, after: int, event: Mapping[str, Json]) -> None:
        """Publish a report to the followers of the run."""
        self._recent.setdefault(run_id, deque(maxlen=_MOST)).append((after, event))
        for reports in self._reports.get(run_id, ()):
            reports.add(after, event)
        self.on_report(run_id)

    def forget(self, run_id: str) -> None:
        """Drop the reports of a run that is over."""
        self._recent.pop(run_id, None)
