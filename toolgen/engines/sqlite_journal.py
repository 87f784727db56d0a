"""The journal in a SQLite file, as the worker of the file sees it.

Only runs in which something goes on have their records in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import isfinite
from typing import Any, ClassVar, Final

from toolgen.contract.logs import logger
from toolgen.runtime.engine import EngineError
from toolgen.runtime.stores import StoreCorruptError
from toolgen.runtime.stores.sqlite_batches import SqliteBatches
from toolgen.runtime.stores.sqlite_errors import DamagedRowError

from .journal import NULL, AttemptRecord, Ending, OpRecord, RunRecord, SignalRecord, WaitRecord, encode
from .sqlite_records import Trees, read_busy_trees, read_due_trees, read_open_record, read_record, read_trees
from .sqlite_tables import MOST, SHIFT

_CLOCK_S: Final = 1.0
"""How old the time of the journal may be."""
_LEAP_S: Final = 30 * 86400.0
"""By which a wall clock may be ahead of the newest time of the journal, before something ends by it."""
_RUN: Final = (
    "INSERT INTO run (no, run_id, loop, parent, starter, session, input, state)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 'running')"
)
_OP: Final = "INSERT INTO op (id, op, what, digest, at, value, kind, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_EVENT: Final = "INSERT INTO event (id, key, text) VALUES (?, ?, ?)"
_WAIT: Final = "INSERT INTO wait (id, op, names, about) VALUES (?, ?, ?, ?)"
_ATTEMPT: Final = "INSERT OR REPLACE INTO attempt (run, op, failed, until, begun) VALUES (?, ?, ?, ?, ?)"
_BEGIN: Final = "UPDATE run SET began = ?, state = 'running' WHERE no = ?"
_PARK: Final = "UPDATE run SET state = 'parked', wake = ? WHERE no = ?"
_UNPARK: Final = "UPDATE run SET state = 'running', wake = NULL WHERE no = ?"
_END: Final = "UPDATE run SET state = ?, ended = ?, wake = NULL, output = ?, error = ? WHERE no = ?"
_SEEN: Final = "UPDATE signal SET is_seen = 1 WHERE no = ?"
_TAKEN: Final = "UPDATE signal SET is_seen = 1, is_taken = 1 WHERE no = ?"
_TIME: Final = "INSERT OR REPLACE INTO meta (name, value) VALUES ('clock', ?)"

log = logger("toolgen.engines")


class RunClock:
    """A clock that continues from a time that was seen before, such as by another process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._clock() + self._ahead

    def continue_from(self, at: float) -> None:
        """Advance the clock to at least this time."""
        self._ahead = max(self._ahead, at - self._clock())

    def hold_at(self, at: float) -> None:
        """Continue from this time, which is before that of the clock that it follows."""
        self._ahead = at - self._clock()

    def release(self) -> None:
        """Advance the clock to the time of the one that it follows."""
        self._ahead = max(self._ahead, 0.0)

    @property
    def held_s(self) -> float:
        """The seconds by which it is held behind the clock that it follows; 0.0 while it is not."""
        return max(0.0, -self._ahead)


class SqliteJournal:
    """Keeps the records of runs that are not over, and writes their changes."""

    is_durable: ClassVar[bool] = True

    def __init__(self, batches: SqliteBatches, clock: RunClock) -> None:
        """Construct a journal.

        Args:
            batches: What writes.
            clock: Goes on from the times that the journal holds.
        """
        self._batches = batches
        self._clock = clock
        self.seen_numbers: set[int] = set()
        """Of signals that the worker has seen and that are not written as seen yet."""
        self._records: dict[str, RunRecord] = {}
        self._next = 0
        self._timed = 0.0
        self._damaged: dict[str, StoreCorruptError] = {}
        """By run, why it could not be loaded the last time."""
        self.on_park: Callable[[float], None] = lambda wake: None
        """Hears when a run that is parked has to go on by itself."""
        self.on_contested: Callable[[], None] = lambda: None
        """Called when a run has a signal that the worker has not seen."""
        self.on_end: Callable[[], None] = lambda: None
        """Called when the end of a root run is kept."""

    async def reset(self) -> None:
        """Write what is left and forget all records: another process may have been the worker since."""
        await self._batches.wait_written()
        self._records.clear()
        self._damaged.clear()
        self.seen_numbers.clear()
        newest, at = self._batches.read(_newest)
        self._next = newest + 2 & ~1
        self._clock.continue_from(at)

    def adopt(self, record: RunRecord) -> None:
        """Load the record of a run that was just added by this process."""
        self._records[record.run_id] = record
        self._next = max(self._next, record.no + 2 & ~1)

    def load_trees(self, numbers: Sequence[int]) -> list[RunRecord]:
        """Return the unfinished runs in the trees of some runs, parents first."""
        return self._take_trees(self._batches.read(partial(read_trees, numbers=numbers)))

    def load_due(self, now: float) -> list[RunRecord]:
        """Return the parked runs whose time has come, with the unfinished runs of their trees."""
        return self._take_trees(self._batches.read(partial(read_due_trees, now=now)))

    def require_undamaged(self, run_id: str) -> None:
        """Raise where a run could not be loaded, so that nobody executes it.

        Raises:
            StoreCorruptError: as said.
        """
        if run_id in self._damaged:
            raise self._damaged[run_id]

    def loaded_record(self, run_id: str) -> RunRecord | None:
        """Return the record of a run that is in memory."""
        return self._records.get(run_id)

    def find(self, run_id: str) -> RunRecord | None:
        found = self._records.get(run_id)
        if found is None:
            found = self._batches.read(partial(read_record, run_id=run_id))
            if found is not None and found.ending is None:
                self._take_records([found])
        return found

    def find_open(self, run_id: str) -> RunRecord | None:
        found = self._records.get(run_id)
        if found is None:
            found = self._batches.read(partial(read_open_record, run_id=run_id))
            if found is not None:
                self._take_records([found])
        return None if found is None or found.ending is not None else found

    def unfinished(self) -> list[RunRecord]:
        return self._take_trees(self._batches.read(read_busy_trees))

    def add(self, record: RunRecord) -> None:
        record.no, self._next = self._next, self._next + 2
        parent = None if record.parent is None else self._records[record.parent]
        starter = None if record.starter is None else self._records.get(record.starter)
        self._records[record.run_id] = record
        numbers = [None if above is None else above.no for above in (parent, starter)]
        self._batches.put(_RUN, record.no, record.run_id, record.loop, *numbers, record.session, record.input)
        if parent is not None:
            parent.children.append(record.run_id)
        if starter is not None:
            starter.detached.append(record.run_id)

    def begin(self, record: RunRecord, at: float) -> None:
        record.began = at
        self._batches.put(_BEGIN, at, record.no)

    def end_operation(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        self._batches.put(_OP, *self._op_row(record, op))
        record.ops[op.op] = op
        if taken is not None:
            taken.is_taken = True
            self._batches.put(_TAKEN, taken.no)
        if op.at > self._timed + _CLOCK_S:
            self._timed = op.at
            self._batches.put(_TIME, op.at)

    def expire(self, record: RunRecord, op: OpRecord, then: Callable[[bool], None]) -> None:
        def decided(is_kept: bool) -> None:
            if is_kept:
                record.ops[op.op] = op
            else:
                self.on_contested()
            then(is_kept)

        self._batches.put_unless_contested(_OP, *self._op_row(record, op), about=record.no, then=decided)

    def record_attempt(self, record: RunRecord, op: str, attempt: AttemptRecord) -> None:
        record.attempts[op] = attempt
        row = (record.no, op, attempt.failed, attempt.until, attempt.has_begun)
        self._batches.put(_ATTEMPT, *row)
        self._batches.when_written(_write_with_turn)  # it is not to wait for the next record

    def add_signal(self, record: RunRecord, signal: SignalRecord) -> None:
        record.signals[signal.signal_id] = signal

    def mark_seen(self, signal_no: int) -> None:
        """Mark a signal as seen by the worker, and give it to its run if the run wants it."""
        self.seen_numbers.add(signal_no)
        self._batches.put(_SEEN, signal_no)
        self._batches.when_written(partial(self.seen_numbers.discard, signal_no))

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None:
        record.waits[wait.op] = wait
        names, _ = encode(list(wait.names), "the names of a wait")
        # A frozen call is large, and need not be in the file twice. Waits about null are waits about nothing.
        is_input = wait.about == record.input and wait.about != NULL
        about = b"" if is_input else wait.about
        self._batches.put(_WAIT, self._id(record, len(record.waits)), wait.op, names.decode(), about)
        self._batches.when_written(_write_with_turn)

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        number = len(record.events) + 1
        if number > MOST and key not in ("run_completed", "run_stream_end"):
            raise EngineError(f"run {record.run_id} has {MOST} events, the most that a journal holds")
        if key is not None:
            record.keys.add(key)
        record.events.append(text)
        self._batches.put(_EVENT, (record.no << SHIFT) + number, key, text)
        self._batches.mark(record.run_id)
        return number

    def park(
        self,
        record: RunRecord,
        waits: Sequence[WaitRecord],
        wake: float | None,
        then: Callable[[bool], None],
    ) -> None:
        for wait in waits:
            if wait.op not in record.waits:
                self.add_wait(record, wait)

        def decided(is_kept: bool) -> None:
            record.is_parked = is_kept
            if not is_kept:
                self.on_contested()
            elif wake is not None:
                self.on_park(wake)
            then(is_kept)

        record.is_parked = True
        self._batches.mark(record.run_id)
        self._batches.put_unless_contested(_PARK, wake, record.no, about=record.no, then=decided)

    def unpark(self, record: RunRecord) -> None:
        if record.is_parked:
            record.is_parked = False
            self._batches.put(_UNPARK, record.no)
            self._batches.when_written(_write_with_turn)

    def forget(self, record: RunRecord) -> None:
        self._records.pop(record.run_id, None)

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str, at: float) -> None:
        record.ending, record.output, record.error = ending, output, error
        self._batches.put(_END, ending, at, output, error, record.no)
        self._batches.mark(record.run_id)
        if record.attempts:
            self._batches.put("DELETE FROM attempt WHERE run = ?", record.no)
        self._batches.when_written(partial(self._on_written_end, record))

    def when_durable(self, callback: Callable[[], None]) -> None:
        self._batches.when_written(callback)

    async def wait_durable(self) -> None:
        await self._batches.wait_written()

    def _on_written_end(self, record: RunRecord) -> None:
        self._records.pop(record.run_id, None)
        if record.parent is None:
            self.on_end()

    def _take_trees(self, trees: Trees) -> list[RunRecord]:
        """Add the records of trees, and return the unfinished ones; a run that is damaged stalls alone."""
        for run_id, damage in trees.damaged.items():
            if run_id not in self._damaged:
                self._damaged[run_id] = DamagedRowError(damage).at(self._batches.path)
                log.error("run %s is stalled: %s", run_id, self._damaged[run_id])
                self._batches.mark(run_id)
        for record in trees.records if self._damaged else ():
            self._damaged.pop(record.run_id, None)
        return self._take_records(trees.records)

    def _take_records(self, records: Iterable[RunRecord]) -> list[RunRecord]:
        """Add records that were read and are not in memory yet; return the unfinished ones."""
        found = []
        for read in records:
            record = self._records.setdefault(read.run_id, read)
            if record.ending is not None:
                continue
            found.append(record)
            if record is not read:
                continue
            for op in record.ops.values():
                self._clock.continue_from(op.at)
            self.unpark(record)
        return found

    def _op_row(self, record: RunRecord, op: OpRecord) -> tuple[Any, ...]:
        record.next_op += 1
        id_ = self._id(record, record.next_op)
        return (id_, op.op, op.what, op.digest, op.at, op.value, op.kind, op.message)

    def _id(self, record: RunRecord, number: int) -> int:
        if number > MOST:
            raise EngineError(
                f"run {record.run_id} has more than {MOST} operations, the most that a journal holds"
            )
        return (record.no << SHIFT) + number


def contested_runs(database: sqlite3.Connection) -> set[int]:
    """Return the numbers of the runs with signals that are not written as seen by the worker.

    A signal that the worker has taken meanwhile counts too: it may have come while a wait was being ended.
    """
    return {run for (run,) in database.execute("SELECT run FROM signal WHERE is_seen = 0")}


def _newest(database: sqlite3.Connection) -> tuple[int, float]:
    """Return the highest number of a run, and the newest time."""
    (no,) = database.execute("SELECT coalesce(max(no), 0) FROM run").fetchone()
    row = database.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()
    return no, _seconds(row)


def time_before_leap(database: sqlite3.Connection, now: float, keep_s: float | None) -> float | None:
    """Return the newest time of the journal, where the clock is far ahead of it and would end something.

    A machine that starts with a wrong date would do so for good. What would end is a run whose time to wait
    is over, one that was cut off while it may have waited, or one that would be forgotten for its age. None
    where the clock is to be trusted.
    """
    row = database.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()
    newest = max(released_at(database), _seconds(row))
    if now - newest <= _LEAP_S or not _would_end_something(database, now, keep_s):
        return None
    # Of runs that have ended no operation yet; it reads all runs, and so it comes last.
    (began,) = database.execute("SELECT max(began) FROM run").fetchone()
    newest = max(newest, began or 0.0)
    return newest if newest and now - newest > _LEAP_S else None


def _would_end_something(database: sqlite3.Connection, now: float, keep_s: float | None) -> bool:
    oldest = 0.0 if keep_s is None else now - keep_s
    (ends,) = database.execute(
        "SELECT EXISTS (SELECT 1 FROM run WHERE wake <= ?)"
        " OR EXISTS (SELECT 1 FROM run WHERE state = 'running')"
        " OR EXISTS (SELECT 1 FROM run WHERE ended < ? AND parent IS NULL)",
        (now, oldest),
    ).fetchone()
    return bool(ends)


def released_at(database: sqlite3.Connection) -> float:
    """Return the newest time at which an operator trusted the wall clock; 0.0 where none did."""
    row = database.execute("SELECT value FROM meta WHERE name = 'released'").fetchone()
    return _seconds(row)


def _seconds(row: tuple[object] | None) -> float:
    """Return a time of the journal; 0.0 where there is none.

    Raises:
        DamagedRowError: it is no time.
    """
    match row:
        case None:
            return 0.0
        case (float() | int() as seconds,) if isfinite(seconds):
            return float(seconds)
        case _:
            raise DamagedRowError("the time of the runs cannot be read")


def release(database: sqlite3.Connection, at: float) -> None:
    """Record that an operator trusts the wall clock, which shows this time."""
    database.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('released', ?)", (at,))


def _write_with_turn() -> None:
    """Do nothing; what was put before is written with this turn of the event loop."""
