"""The engine without a server: one task per run, and a journal in memory or in a SQLite file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from toolgen.contract.json_value import Json
from toolgen.contract.tasks import CallLater, in_pieces

from ..context import Activity, LastEvents, Loop
from ..engine import EngineCaps, OnEvent, OnForget
from ..errors import already_registered, engine_closed, unknown_run
from ..statuses import LostJournal, Receipt, RunState, RunStatus, RunWait, WaitStatus
from .journal import CANCEL, MOST_BYTES, RunRecord, SignalRecord, encode
from .live_run import SteadyClock, call_later
from .memory_worker import MemoryWorker
from .runs import LoopRuns
from .statuses import OPEN, Statuses
from .store import PAGE, RunStore

if TYPE_CHECKING:
    from toolgen.stores.batched_file import BatchedFile

    from .file_worker import FileWorker

_TAKEN_S: Final = 5.0
"""Maximum wait of a client for the worker of another process to read its answer or cancellation, in seconds.
"""


class InProcessEngine:
    """Executes runs in this process and this event loop.

    Without a path, runs end with the process. With a path, they resume when the next process opens the file:
    one worker at a time executes them, and any number of clients can start, signal and watch them.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        worker: bool = True,
        synchronous: Literal["NORMAL", "FULL"] = "FULL",
        keep_runs: int = 1000,
        keep_s: float | None = None,
        max_payload_bytes: int | None = None,
        clock: Callable[[], float] | None = None,
        call_later: CallLater = call_later,
    ) -> None:
        """Construct an engine.

        Args:
            path: File that stores the runs, created if it is missing; None stores them in memory.
            worker: Whether `start` executes runs. If False, this engine is a client of its file's worker.
            synchronous: Stored runs survive a power failure (FULL), or only the end of the process (NORMAL).
            keep_runs: Number of finished runs to keep, with their children; a file can have a few more.
            keep_s: Seconds to keep finished runs; None keeps them forever. Only with a file.
            max_payload_bytes: Maximum size of the JSON of one argument, result or signal, in bytes; at most
                64 MiB with a file.
            clock: Returns seconds since 1970; by default the current wall time, advanced monotonically.
            call_later: Timer for the waits of runs and the delays between attempts; by default asyncio's.

        Raises:
            StoreError: the file cannot be opened, or has another format; the class says why.
        """
        self._wall, self._call_later = clock or SteadyClock(), call_later
        self._max_payload_bytes = max_payload_bytes
        self._may_work = worker
        self._is_registered = self._is_closed = False
        if path is None:
            self._store: RunStore = RunStore()
            self._runs = LoopRuns(self._store, self._wall, call_later, max_payload_bytes)
            self._worker: MemoryWorker | FileWorker = MemoryWorker(self._store, self._runs, keep_runs)
        else:
            from .file_worker import FileWorker  # imports SQLite only if runs are stored in a file
            from .sqlite_store import SqliteStore

            self._max_payload_bytes = min(max_payload_bytes or MOST_BYTES, MOST_BYTES)
            self._store = store = SqliteStore(Path(path), self._wall, synchronous=synchronous)
            self._runs = LoopRuns(store, store.clock, call_later, self._max_payload_bytes)
            self._worker = FileWorker(store, self._runs, call_later, keep_runs=keep_runs, keep_s=keep_s)
        self._store.on_change, self._store.on_log = self._runs.followers.changed, self._runs.followers.wake
        self._statuses = Statuses(self._store, self._runs, self._worker, self._wait_for_change)
        self.name, self.id = "in-process", self._store.id
        self._caps = EngineCaps(
            is_durable=path is not None, has_many_workers=False, max_payload_bytes=self._max_payload_bytes
        )

    @property
    def caps(self) -> EngineCaps:
        return self._caps

    @property
    def file(self) -> BatchedFile | None:
        """File of the runs, which also has tables for conversations; None in memory.

        Rows that an activity puts into it are committed before the end of the activity, or with it.
        """
        return self._store.file

    @property
    def is_worker(self) -> bool:
        return self._runs.is_working

    def secret(self, *, create: bool = True) -> bytes | None:
        """Return the secret that seals suspended calls: with a file, the content of `<path>.key`.

        Raises:
            StoreError: the key file cannot be read or created, or other users can access it.
        """
        return self._worker.secret(create=create)

    def register(
        self,
        *,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None = None,
        last_events: LastEvents | None = None,
        on_forget: OnForget | None = None,
    ) -> None:
        if self._is_registered:
            raise already_registered()
        self._is_registered = True
        self._runs.register(loops, activities, on_event, last_events)
        if on_forget is not None:
            self._worker.pruning.on_forget = on_forget

    async def start(self, *, worker: bool = True, only: Collection[str] | None = None) -> None:
        """Start executing runs, including those left by `close`, with the current context variables.

        With `only`, execute these runs and the runs that they start; if another worker owns the file, it
        executes them.

        Raises:
            EngineError: another worker owns the file, or another event loop owns the engine.
            StoreError: the file cannot be used.
        """
        self._runs.tasks.require_loop()
        self._is_closed = False
        await self._worker.start(worker=worker and self._may_work, only=only)

    async def drain(self, seconds: float) -> bool:
        """Start no further activity, and wait until the running ones have ended; see `DrainingEngine`.

        Raises:
            EngineError: the engine is closed, or another event loop owns it.
        """
        self._require_open()
        return await self._runs.activities.drain(seconds)

    @property
    def is_draining(self) -> bool:
        """Whether the engine was drained, and not closed since."""
        return self._runs.activities.is_draining

    @property
    def held_s(self) -> float:
        """Seconds by which the wall clock is ahead of the clock of the runs, which does not trust it."""
        return self._worker.held_s

    async def release_clock(self) -> None:
        """Trust the wall clock of now, however far it is ahead of the newest time of the file.

        Raises:
            EngineError: the engine is closed, or another event loop owns it.
            StoreError: the file cannot be used.
        """
        self._require_open()
        await self._worker.release_clock(self._wall())

    async def restore(self) -> LostJournal | None:
        """Accept this file as the replacement of the file that its witness knows.

        Raises:
            EngineError: a worker executes the runs, they are in memory, the engine is closed, or another
                event loop owns it.
            StoreError: the file cannot be used.
        """
        self._require_open()
        lost = await self._worker.restore()
        self.id = self._store.id  # of a file that was just created
        return lost

    async def check(self) -> tuple[str, ...]:
        """Return one sentence for each fault of the file, its key, its lock and its witness.

        Raises:
            EngineError: the engine is closed, or another event loop owns it.
            StoreError: the file cannot be read.
        """
        self._require_open()
        return (*await self._store.check(), *self._worker.faults())

    def describe(self) -> tuple[str, ...]:
        """Describe the worker of the file and whether it has a key; return nothing for runs in memory."""
        return self._worker.describe()

    async def close(self) -> None:
        """Stop executing, within about a second; a later `start` resumes from the journal."""
        if not self._is_closed:
            self._is_closed = True
            self._runs.followers.wake_all()
            await self._worker.close()

    async def start_run(self, loop: str, arg: Json, *, run_id: str, session: str = "") -> None:
        """Start a run; it executes at the latest when the engine starts.

        Raises:
            EngineError: no loop has the name, the input or an id is not JSON, or the engine is closed.
        """
        self._require_open()
        encode([run_id, session], "the id of a run, with its session,")
        text, _ = encode(arg, f"the input of run {run_id}", self._max_payload_bytes)
        self._runs.require_loop(loop, run_id)
        record = RunRecord(run_id=run_id, loop=loop, input=text, parent=None, session=session)
        await self._store.add_run(record, is_ours=self._worker.is_working, then=self._execute)

    def _execute(self, record: RunRecord, is_ours: bool) -> None:
        if is_ours and self._worker.is_working:
            self._runs.resume([record])
        else:
            self._worker.notify()

    async def signal(self, run_id: str, name: str, payload: Json, *, signal_id: str) -> None:
        self._require_open()
        what = f"the payload of the signal {name} to run {run_id}"
        text, _ = encode(payload, what, self._max_payload_bytes)
        await self._store.add_signal(run_id, SignalRecord(signal_id, name, text))
        await self._notify()

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str, session: str = "") -> Receipt:
        self._require_open()
        text, _ = encode(payload, f"the answer to {op} of run {run_id}", self._max_payload_bytes)
        receipt = await self._store.add_answer(run_id, op, text, key, session)
        if receipt == "recorded":
            is_taken = await self._wait_for(run_id, lambda: self._store.is_answer_seen(run_id, op))
            self._worker.require_sound(run_id)
            return "accepted" if is_taken else receipt
        return receipt

    async def accepted_answer(self, run_id: str, op: str) -> Json:
        return self._store.accepted_answer(run_id, op)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        return self._store.wait_status(run_id, op)

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        return tuple([wait async for wait in in_pieces(self._store.open_waits(session, limit), PAGE)])

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        self._require_open()
        text, _ = encode(reason, "the reason of a cancellation")
        # immediately; activities that follow fail because their end cannot be stored
        self._runs.cancel_live(run_id, reason)
        is_open = await self._store.add_signal(run_id, SignalRecord(CANCEL, "", text))
        if is_open and not await self._wait_for(run_id, lambda: self._store.state(run_id) not in OPEN):
            self._worker.require_sound(run_id)

    async def forget_session(self, session: str) -> int:
        """Delete the finished runs of a session, with their children, and return their number.

        In a file, their bytes remain until `vacuum`.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        return await self._store.forget_session(session)

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows, and empty its write-ahead log.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        if (file := self._store.file) is not None:
            await file.vacuum()

    async def status(self, run_id: str) -> RunStatus:
        return self._statuses.of(run_id)

    async def settled(self, run_id: str) -> RunStatus:
        return await self._statuses.when(run_id, may_wait=True)

    async def result(self, run_id: str) -> RunStatus:
        return await self._statuses.when(run_id, may_wait=False)

    def events(
        self, run_id: str, *, after: int = 0, follow: bool = True
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]:
        if self._store.state(run_id) is None:
            raise unknown_run(run_id)
        is_sound = False

        def require_news() -> None:
            nonlocal is_sound
            is_sound = is_sound or self._worker.require_sound(run_id)
            self._require_progress()

        read = partial(self._store.events, run_id)
        return self._runs.followers.events(run_id, read, max(0, after), require_news if follow else None)

    async def list_runs(
        self, *, state: RunState | None = None, session: str | None = None, after: str = "", limit: int = 100
    ) -> tuple[RunStatus, ...]:
        return tuple(self._statuses.list(state, session, after, limit))

    async def replay(self, run_id: str) -> Json:
        """Run the loop of a completed run again from the journal, without activities, and return its output.

        Raises:
            UnknownRunError: no run has the id.
            EngineError: the run is not completed.
            NondeterminismError: the loop makes other operations or returns another output than the first
                time.
        """
        return await self._runs.replay(self._store.record(run_id))

    def _require_open(self) -> None:
        self._runs.tasks.require_loop()
        if self._is_closed:
            raise engine_closed()

    async def _notify(self) -> bool:
        """Notify the worker, if there is one, and return whether there is.

        If the worker is in this process, wait until the change is durable.
        """
        has_worker = self._worker.notify()
        if self._worker.is_working:
            await self._store.wait_durable()
        return has_worker

    async def _wait_for(self, run_id: str, condition: Callable[[], bool]) -> bool:
        """Notify the worker of a change, and return whether the expected result appeared in time."""
        if not await self._notify():
            return False
        is_late = self._worker.is_working

        def stop() -> None:
            nonlocal is_late
            is_late = True
            self._runs.followers.changed(run_id)

        timer = None if is_late else self._call_later(_TAKEN_S, stop)
        try:
            while not (is_true := condition()) and not is_late:
                await self._wait_for_change(run_id)
        finally:
            if timer is not None:
                timer.cancel()
        return is_true

    async def _wait_for_change(self, run_id: str) -> None:
        """Wait until a run might have changed; raise as `_require_progress` does."""
        self._require_progress()
        await self._runs.followers.change(run_id)
        self._require_progress()

    def _require_progress(self) -> None:
        """Raise if this engine cannot change runs. Start listening for changes by other processes."""
        if problem := self._worker.problem:
            raise problem
        if self._is_closed:
            raise engine_closed()
        self._worker.watch()
