"""The event log of each run, and reports of its activities, such as pieces of text, for its followers.

A report stands in no journal. A follower that is slow, or comes late, loses the oldest of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime.engine import OnEvent

from .journal import Journal, RunRecord, encode

_ONCE: Final = frozenset(("run_completed", "run_stream_end"))
"""Types of the events of which a run has one; their type is their key."""
_MOST: Final = 1_000
"""Reports of one run that are kept, and that wait for one follower."""

log = logger("toolgen.engines")


def log_key(key: str | None, event: Mapping[str, Json]) -> str | None:
    """Return the key of an event in the log of its run; None for one that may stand there more than once."""
    return str(event["type"]) if event.get("type") in _ONCE else key


def begun_key(op: str, number: int) -> str:
    """Return the key of an event of an activity that begins, by its number from 0."""
    return f"{op}:begun:{number}"


class EventLog:
    """Appends the events of runs to the journal, and passes them to followers."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.on_event: OnEvent | None = None
        self.followers = Followers()

    def append(self, record: RunRecord, key: str | None, text: bytes, event: Mapping[str, Json]) -> None:
        """Append an event to the log of a run, unless the key is there or the log has ended."""
        key = log_key(key, event)
        if key in record.keys or "run_stream_end" in record.keys:
            return
        offset = self._journal.add_event(record, key, text)
        if key == "run_stream_end":
            self.followers.forget(record.run_id)
        self.followers.wake(record.run_id)
        self._tell(record, offset, event)

    def report(self, record: RunRecord, event: Mapping[str, Json]) -> None:
        """Pass an ephemeral report to followers; it is not in the log and has offset 0."""
        if "run_stream_end" not in record.keys:
            self.followers.publish(record.run_id, len(record.events), event)
            self._tell(record, 0, event)

    def _tell(self, record: RunRecord, offset: int, event: Mapping[str, Json]) -> None:
        if self.on_event is not None:
            try:
                self.on_event(record.run_id, record.loop, offset, event)
            except KeyboardInterrupt:
                raise
            except BaseException:
                log.exception("run %s: an event listener failed", record.run_id)


class Progress:
    """Receives the reports of an attempt while it runs."""

    __slots__ = ("_op", "_publish", "_run_id", "is_open")

    def __init__(self, run_id: str, op: str, publish: Callable[[Mapping[str, Any]], object]) -> None:
        """Construct an open one; `publish` gets copies of reports, in any thread."""
        self._run_id = run_id
        self._op = op
        self._publish = publish
        self.is_open = True

    def emit(self, event: Mapping[str, Json]) -> None:
        """Publish a report, in any thread; one that is no JSON, or comes late, is lost."""
        if not self.is_open:
            return
        try:
            _, copy = encode(dict(event), f"an event of the operation {self._op}")
            self._publish(copy)
        except Exception:
            log.exception("run %s: an event of %s was lost", self._run_id, self._op)


class ReportQueue:
    """The unread reports of one follower, in their order, and what wakes it."""

    def __init__(self, recent: Iterable[tuple[int, Mapping[str, Json]]]) -> None:
        self._waiting = deque(recent, maxlen=_MOST)
        self._news = asyncio.Event()

    def add(self, after: int, event: Mapping[str, Json]) -> None:
        """Append a report, with the current number of events in the log."""
        self._waiting.append((after, event))
        self._news.set()

    def wake(self) -> None:
        """Wake the follower: there is an event in the log, or its end."""
        self._news.set()

    async def wait(self) -> None:
        """Return once the follower was woken, or a report added, since the last return.

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

    def wake(self, run_id: str) -> None:
        """Wake the followers of a run that is in memory."""
        for reports in self._reports.get(run_id, ()):
            reports.wake()

    def wake_all(self) -> None:
        """Wake the followers of all runs: the engine is closed."""
        for run_id in self._reports:
            self.wake(run_id)

    def forget(self, run_id: str) -> None:
        """Drop the reports of a run that is over."""
        self._recent.pop(run_id, None)
