"""What an engine keeps of its runs: enough to run a loop again without doing anything again.

The records of the runs that go on are in memory with every journal; whatever changes in them goes through
the journal, which may write it down. All texts are JSON.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, Protocol

from toolgen.runtime.engine import ActivityFailed

from .payloads import NULL

Ending = Literal["completed", "failed", "canceled"]


@dataclass(frozen=True, slots=True)
class OpRecord:
    """How one operation of a loop ended."""

    op: str
    what: str
    """Name of the activity or of the loop of the child run; `wait`."""
    digest: bytes
    """Of what it was asked, by `digest`."""
    at: float
    """Seconds since 1970."""
    value: bytes = NULL
    kind: str = ""
    """Of the failure; nothing when it went well."""
    message: str = ""

    def failure(self) -> ActivityFailed | None:
        return ActivityFailed(self.op, self.kind, self.message) if self.kind else None


@dataclass(slots=True)
class SignalRecord:
    signal_id: str
    name: str
    payload: bytes
    is_taken: bool = False
    key: str = ""
    """Of an answer: what it has in common with those that say the same."""


@dataclass(frozen=True, slots=True)
class WaitRecord:
    """A wait that has begun."""

    op: str
    about: bytes


@dataclass(slots=True, kw_only=True)
class RunRecord:
    """Everything about one run; changed by its journal only."""

    run_id: str
    loop: str
    input: bytes
    parent: str | None
    session: str = ""
    starter: str | None = None
    """The run that has detached it."""
    began: float | None = None
    """When the loop ran for the first time, in seconds since 1970."""
    ending: Ending | None = None
    output: bytes = NULL
    error: str = ""
    children: list[str] = field(default_factory=list)
    detached: list[str] = field(default_factory=list)
    ops: dict[str, OpRecord] = field(default_factory=dict)
    waits: dict[str, WaitRecord] = field(default_factory=dict)
    """Those about something."""
    signals: dict[str, SignalRecord] = field(default_factory=dict)
    events: list[bytes] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    """Of the events that have one."""


class Journal(Protocol):
    """Keeps the records of the runs."""

    def find(self, run_id: str) -> RunRecord | None: ...

    def unfinished(self) -> list[RunRecord]:
        """Return the runs that are not over, in the order in which they were added."""
        ...

    def newest(self) -> Iterator[RunRecord]:
        """Yield all runs, the newest first."""
        ...

    def add(self, record: RunRecord) -> None:
        """Keep a new run; its parent gets it as a child, and the run that has detached it as such."""
        ...

    def begin(self, record: RunRecord, at: float) -> None: ...

    def put(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        """Keep how an operation ended, together with the signal that it took."""
        ...

    def add_signal(self, record: RunRecord, signal: SignalRecord) -> None: ...

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None: ...

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        """Append an event whose key is new and return its offset."""
        ...

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str) -> None: ...


class MemoryJournal:
    """Keeps the records for as long as the process lives, and forgets the oldest that are over."""

    def __init__(self, keep_runs: int) -> None:
        self._keep_runs = keep_runs
        self._records: dict[str, RunRecord] = {}
        self._finished: deque[str] = deque()
        """Root runs in the order of their ends."""

    def find(self, run_id: str) -> RunRecord | None:
        return self._records.get(run_id)

    def unfinished(self) -> list[RunRecord]:
        return [record for record in self._records.values() if record.ending is None]

    def newest(self) -> Iterator[RunRecord]:
        return reversed(self._records.values())

    def add(self, record: RunRecord) -> None:
        self._records[record.run_id] = record
        if record.parent is not None:
            self._records[record.parent].children.append(record.run_id)
        starter = None if record.starter is None else self._records.get(record.starter)
        if starter is not None:
            starter.detached.append(record.run_id)

    def begin(self, record: RunRecord, at: float) -> None:
        record.began = at

    def put(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        record.ops[op.op] = op
        if taken is not None:
            taken.is_taken = True

    def add_signal(self, record: RunRecord, signal: SignalRecord) -> None:
        record.signals[signal.signal_id] = signal

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None:
        record.waits[wait.op] = wait

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        if key is not None:
            record.keys.add(key)
        record.events.append(text)
        return len(record.events)

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str) -> None:
        record.ending, record.output, record.error = ending, output, error
        if record.parent is None:
            self._finished.append(record.run_id)
            while len(self._finished) > self._keep_runs:
                self._forget(self._finished.popleft())

    def _forget(self, run_id: str) -> None:
        for child in self._records.pop(run_id).children:
            self._forget(child)


def digest(text: bytes) -> bytes:
    """Return what is kept of an argument, to tell another one from it."""
    return sha256(text).digest()
