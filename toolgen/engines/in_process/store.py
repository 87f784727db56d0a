"""The store of the runs of an engine, in memory."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

from toolgen.contract.json_value import Json

from ..context import answer_name
from ..errors import unknown_run, wait_over
from ..statuses import ForgottenRun, OpenWait, Receipt, RunState, RunStatus, RunWait, WaitStatus
from .journal import (
    NULL,
    AttemptRecord,
    Ending,
    Events,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    decode,
)
from .pruning import PRUNE, RunTree

if TYPE_CHECKING:
    from toolgen.stores.batched_file import BatchedFile  # imports SQLite only if runs are stored in a file

PAGE: Final = 100
"""Number of waits that are read at once, before other tasks can run."""


class RunStore:
    """Stores runs in memory; `SqliteStore` stores them in a file.

    The worker has the records of unfinished runs. A write by the worker changes the record immediately, and
    the writes become durable in their order. Code that reports a change to others first awaits
    `wait_durable`, or uses `when_durable`. Clients read only durable records, and their writes are durable
    when the call returns. Every text is JSON.
    """

    is_durable: ClassVar[bool] = False
    """Whether the runs survive the end of the process."""

    def __init__(self) -> None:
        self.id = f"memory_{uuid.uuid4().hex}"
        """Id of the engine, the same in all processes."""
        self.file: BatchedFile | None = None
        """File of the runs, for other tables stored with them; None in memory."""
        self.on_change: Callable[[str], None] = lambda run_id: None
        """Called with the id of a run whose state might have changed."""
        self.on_log = self.on_change
        """Called with the id of a run whose log has grown."""
        self.on_signal: Callable[[RunRecord, SignalRecord], None] = lambda record, signal: None
        """Called with a signal for a run in memory."""
        self.on_end: Callable[[], None] = lambda: None
        """Called when the end of a root run is stored."""
        self.finished = 0
        """Number of finished root runs, as far as the worker knows."""
        self._records: dict[str, RunRecord] = {}
        self._open: dict[str, RunRecord] = {}
        """Records of unfinished runs."""
        self._ended: dict[str, RunRecord] = {}
        """Records of finished root runs, in the order of their ends."""
        self._awaited: Counter[str] = Counter()
        """Number of waiting tasks for each run id."""

    def find(self, run_id: str) -> RunRecord | None:
        return self._records.get(run_id)

    def find_open(self, run_id: str) -> RunRecord | None:
        """Return the record of an unfinished run."""
        return self._open.get(run_id)

    def unfinished(self, only: Collection[str] | None = None) -> list[RunRecord]:
        """Return the runs to execute, all or only these, in the order in which they were added."""
        return [record for record in self._open.values() if only is None or record.run_id in only]

    def add(self, record: RunRecord) -> None:
        """Add a new run, as a child of its parent or as a detached run of the run that started it."""
        self._open[record.run_id] = record
        self._add_record(record)

    def _add_record(self, record: RunRecord) -> None:
        self._records[record.run_id] = record
        if record.parent is not None:
            self._records[record.parent].children.append(record.run_id)
        starter = None if record.starter is None else self._records.get(record.starter)
        if starter is not None:
            starter.detached.append(record.run_id)

    def begin(self, record: RunRecord, at: float) -> None:
        record.began = at

    def end_operation(self, record: RunRecord, op: OpRecord, taken: SignalRecord | None = None) -> None:
        """Record the end of an operation, and the signal that it consumed."""
        record.ops[op.op] = op
        if taken is not None:
            taken.is_taken = True

    def expire(self, record: RunRecord, op: OpRecord, then: Callable[[bool], None]) -> None:
        """Record that a wait timed out, unless an unseen signal for it is stored.

        `then` receives whether it was recorded.
        """
        record.ops[op.op] = op
        then(True)

    def record_attempt(self, record: RunRecord, op: str, attempt: AttemptRecord) -> None:
        """Record a failed or begun attempt at an operation."""
        record.attempts[op] = attempt

    def may_have_begun(self, record: RunRecord, op: str) -> bool:
        """Return whether a call that begins might already have begun, in a record that the store has lost."""
        return False

    def add_wait(self, record: RunRecord, wait: WaitRecord) -> None:
        record.waits[wait.op] = wait

    def add_event(self, record: RunRecord, key: str | None, text: bytes) -> int:
        """Append an event with a new key and return its offset; it is written with the next batch.

        Raises:
            EngineError: the run has reached the maximum number of events.
        """
        if key is not None:
            record.keys.add(key)
        record.events.append(text)
        self.on_log(record.run_id)
        return len(record.events)

    def park(self, record: RunRecord, wake: float | None, then: Callable[[bool], None]) -> None:
        """Record that a run only waits for a signal or for the time `wake`.

        `then` receives True once the run can be removed from memory, and False if the run has an unseen
        signal.
        """
        record.is_parked = True
        self.on_change(record.run_id)

    def unpark(self, record: RunRecord) -> None:
        """Record that a parked run executes again."""
        record.is_parked = False

    def evict(self, record: RunRecord) -> None:
        """Evict the record of a parked run from memory."""

    def end(self, record: RunRecord, ending: Ending, output: bytes, error: str, at: float) -> None:
        record.ending, record.output, record.error = ending, output, error
        record.attempts.clear()
        del self._open[record.run_id]
        self.on_change(record.run_id)
        if record.parent is None:
            self._ended[record.run_id] = record
            self.finished += 1
            self.on_end()

    def when_durable(self, callback: Callable[[], None], *, is_urgent: bool = True) -> None:
        """Call back when all earlier records are durable, soon if urgent; immediately in memory."""
        callback()

    async def wait_durable(self) -> None:
        """Wait until everything recorded so far is durable."""
        return

    async def wait_durable_through_outages(self) -> None:
        """Wait as `wait_durable`, also while the file is damaged or cannot be written to."""
        return

    async def add_run(
        self, record: RunRecord, *, is_ours: bool, then: Callable[[RunRecord, bool], None]
    ) -> None:
        """Add a run unless its id is in use; this process executes it if it `is_ours`.

        `then` is called when the run is durable, even if the caller is canceled meanwhile.
        """
        if record.run_id not in self._records:
            self.add(record)
            then(record, is_ours)

    async def add_signal(self, run_id: str, signal: SignalRecord) -> bool:
        """Add a signal, once per signal id; return whether the run is unfinished.

        Raises:
            UnknownRunError: no run has the id.
        """
        record = self.record(run_id)
        if record.ending is None and signal.signal_id not in record.signals:
            self.on_signal(record, signal)
        return record.ending is None

    async def add_answer(self, run_id: str, op: str, text: bytes, key: str, session: str) -> Receipt:
        """Add the answer to a wait, and return `recorded`; only the first answer counts.

        Raises:
            UnknownRunError: no run has the id.
            WaitOverError: the wait ended without an answer, the run is over, or this session has ended, if
                the store has sessions.
        """
        record, name = self.record(run_id), answer_name(op)
        earlier = record.signals.get(name)
        if earlier is not None:
            return "same" if earlier.key == key else "conflict"
        if record.ending is not None or op in record.ops:
            raise wait_over(run_id, op)
        self.on_signal(record, SignalRecord(name, name, text, key=key))
        return "recorded"

    def is_answer_seen(self, run_id: str, op: str) -> bool:
        """Return whether the worker has the answer to a wait.

        Raises:
            WaitOverError: no worker will see it, because the run is over.
        """
        return True

    def state(self, run_id: str) -> RunState | None:
        """Return the state of a run; None if it is unknown."""
        record = self._records.get(run_id)
        return None if record is None else _state(record)

    def status(self, run_id: str) -> RunStatus:
        return _status(self.record(run_id))

    def list_runs(self, state: RunState | None, of: str | None, after: str, limit: int) -> list[RunStatus]:
        """Return runs, newest first; as `Engine.list_runs`."""
        return self.list_in_memory(state, of, after, limit)

    def list_in_memory(
        self, state: RunState | None, session: str | None, after: str, limit: int
    ) -> list[RunStatus]:
        """Return the runs in memory; otherwise as `list_runs`."""
        records = reversed(self._records.values())
        if after:
            any(record.run_id == after for record in records)  # advances the iterator past this run
        statuses = (
            _status(record)
            for record in records
            if session in (None, record.session) and state in (None, _state(record))
        )
        return [*islice(statuses, limit)]

    def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        record = self.record(run_id)
        wait, answer = record.waits.get(op), record.signals.get(answer_name(op))
        if wait is None:
            return None
        return WaitStatus(
            about=decode(wait.about),
            is_open=answer is None and record.ending is None and op not in record.ops,
            answer=None if answer is None else decode(answer.payload),
        )

    def accepted_answer(self, run_id: str, op: str) -> Json:
        answer = self.record(run_id).signals.get(answer_name(op))
        return None if answer is None else decode(answer.payload)

    def open_waits(self, session: str | None, limit: int) -> Iterator[RunWait]:
        """Yield the open waits that have a subject, of all runs or of a session, oldest first.

        The caller can let other tasks run after each `PAGE` of them.
        """
        waits = (
            RunWait(run_id=record.run_id, op=wait.op, about=wait.about)
            for record in [*self._open.values()]
            if record.ending is None and session in (None, record.session)
            for wait in _open_waits(record)
            if answer_name(wait.op) not in record.signals
        )
        return islice(waits, limit)

    def events(self, run_id: str, after: int) -> Events | None:
        """Return whether a run is over, and its events after an offset; None if it is unknown."""
        record = self._records.get(run_id)
        if record is None:
            return None
        texts = islice(record.events, after, None)
        return record.ending is not None, [*enumerate(map(decode, texts), after + 1)]

    def record(self, run_id: str) -> RunRecord:
        """Return the complete record of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        record = self._records.get(run_id)
        if record is None:
            raise unknown_run(run_id)
        return record

    async def check(self) -> tuple[str, ...]:
        """Return descriptions of damage."""
        return ()

    def to_forget(self, keep: int, before: float | None = None) -> list[RunTree]:
        """Return the oldest run trees, at most `PRUNE`, beyond `keep` or that ended before a time.

        Trees with a run that a task waits for are left out.
        """
        many = min(len(self._ended) - keep, PRUNE)
        return self._not_awaited(
            RunTree(0, tuple(self._below(run_id))) for run_id in islice(self._ended, max(0, many))
        )

    @contextmanager
    def sparing(self, run_id: str) -> Iterator[None]:
        """Exclude trees with this run from `to_forget` inside the context, because a task waits for it."""
        self._awaited[run_id] += 1
        try:
            yield
        finally:
            self._awaited[run_id] -= 1
            if not self._awaited[run_id]:
                del self._awaited[run_id]

    def _not_awaited(self, trees: Iterable[RunTree]) -> list[RunTree]:
        return [tree for tree in trees if not any(self._awaited[run.run_id] for run in tree.runs)]

    async def drop(self, trees: Sequence[RunTree]) -> None:
        """Delete the runs that `to_forget` returned."""
        for tree in trees:
            if self._ended.pop(tree.runs[0].run_id, None) is not None:  # another call has not deleted it
                self.finished -= 1
                for run in tree.runs:
                    del self._records[run.run_id]

    async def forget_session(self, session: str) -> int:
        """Delete the finished root runs of a session, with their descendants; return the number of runs."""
        roots = [run_id for run_id, record in self._ended.items() if record.session == session]
        trees = [RunTree(0, tuple(self._below(run_id))) for run_id in roots]
        await self.drop(trees)
        return sum(len(tree.runs) for tree in trees)

    def _below(self, run_id: str) -> Iterator[ForgottenRun]:
        record = self._records[run_id]
        yield ForgottenRun(run_id=run_id, session=record.session)
        for child in record.children:
            yield from self._below(child)


def _state(record: RunRecord) -> RunState:
    return record.ending or ("waiting" if record.is_parked else "running")


def _status(record: RunRecord) -> RunStatus:
    return RunStatus(
        run_id=record.run_id,
        state=_state(record),
        input=decode(record.input),
        output=decode(record.output),
        error=record.error,
        children=tuple(record.children),
        awaiting=tuple(_open_waits(record)) if record.ending is None else (),
        session=record.session,
    )


def _open_waits(record: RunRecord) -> Iterator[OpenWait]:
    """Yield the waits without a recorded end that have a subject; some might have an answer."""
    for wait in [*record.waits.values()]:
        if wait.op not in record.ops and wait.about != NULL:
            yield OpenWait(op=wait.op, about=decode(wait.about))
