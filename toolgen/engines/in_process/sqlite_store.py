"""Runs in a SQLite file.

The worker of the file has the records of active runs in memory. Clients, even in the worker's process, read
only committed rows, so they never see data that is lost if the process is killed.
"""

from __future__ import annotations

import asyncio
import os.path
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.tasks import start_task
from toolgen.stores import StoreCorruptError
from toolgen.stores.batched_file import BatchedFile
from toolgen.stores.safe_places import require_own_place
from toolgen.stores.sqlite_batches import SqliteBatches
from toolgen.stores.sqlite_connection import Synchronous
from toolgen.stores.sqlite_errors import DamagedRowError
from toolgen.stores.sqlite_file import make_file

from ..errors import EngineError, unknown_run
from ..statuses import LostJournal, Receipt, RunState, RunStatus, RunWait, WaitStatus
from . import sqlite_rows as rows
from . import sqlite_steps as steps
from .file_clock import RunClock, newest_run_and_time
from .journal import (
    NULL,
    AttemptRecord,
    Ending,
    Events,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    encode,
)
from .pruning import RunTree
from .sqlite_records import BUSY, read_record, read_trees
from .sqlite_tables import FORMAT, MOST, SHIFT, TO_END, TO_EVENT, TO_OP, TO_PARK, TO_RUN, TO_WAIT
from .store import PAGE, RunStore
from .witness import Fact, Witness, witness_path

_CLOCK_S: Final = 1.0
"""Maximum age of the stored time of the journal, in seconds."""

log = logger("toolgen.engines")


class SqliteStore(RunStore):
    """Stores runs in a file; the records of active runs are also in memory."""

    is_durable: ClassVar[bool] = True

    def __init__(self, path: Path, clock: Callable[[], float], *, synchronous: Synchronous) -> None:
        """Open a file; create it if it is missing, unless a witness shows that it existed before.

        Args:
            path: The file.
            clock: Returns seconds since 1970; `RunClock` continues it from the times in the file.
            synchronous: Durability of a written batch.

        Raises:
            StoreError: the file cannot be opened, or has another format; the class says why.
        """
        require_own_place(path)
        file = Path(os.path.realpath(path))  # all links to the file share one lock, key and witness beside it
        super().__init__()
        self.batches = SqliteBatches(
            file, FORMAT, synchronous=synchronous, witness=witness_path(file), contested=rows.contested_runs
        )
        self.file = BatchedFile(self.batches)
        self.id = "" if self.batches.is_lost else self.batches.write_now(steps.engine_id)
        self.witness = Witness(self.batches)
        """Record of the calls that have begun."""
        self._adding: set[asyncio.Task[None]] = set()
        self.seen_numbers: set[int] = set()
        """Numbers of the signals that the worker has seen, but that are not stored as seen yet."""
        self.clock = RunClock(clock)
        self._wall = clock
        self._next = 0
        self._timed = 0.0
        self._damaged: dict[str, StoreCorruptError] = {}
        """Reasons why runs could not be loaded at the last attempt, by run id."""
        self.on_park: Callable[[float], None] = lambda wake: None
        """Called with the time when a parked run must wake without a signal."""
        self.on_contested: Callable[[], None] = lambda: None
        """Called when a run has a signal that the worker has not seen."""

    async def reset(self) -> Sequence[Fact]:
        """Write the remaining rows and drop all records, because another process might have been the worker.

        Return the facts of the witness that the file lacks.

        Raises:
            StoreError: the file cannot be read, or is not the one that its witness knows.
        """
        await self.batches.wait_written()
        self._records.clear()
        self._damaged.clear()
        self.seen_numbers.clear()
        newest, at = self.batches.read(newest_run_and_time)
        self._next = newest + 2 & ~1
        self.clock.continue_from(at)
        self.finished = self.batches.read(rows.count_finished)
        lacking = self.witness.open()
        if lacking:
            self.batches.put(steps.RESTORED, self._wall())
        await self.batches.wait_written()
        if self.witness.lost_calls:
            await self.batches.run(partial(steps.answer_begun, begun_ops=self.witness.lost_calls))
        return lacking

    async def restore(self) -> LostJournal | None:
        """Create the file if it is lost, and accept it; see `Witness.restore`."""
        make_file(self.batches.path, FORMAT)
        self.id = self.batches.write_now(steps.engine_id)
        self.batches.put(steps.RESTORED, self._wall())
        return await self.witness.restore()

    def load(self, where: str, *values: object) -> list[RunRecord]:
        """Return the unfinished runs in the trees of all runs that match a SQL condition, parents first.

        A damaged tree is left out, and its runs are stalled.
        """
        trees = self.batches.read(lambda database: read_trees(database, where, *values))
        for run_id, damage in trees.damaged.items():
            if run_id not in self._damaged:
                self._damaged[run_id] = DamagedRowError(damage).at(self.batches.path)
                log.error("run %s is stalled: %s", run_id, self._damaged[run_id])
                self.batches.mark(run_id)
        for record in trees.records if self._damaged else ():
            self._damaged.pop(record.run_id, None)
        return self._take_records(trees.records)

    def loaded_record(self, run_id: str) -> RunRecord | None:
        """Return the record of a run if it is in memory."""
        return self._records.get(run_id)

    def find(self, run_id: str) -> RunRecord | None:
        return self._records.get(run_id) or self._load(run_id)

    def find_open(self, run_id: str) -> RunRecord | None:
        record = self._records.get(run_id) or self._load(run_id, is_open=True)
        return None if record is None or record.ending is not None else record

    def _load(self, run_id: str, *, is_open: bool = False) -> RunRecord | None:
        record = self.batches.read(partial(read_record, run_id=run_id, is_open=is_open))
        if record is not None and record.ending is None:
            self._take_records([record])
        return record

    def unfinished(self, only: Collection[str] | None = None) -> list[RunRecord]:
        if only is None:
            return self.load(BUSY)
        return self.load(f"ended IS NULL AND run_id IN ({', '.join('?' * len(only))})", *only)

    def add(self, record: RunRecord) -> None:
        record.no, self._next = self._next, self._next + 2
        self._add_record(record)
        above = [self._records.get(run_id or "") for run_id in (record.parent, record.starter)]
        numbers = [None if other is None else other.no for other in above]
        self.batches.put(
            TO_RUN, record.no, record.run_id, record.loop, *numbers, record.session, record.input
        )
        self._recall(record)

    def begin(self, record: RunRecord, at: float) -> None:
        super().begin(record, at)
        self.batches.put("UPDATE run SET began = ?, state = 'running' WHERE no = ?", at, record.no)

    def end_operation(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        self.batches.put(TO_OP, *self._op_row(record, op))
        super().end_operation(record, op, taken)
        if taken is not None:
            self.batches.put("UPDATE signal SET is_seen = 1, is_taken = 1 WHERE no = ?", taken.no)
        if op.at > self._timed + _CLOCK_S:
            self._timed = op.at
            self.batches.put("INSERT OR REPLACE INTO meta (name, value) VALUES ('clock', ?)", op.at)

    def expire(self, record: RunRecord, op: OpRecord, then: Callable[[bool], None]) -> None:
        def decided(is_recorded: bool) -> None:
            if is_recorded:
                record.ops[op.op] = op
            else:
                self.on_contested()
            then(is_recorded)

        self.batches.put_unless_contested(TO_OP, *self._op_row(record, op), about=record.no, then=decided)

    def record_attempt(self, record: RunRecord, op: str, attempt: AttemptRecord) -> None:
        record.attempts[op] = attempt
        row = (record.no, op, attempt.failed, attempt.until, attempt.has_begun)
        self.batches.put(
            "INSERT OR REPLACE INTO attempt (run, op, failed, until, begun) VALUES (?, ?, ?, ?, ?)", *row
        )
        if attempt.has_begun:
            self.witness.note("begun", record.run_id, op, self._root(record))
        else:
            self.batches.write_soon()  # written soon, because the attempt must not wait for the next record

    def mark_seen(self, signal_no: int) -> None:
        """Mark a signal as seen by the worker, and remember its number until the mark is written."""
        self.seen_numbers.add(signal_no)
        self.batches.put("UPDATE signal SET is_seen = 1 WHERE no = ?", signal_no)
        self.batches.when_written(partial(self.seen_numbers.discard, signal_no))

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None:
        record.waits[wait.op] = wait
        names, _ = encode(list(wait.names), "the names of a wait")
        # A frozen call is large, so it is not stored twice. A wait about null has no subject.
        is_input = wait.about == record.input and wait.about != NULL
        about = b"" if is_input else wait.about
        self.batches.put(TO_WAIT, self._id(record, len(record.waits)), wait.op, names.decode(), about)
        self.batches.write_soon()

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        number = len(record.events) + 1
        if number > MOST and key not in ("run_completed", "run_stream_end"):
            raise EngineError(f"run {record.run_id} has {MOST} events, the most that a journal holds")
        if key is not None:
            record.keys.add(key)
        record.events.append(text)
        self.batches.put(TO_EVENT, (record.no << SHIFT) + number, key, text)
        self.batches.mark(record.run_id, grows=True)
        return number

    def park(self, record: RunRecord, wake: float | None, then: Callable[[bool], None]) -> None:
        def decided(is_recorded: bool) -> None:
            record.is_parked = is_recorded
            if not is_recorded:
                self.on_contested()
            elif wake is not None:
                self.on_park(wake)
            then(is_recorded)

        record.is_parked = True
        self.batches.mark(record.run_id)
        self.batches.put_unless_contested(TO_PARK, wake, record.no, about=record.no, then=decided)

    def unpark(self, record: RunRecord) -> None:
        if record.is_parked:
            record.is_parked = False
            self.batches.put("UPDATE run SET state = 'running', wake = NULL WHERE no = ?", record.no)
            self.batches.write_soon()

    def evict(self, record: RunRecord) -> None:
        self._records.pop(record.run_id, None)

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str, at: float) -> None:
        record.ending, record.output, record.error = ending, output, error
        self.batches.put(TO_END, ending, at, output, error, record.no)
        self.batches.mark(record.run_id)
        if record.attempts:
            self.batches.put("DELETE FROM attempt WHERE run = ?", record.no)
        self.batches.when_written(partial(self._on_written_end, record))

    def when_durable(self, callback: Callable[[], None], *, is_urgent: bool = True) -> None:
        self.batches.when_written(callback, is_urgent=is_urgent)

    async def wait_durable(self) -> None:
        await self.batches.wait_written()

    async def wait_durable_through_outages(self) -> None:
        written = asyncio.Event()
        self.batches.when_written(written.set)
        await written.wait()

    async def add_run(
        self, record: RunRecord, *, is_ours: bool, then: Callable[[RunRecord, bool], None]
    ) -> None:
        async def work() -> None:
            step = partial(steps.start_run, record=record, state="running" if is_ours else "new")
            no = await self.batches.run(step)
            if no is not None:
                record.no, self._next = no, max(self._next, no + 2 & ~1)
                added = self._records.setdefault(record.run_id, record) if is_ours else record
                if is_ours:
                    self._recall(added)
                then(added, is_ours)

        await asyncio.shield(start_task(self._adding, work(), name=f"start {record.run_id}"))

    async def add_signal(self, run_id: str, signal: SignalRecord) -> bool:
        return await self.batches.run(partial(steps.add_signal, run_id=run_id, signal=signal))

    async def add_answer(self, run_id: str, op: str, text: bytes, key: str, session: str) -> Receipt:
        return await self.batches.run(lambda tx: steps.add_answer(tx, run_id, op, text, key, session))

    def require_undamaged(self, run_id: str) -> None:
        """Raise a `StoreCorruptError` if a run could not be loaded and is therefore not executed."""
        if run_id in self._damaged:
            raise self._damaged[run_id]

    async def drop(self, trees: Sequence[RunTree]) -> None:
        await self.batches.run(partial(steps.delete, trees=trees))
        self.finished = self.batches.read(rows.count_finished)

    async def forget_session(self, session: str) -> int:
        return await self.batches.run(partial(steps.delete_session, session=session))

    def record(self, run_id: str) -> RunRecord:
        record = self.batches.read(partial(read_record, run_id=run_id))
        if record is None:
            raise unknown_run(run_id)
        return record

    def is_answer_seen(self, run_id: str, op: str) -> bool:
        return self.batches.read(partial(steps.is_answer_seen, run_id=run_id, op=op))

    def state(self, run_id: str) -> RunState | None:
        return self.batches.read(partial(rows.read_state, run_id=run_id))

    def status(self, run_id: str) -> RunStatus:
        return self.batches.read(partial(rows.read_status, run_id=run_id))

    def list_runs(self, state: RunState | None, of: str | None, after: str, limit: int) -> list[RunStatus]:
        return self.batches.read(lambda database: rows.read_statuses(database, state, of, after, limit))

    def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return self.batches.read(partial(rows.read_wait, run_id=run_id, op=op))

    def accepted_answer(self, run_id: str, op: str) -> Json:
        return self.batches.read(partial(rows.read_answer, run_id=run_id, op=op))

    def open_waits(self, session: str | None, limit: int) -> Iterator[RunWait]:
        after = -1
        while limit > 0:
            most = min(limit, PAGE)
            read = partial(rows.read_open_waits, session=session, after=after, limit=most)
            page = self.batches.read(read)
            yield from (wait for _, wait in page)
            if len(page) < most:
                return
            after, limit = page[-1][0], limit - most

    def events(self, run_id: str, after: int) -> Events | None:
        return self.batches.read(partial(rows.read_events, run_id=run_id, after=after))

    async def check(self) -> tuple[str, ...]:
        return tuple(await self.batches.read_apart(rows.find_damage))

    def to_forget(self, keep: int, before: float | None = None) -> list[RunTree]:
        return self._not_awaited(self.batches.read(partial(rows.runs_to_forget, keep=keep, before=before)))

    def _on_written_end(self, record: RunRecord) -> None:
        self._records.pop(record.run_id, None)
        if record.parent is None:
            self.finished += 1
            self.on_end()

    def _take_records(self, records: Iterable[RunRecord]) -> list[RunRecord]:
        """Keep the records in memory that are not there yet; return the unfinished ones."""
        unfinished = []
        for read in records:
            record = self._records.setdefault(read.run_id, read)
            if record.ending is not None:
                continue
            unfinished.append(record)
            if record is not read:
                continue
            for op in record.ops.values():
                self.clock.continue_from(op.at)
            self.unpark(record)
            self._recall(record)
        return unfinished

    def _recall(self, record: RunRecord) -> None:
        """Record that operations of a run have begun if the journal has lost that and its witness has not."""
        for op in self.witness.take_begun(record.run_id):
            if op not in record.ops:
                self.record_attempt(record, op, AttemptRecord(has_begun=True))

    def may_have_begun(self, record: RunRecord, op: str) -> bool:
        return self.witness.meet(record.run_id, op, self._root(record))

    def _root(self, record: RunRecord) -> str:
        while record.parent is not None:
            record = self._records[record.parent]
        return record.run_id

    def _op_row(self, record: RunRecord, op: OpRecord) -> tuple[object, ...]:
        record.next_op += 1
        id_ = self._id(record, record.next_op)
        return (id_, op.op, op.what, op.digest, op.at, op.value, op.kind, op.message)

    def _id(self, record: RunRecord, number: int) -> int:
        if number > MOST:
            raise EngineError(
                f"run {record.run_id} has more than {MOST} operations, the most that a journal holds"
            )
        return (record.no << SHIFT) + number
