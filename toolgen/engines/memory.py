"""Runs that are kept in memory: their journal, and the client that reads and changes it."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import ClassVar

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import (
    ForgottenRun,
    OnForget,
    OpenWait,
    Receipt,
    RunState,
    RunStatus,
    RunWait,
    WaitStatus,
    answer_name,
    unknown_run,
)

from .client import closed_error, wait_over_error
from .journal import (
    NULL,
    AttemptRecord,
    Ending,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    decode,
)
from .live_run import CallLater
from .pruning import PRUNE, Pruning, Tree
from .runs import Runs


class MemoryJournal:
    """Keeps the records while the process lives, and drops the oldest that are over."""

    is_durable: ClassVar[bool] = False

    def __init__(self, keep_runs: int) -> None:
        self._keep_runs = keep_runs
        self._records: dict[str, RunRecord] = {}
        self._open: dict[str, RunRecord] = {}
        """Those of runs that are not over."""
        self._finished: deque[str] = deque()
        """Root runs in the order of their ends."""
        self.on_excess: Callable[[], None] | None = None
        """Has the runs that are too many dropped; without, they are dropped at once."""

    def find(self, run_id: str) -> RunRecord | None:
        return self._records.get(run_id)

    def find_open(self, run_id: str) -> RunRecord | None:
        return self._open.get(run_id)

    def unfinished(self) -> list[RunRecord]:
        return [*self._open.values()]

    def newest(self) -> Iterator[RunRecord]:
        """Yield all runs, the newest first."""
        return reversed(self._records.values())

    def add(self, record: RunRecord) -> None:
        self._records[record.run_id] = self._open[record.run_id] = record
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
        del self._open[record.run_id]
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


class MemoryClient:
    """Reads and changes the records of a journal in memory."""

    def __init__(
        self,
        keep_runs: int,
        *,
        clock: Callable[[], float],
        call_later: CallLater,
        max_payload_bytes: int | None,
    ) -> None:
        self.id = f"memory_{uuid.uuid4().hex}"
        self.held_s = 0.0
        """What is in memory began under this very clock."""
        self.file = None
        self._journal = MemoryJournal(keep_runs)
        self.runs = Runs(self._journal, clock, call_later, max_payload_bytes)
        self._pruning = Pruning(self._journal.doomed, self._journal.drop, clock)
        self._is_closed = False

    async def start(self, *, worker: bool, only: Collection[str] | None) -> None:
        self._is_closed = False
        self.runs.start(worker=worker, only=only)

    async def check(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        self._is_closed = True
        self._pruning.stop()
        await self.runs.close()

    def tell_forgotten(self, on_forget: OnForget) -> None:
        self._pruning.on_forget = on_forget
        self._journal.on_excess = self._pruning.start

    async def start_run(self, loop: str, text: bytes, *, run_id: str, session: str) -> None:
        if self._journal.find(run_id) is None:
            self.runs.create_run(loop, text, run_id, session=session)

    async def release_clock(self, at: float) -> None:
        pass  # its clock is the wall clock

    async def signal(self, run_id: str, name: str, text: bytes, *, signal_id: str) -> None:
        record = self.record(run_id)
        if record.ending is None and signal_id not in record.signals:
            self.runs.deliver(record, SignalRecord(signal_id, name, text))

    async def forget_session(self, session: str) -> int:
        return self._journal.forget_session(session)

    async def answer(self, run_id: str, op: str, text: bytes, *, key: str) -> Receipt:
        record, name = self.record(run_id), answer_name(op)
        kept = record.signals.get(name)
        if kept is not None:
            return "same" if kept.key == key else "conflict"
        if record.ending is not None or op in record.ops:
            raise wait_over_error(run_id, op)
        self.runs.deliver(record, SignalRecord(name, name, text, key=key))
        return "accepted" if self.runs.is_working else "recorded"

    async def kept_answer(self, run_id: str, op: str) -> Json:
        answer = self.record(run_id).signals.get(answer_name(op))
        return None if answer is None else decode(answer.payload)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        record = self.record(run_id)
        wait, answer = record.waits.get(op), record.signals.get(answer_name(op))
        if wait is None:
            return None
        return WaitStatus(
            about=decode(wait.about),
            is_open=answer is None and record.ending is None and op not in record.ops,
            answer=None if answer is None else decode(answer.payload),
        )

    async def open_waits(self, *, session: str | None, limit: int) -> tuple[RunWait, ...]:
        found: list[RunWait] = []
        for record in self._journal.unfinished():
            if session in (None, record.session):
                found += (
                    RunWait(run_id=record.run_id, op=wait.op, about=decode(wait.about))
                    for wait in record.waits.values()
                    if wait.about != NULL
                    and wait.op not in record.ops
                    and answer_name(wait.op) not in record.signals
                )
            if len(found) >= limit:
                break
        return tuple(found[:limit])

    async def cancel(self, run_id: str, reason: str) -> None:
        self.runs.cancel(self.record(run_id), reason)

    async def status(self, run_id: str) -> RunStatus:
        return self._status(self.record(run_id))

    async def status_when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        record = self.record(run_id)
        while record.ending is None:
            if self._is_closed:
                raise closed_error()
            run = self.runs.run_of(record)
            run.require_no_fault()
            if may_wait and run.is_parked:
                break
            await run.turned.wait()
        return self._status(record)

    def events(
        self, run_id: str, *, after: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        return self._follow(self.record(run_id), after, follow)

    async def list_runs(
        self, *, state: RunState | None, session: str | None, limit: int
    ) -> tuple[RunStatus, ...]:
        found: list[RunStatus] = []
        for record in self._journal.newest():
            if len(found) >= limit:
                break
            if session in (None, record.session) and state in (None, self._state(record)):
                found.append(self._status(record))
        return tuple(found)

    def record(self, run_id: str) -> RunRecord:
        record = self._journal.find(run_id)
        if record is None:
            raise unknown_run(run_id)
        return record

    async def _follow(
        self, record: RunRecord, offset: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        with self.runs.followers.follow(record.run_id, offset) as reports:
            while True:
                for report in reports.take_until(offset) if follow else ():
                    yield 0, report
                if offset < len(record.events):
                    offset += 1
                    yield offset, decode(record.events[offset - 1])
                elif record.ending is not None or not follow:
                    return
                elif self._is_closed:
                    raise closed_error()
                else:
                    await reports.wait()

    def _state(self, record: RunRecord) -> RunState:
        if record.ending is not None:
            return record.ending
        is_waiting = not self._is_closed and self.runs.run_of(record).is_parked
        return "waiting" if is_waiting else "running"

    def _status(self, record: RunRecord) -> RunStatus:
        waits = self.runs.run_of(record).waits.values() if record.ending is None else ()
        return RunStatus(
            run_id=record.run_id,
            state=self._state(record),
            input=decode(record.input),
            output=decode(record.output),
            error=record.error,
            children=tuple(record.children),
            awaiting=tuple(
                OpenWait(op=wait.op, about=decode(wait.about)) for wait in waits if wait.about != NULL
            ),
            session=record.session,
        )
