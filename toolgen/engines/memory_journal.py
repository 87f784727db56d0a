"""The journal in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import ClassVar

from toolgen.runtime.engine import ForgottenRun

from .journal import AttemptRecord, Ending, OpRecord, RunRecord, SignalRecord, WaitRecord
from .pruning import PRUNE, Tree


class MemoryJournal:
    """Keeps the records while the process lives, and drops the oldest that are over."""

    is_durable: ClassVar[bool] = False

    def __init__(self, keep_runs: int) -> None:
        self._keep_runs = keep_runs
        self._records: dict[str, RunRecord] = {}
        self._finished: deque[str] = deque()
        """Root runs in the order of their ends."""
        self.on_excess: Callable[[], None] | None = None
        """Has the runs that are too many dropped; without, they are dropped at once."""

    def find(self, run_id: str) -> RunRecord | None:
        return self._records.get(run_id)

    def find_open(self, run_id: str) -> RunRecord | None:
        record = self._records.get(run_id)
        return record if record is not None and record.ending is None else None

    def unfinished(self) -> list[RunRecord]:
        return [record for record in self._records.values() if record.ending is None]

    def newest(self) -> Iterator[RunRecord]:
        """Yield all runs, the newest first."""
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

    def end_operation(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        record.ops[op.op] = op
        if taken is not None:
            taken.is_taken = True

    def expire(self, record: RunRecord, op: OpRecord, then: Callable[[bool], None]) -> None:
        record.ops[op.op] = op
        then(True)

    def record_attempt(self, record: RunRecord, op: str, attempt: AttemptRecord) -> None:
        record.attempts[op] = attempt

    def add_signal(self, record: RunRecord, signal: SignalRecord) -> None:
        record.signals[signal.signal_id] = signal

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None:
        record.waits[wait.op] = wait

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        if key is not None:
            record.keys.add(key)
        record.events.append(text)
        return len(record.events)

    def park(
        self,
        record: RunRecord,
        waits: Sequence[WaitRecord],
        wake: float | None,
        then: Callable[[bool], None],
    ) -> None:
        """Do nothing: a parked run stays in memory, as there is no other place."""

    def unpark(self, record: RunRecord) -> None:
        """Do nothing, as `park` does."""

    def forget(self, record: RunRecord) -> None:
        """Do nothing, as `park` does."""

    def when_durable(self, callback: Callable[[], None]) -> None:
        callback()

    async def wait_durable(self) -> None:
        return

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str, at: float) -> None:
        record.ending, record.output, record.error = ending, output, error
        if record.parent is None:
            self._finished.append(record.run_id)
            if len(self._finished) > self._keep_runs:
                (self.on_excess or self._drop_oldest)()

    def doomed(self) -> list[Tree]:
        """Return the oldest root runs that are too many, at most `PRUNE`, with the runs below them."""
        many = min(len(self._finished) - self._keep_runs, PRUNE)
        return [Tree(0, tuple(self._below(run_id))) for run_id in islice(self._finished, max(0, many))]

    async def drop(self, trees: Sequence[Tree]) -> None:
        """Drop the runs that `doomed` returned."""
        for _ in trees:
            self._drop_oldest()

    def forget_session(self, session: str) -> int:
        """Drop the root runs of a session that are over, with the runs below them; return how many."""
        roots = [run_id for run_id in self._finished if self._records[run_id].session == session]
        gone = [run.run_id for run_id in roots for run in self._below(run_id)]
        for run_id in roots:
            self._finished.remove(run_id)
        for run_id in gone:
            del self._records[run_id]
        return len(gone)

    def _below(self, run_id: str) -> Iterator[ForgottenRun]:
        record = self._records[run_id]
        yield ForgottenRun(run_id=run_id, session=record.session)
        for child in record.children:
            yield from self._below(child)

    def _drop_oldest(self) -> None:
        for run in [*self._below(self._finished.popleft())]:
            del self._records[run.run_id]
