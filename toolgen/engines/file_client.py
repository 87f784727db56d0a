"""Clients of runs that are kept in a file, in the process of the worker and in others.

They read what is written and nothing else, so that they hear of nothing that a killed process takes with it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.tasks import start_task
from toolgen.runtime.engine import OnForget, Receipt, RunState, RunStatus, RunWait, WaitStatus, unknown_run
from toolgen.runtime.stores import StoreError
from toolgen.runtime.stores.batched_file import BatchedFile
from toolgen.runtime.stores.sqlite_batches import SqliteBatches
from toolgen.runtime.stores.sqlite_connection import Synchronous

from .client import closed_error, wait_over_error
from .file_worker import FileWatch, FileWorker
from .journal import RunRecord, encode
from .live_run import CallLater, Notifier
from .runs import Runs
from .sqlite_checks import find_damage
from .sqlite_journal import RunClock, SqliteJournal, contested_runs, release
from .sqlite_records import read_record
from .sqlite_rows import (
    read_answer,
    read_events,
    read_open_waits,
    read_state,
    read_status,
    read_statuses,
    read_wait,
)
from .sqlite_steps import (
    add_answer,
    add_cancellation,
    add_signal,
    answer_state,
    delete_session,
    engine_id,
    start_run,
)
from .sqlite_tables import FORMAT, run_number

_TAKEN_S: Final = 5.0
"""How long a client waits for the worker of another process to take its answer or cancellation."""


class FileClient:
    """Writes into the file, notifies the worker, and reads the results."""

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Synchronous,
        keep_runs: int,
        keep_s: float | None,
        clock: Callable[[], float],
        call_later: CallLater,
        max_payload_bytes: int | None,
    ) -> None:
        """Open a file, which is created where it is missing.

        Args:
            path: The file.
            synchronous: As `InProcessEngine` has it.
            keep_runs: How many root runs that are over are kept, or some more.
            keep_s: How long they are kept, in seconds; None for ever.
            clock: Gives seconds since 1970.
            call_later: Ends waits and pauses.
            max_payload_bytes: The most bytes of JSON of one argument, result or signal.

        Raises:
            StoreError: it cannot be opened, or it is something else; the class says why.
        """
        self._clock = RunClock(clock)
        self._batches = SqliteBatches(path, FORMAT, synchronous=synchronous, contested=contested_runs)
        self.file = BatchedFile(self._batches)
        """For the store of the conversations of the runs."""
        self._journal = SqliteJournal(self._batches, self._clock)
        self.runs = Runs(self._journal, self._clock, call_later, max_payload_bytes)
        self._worker = FileWorker(
            path,
            batches=self._batches,
            journal=self._journal,
            runs=self.runs,
            clock=self._clock,
            call_later=call_later,
            keep_runs=keep_runs,
            keep_s=keep_s,
        )
        self._call_later = call_later
        self._watch = FileWatch(path, call_later, self._on_change)
        self._notifiers: dict[str, Notifier] = {}
        self._starting: set[asyncio.Task[Any]] = set()
        self._version = 0
        self._is_closed = False
        self._batches.on_commit = self._on_commit
        self._worker.on_lost = self._batches.on_damage = self._wake_all
        self.runs.followers.on_news = self._wake
        self.id = self._batches.write_now(engine_id)

    @property
    def held_s(self) -> float:
        return self._clock.held_s

    async def start(self, *, worker: bool, only: Collection[str] | None) -> None:
        """Watch the file, as its worker or as one of its clients.

        With `only` the worker executes these runs and what they start; beside another one it is a client.

        Raises:
            EngineError: another worker has the file.
            StoreError: the file cannot be used.
        """
        self._batches.reopen()
        self._is_closed = False
        if worker:
            await self._worker.start(only)
        self._watch.start(is_worker=self._worker.is_working)

    async def check(self) -> tuple[str, ...]:
        return tuple(await self._batches.read_beside(find_damage))

    async def close(self) -> None:
        self._is_closed = True
        self._wake_all()
        await self._worker.close()
        self._watch.stop()

    def tell_forgotten(self, on_forget: OnForget) -> None:
        self._worker.pruning.on_forget = on_forget

    async def start_run(self, loop: str, text: bytes, *, run_id: str, session: str) -> None:
        self.runs.require_loop(loop, run_id)
        start = self._start_run(loop, text, run_id=run_id, session=session)
        # What is written is executed, although the caller is cancelled meanwhile.
        await asyncio.shield(start_task(self._starting, start, name=f"start {run_id}"))

    async def _start_run(self, loop: str, text: bytes, *, run_id: str, session: str) -> None:
        is_ours = self._worker.is_working
        state = "running" if is_ours else "new"
        no = await self._batches.run(
            partial(start_run, run_id=run_id, loop=loop, given=text, session=session, state=state)
        )
        if no is None:
            return
        if is_ours and self._worker.is_working:
            record = RunRecord(run_id=run_id, loop=loop, input=text, parent=None, session=session, no=no)
            self._journal.adopt(record)
            self.runs.resume([record])
        else:
            self._notify_worker()

    async def release_clock(self, at: float) -> None:
        await self._batches.run(partial(release, at=at))
        self._notify_worker()

    async def signal(self, run_id: str, name: str, text: bytes, *, signal_id: str) -> None:
        await self._batches.run(
            partial(add_signal, run_id=run_id, signal_id=signal_id, name=name, payload=text)
        )
        await self._notify_and_wait()

    async def answer(self, run_id: str, op: str, text: bytes, *, key: str) -> Receipt:
        receipt = await self._batches.run(partial(add_answer, run_id=run_id, op=op, payload=text, key=key))
        if receipt != "added":
            return receipt
        state = partial(answer_state, run_id=run_id, op=op)

        def is_decided() -> bool:
            return any(self._batches.read(state))

        is_decided_in_time = await self._wait_until_taken(run_id, is_decided)
        self._journal.require_undamaged(run_id)
        if not is_decided_in_time:
            return "recorded"
        is_taken, _ = self._batches.read(state)
        if not is_taken:
            raise wait_over_error(run_id, op)
        return "accepted"

    async def kept_answer(self, run_id: str, op: str) -> Json:
        return self._batches.read(partial(read_answer, run_id=run_id, op=op))

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return self._batches.read(partial(read_wait, run_id=run_id, op=op))

    async def open_waits(self, *, session: str | None, limit: int) -> tuple[RunWait, ...]:
        return tuple(self._batches.read(partial(read_open_waits, session=session, limit=limit)))

    async def cancel(self, run_id: str, reason: str) -> None:
        live = self._journal.loaded_record(run_id) if self._worker.is_working else None
        if live is not None:
            self.runs.cancel(live, reason)
            await self._batches.run(_fail_with_batch)
            return
        text, _ = encode(reason, "the reason of a cancellation")
        if await self._batches.run(partial(add_cancellation, run_id=run_id, reason=text)):
            await self._wait_until_taken(run_id, lambda: self._batches.read(partial(_is_over, run_id=run_id)))

    async def forget_session(self, session: str) -> int:
        count = await self._batches.run(partial(delete_session, session=session))
        await self._batches.vacuum()
        return count

    async def status(self, run_id: str) -> RunStatus:
        return self._batches.read(partial(read_status, run_id=run_id))

    def events(
        self, run_id: str, *, after: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        if self._batches.read(partial(run_number, run_id=run_id)) is None:
            raise unknown_run(run_id)
        return self._follow(run_id, after, follow)

    async def list_runs(
        self, *, state: RunState | None, session: str | None, limit: int
    ) -> tuple[RunStatus, ...]:
        return tuple(self._batches.read(partial(read_statuses, state=state, session=session, limit=limit)))

    def record(self, run_id: str) -> RunRecord:
        record = self._batches.read(partial(read_record, run_id=run_id))
        if record is None:
            raise unknown_run(run_id)
        return record

    async def status_when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        # What this process has begun with moves, though the file may say for a moment that it waits. Whatever
        # is written of a run may change its state; the rest of it is read when it has.
        state = partial(read_state, run_id=run_id)
        while True:
            found = self._batches.read(state)
            if found in ("running", "waiting"):
                self.runs.require_no_fault(run_id)
                self._journal.require_undamaged(run_id)
                if not may_wait or found == "running" or self.runs.is_executing(run_id):
                    await self._wait_for_change(run_id)
                    continue
            status = self._batches.read(partial(read_status, run_id=run_id))
            if status.state == found:  # another process may have written in between
                return status

    async def _follow(
        self, run_id: str, offset: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        with self.runs.followers.follow(run_id, offset) as reports:
            while True:
                found = self._batches.read(partial(read_events, run_id=run_id, after=offset))
                if found is None:
                    return
                is_over, events = found
                for number_, event in events:
                    for report in reports.take_until(offset) if follow else ():
                        yield 0, report
                    offset = number_
                    yield offset, event
                for report in reports.take_until(offset) if follow else ():
                    yield 0, report
                if events:
                    continue
                if is_over or not follow:
                    return
                await self._wait_for_change(run_id)

    async def _notify_and_wait(self) -> None:
        """Notify the worker of a change; in its own process, wait until it has taken the change."""
        if self._worker.is_working:
            self._worker.take_changes()
            await self._journal.wait_durable()
        else:
            self._notify_worker()

    async def _wait_until_taken(self, run_id: str, is_so: Callable[[], bool]) -> bool:
        """Return whether the worker has done in time what it was notified of."""
        if self._worker.is_working:
            await self._notify_and_wait()
            return is_so()
        if not self._notify_worker():
            return False
        late = False

        def stop() -> None:
            nonlocal late
            late = True
            self._wake(run_id)

        timer = self._call_later(_TAKEN_S, stop)
        try:
            while not (found := is_so()) and not late:
                await self._wait_for_change(run_id)
        finally:
            timer.cancel()
        return found

    def _notify_worker(self) -> bool:
        """Notify the worker, here or in another process; return False when there is none."""
        if self._worker.is_working:
            self._worker.take_changes()
            return True
        return self._watch.is_watching and self._watch.tell()

    async def _wait_for_change(self, run_id: str) -> None:
        """Wait until a run may have changed.

        Raises:
            EngineError: the engine is closed.
            LeaseLostError: its worker has stopped by itself.
            StoreError: nothing can be written to the file.
        """
        self._require_progress()
        self._watch.start(is_worker=self._worker.is_working)
        bell = self._notifiers.setdefault(run_id, Notifier())
        await bell.wait()
        self._require_progress()

    def _require_progress(self) -> None:
        """Raise where no run will change."""
        if problem := self._worker.lost or self._batches.damage:
            raise problem
        if self._is_closed:
            raise closed_error()

    def _wake(self, run_id: str) -> None:
        bell = self._notifiers.pop(run_id, None)
        if bell is not None:
            bell.notify_all()

    def _wake_all(self) -> None:
        for run_id in list(self._notifiers):
            self._wake(run_id)

    def _on_commit(self, changed: set[str]) -> None:
        """Wake those who wait for a run that has changed in the file."""
        for run_id in changed:
            self._wake(run_id)
        if changed and self._worker.is_working and self._watch.is_watching:
            self._watch.tell()

    def _on_change(self) -> None:
        """Read the changes of other processes."""
        if self._worker.is_working:
            self._worker.take_changes()
        elif self._notifiers:
            try:
                version = self._batches.read(_data_version)
            except StoreError:
                self._wake_all()  # whoever waits finds out what is wrong
                return
            if version != self._version:
                self._version = version
                self._wake_all()


def _fail_with_batch(database: sqlite3.Connection) -> None:
    """Do nothing; the step fails where its batch does."""


def _is_over(database: sqlite3.Connection, run_id: str) -> bool:
    """Return whether a run is over, or forgotten."""
    row = database.execute("SELECT ended FROM run WHERE run_id = ?", (run_id,)).fetchone()
    return row is None or row[0] is not None


def _data_version(database: sqlite3.Connection) -> int:
    """Return a number that changes when another connection writes."""
    (version,) = database.execute("PRAGMA data_version").fetchone()
    return int(version)
