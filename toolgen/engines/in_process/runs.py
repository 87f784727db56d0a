"""The runs that this process executes, from their start to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.tasks import CallLater
from toolgen.stores import StoreCorruptError, StoreError

from ..context import Activity, LastEvents, Loop
from ..engine import OnEvent
from ..errors import EngineError, NondeterminismError
from .activities import LOOP_TIME, Activities, Tasks
from .context import Host, JournaledContext, WaitEnds, execute_loop, replayed
from .journal import (
    CANCEL,
    NULL,
    Ending,
    EventLog,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    decode,
    digest,
    encode,
)
from .live_run import LiveRun, Parking
from .operations import ended_run, ending_events, failure_text
from .paused_runs import PausedRuns
from .store import RunStore

log = logger("toolgen.engines")


class LoopRuns:
    """Executes loops; belongs to one event loop at a time."""

    def __init__(
        self,
        store: RunStore,
        clock: Callable[[], float],
        call_later: CallLater,
        max_payload_bytes: int | None,
    ) -> None:
        self.max_payload_bytes = max_payload_bytes
        self._store = store
        self.clock = clock
        self.tasks = Tasks()
        self.events = EventLog(store.add_event, partial(store.when_durable, is_urgent=False))
        self.followers = self.events.followers
        self.waits = WaitEnds(store, clock, call_later)
        self.paused_runs = PausedRuns(call_later)
        self.activities = Activities(
            store,
            clock,
            call_later,
            max_payload_bytes,
            tasks=self.tasks,
            events=self.events,
            paused_runs=self.paused_runs,
        )
        self._host = Host(
            activities=self.activities,
            events=self.events,
            waits=self.waits,
            paused_runs=self.paused_runs,
            max_payload_bytes=max_payload_bytes,
            child_of=self._child_of,
            detached=self._detached,
        )
        self._parking = Parking(parked=self._parked, unparked=self._unparked, stalled=self._notify_stalled)
        self._loops: Mapping[str, Loop] = {}
        self._last_events: LastEvents | None = None
        self._live: dict[str, LiveRun] = {}
        self.is_working = False
        self._keeps_parked = False
        """Whether parked runs stay in memory, because nothing else would resume them when a signal
        arrives."""

    def register(
        self,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent | None,
        last_events: LastEvents | None,
    ) -> None:
        """Set the loops and activities of runs, and the callbacks for their events."""
        self._loops, self.activities.functions = loops, activities
        self.events.on_event, self._last_events = on_event, last_events

    def start(self, *, worker: bool, only: Collection[str] | None = None) -> None:
        """Start the unfinished runs, all or only these; runs that are already executing are left alone."""
        if self.tasks.attach():  # the previous event loop ended without `close`
            self._live.clear()
            self.is_working = False
        if not worker:
            return
        unfinished: Sequence[RunRecord] = ()
        if only is not None or not self.is_working:
            unfinished = self._store.unfinished(only)  # first, so that a start that fails here can be retried
        self.is_working, self._keeps_parked = True, only is not None
        self.resume(unfinished)

    def resume(self, records: Iterable[RunRecord]) -> None:
        """Execute unfinished runs; runs that are already executing are left alone."""
        for run in [self.run_of(record) for record in records]:
            if run.task is None:
                self._begin(run)

    async def close(self) -> None:
        """Stop all runs, and log the interrupted activities; the records of the runs do not change."""
        self.activities.log_executing()
        live, self._live = self._live, {}
        self.is_working = False
        for run in live.values():
            run.is_stopped = True
        await self.tasks.close()
        self.activities.undrain()

    def run_of(self, record: RunRecord) -> LiveRun:
        """Return the live run of an unfinished record."""
        run = self._live.get(record.run_id)
        if run is None:
            above = None if record.parent is None else self._store.find_open(record.parent)
            parent = None if above is None else self.run_of(above)
            run = self._live[record.run_id] = LiveRun(record, parent, self._parking)
        return run

    def create_run(
        self,
        loop: str,
        text: bytes,
        run_id: str,
        *,
        session: str = "",
        parent: str | None = None,
        starter: str | None = None,
    ) -> LiveRun:
        """Create a run, and start it if this process is the worker.

        Raises:
            EngineError: no loop has the name.
        """
        self.require_loop(loop, run_id)
        record = RunRecord(
            run_id=run_id, loop=loop, input=text, parent=parent, session=session, starter=starter
        )
        self._store.add(record)
        run = self.run_of(record)
        if self.is_working:
            self._begin(run)
        return run

    def require_loop(self, loop: str, run_id: str) -> None:
        """Raise an `EngineError` if no registered loop has the name."""
        if loop not in self._loops:
            raise EngineError(f"no loop is registered as {loop!r}, for the run {run_id}")

    def _child_of(self, run: LiveRun, op: str, loop: str, text: bytes) -> LiveRun:
        """Return the child run of an operation, and start it if it does not exist.

        Raises:
            EngineError: no loop has the name, or another run has the id.
        """
        run_id = f"{run.record.run_id}/{op}"
        record = self._store.find(run_id)
        if record is None:
            return self.create_run(loop, text, run_id, session=run.record.session, parent=run.record.run_id)
        if record.parent != run.record.run_id:
            raise EngineError(f"a run that is not a child of {run.record.run_id} has the id {run_id}")
        if record.ending is not None:
            return LiveRun(record, run, self._parking)
        child = self.run_of(record)
        if child.task is None:
            self._begin(child)
        return child

    def _detached(self, run: LiveRun, op: str, loop: str, text: bytes) -> OpRecord:
        """Start a run that outlives its parent, and return the end of the operation, which has its id.

        Raises:
            EngineError: no loop has the name.
        """
        run_id = f"{run.record.run_id}/{op}"
        if self._store.find(run_id) is None:
            self.create_run(loop, text, run_id, session=run.record.session, starter=run.record.run_id)
        value, _ = encode(run_id, "the id of a run")
        return OpRecord(op, loop, digest(text), self.clock(), value)

    def take(self, record: RunRecord, signal: SignalRecord) -> None:
        """Cancel a run if the signal is a cancellation; otherwise pass it to the oldest wait for it."""
        if signal.signal_id == CANCEL:
            self.cancel(record, decode(signal.payload))
            return
        stored = record.signals.setdefault(signal.signal_id, signal)
        if not stored.is_taken:
            self.waits.deliver(self.run_of(record), stored)

    def cancel(self, record: RunRecord, reason: str) -> None:
        """Cancel a run and all runs that it has started, the children first.

        Raises:
            StoreError: the runs that it has started cannot be read now; a second call completes the rest.
        """
        if record.ending is None:
            self._cancel_all(record.detached, reason)
            run = self.run_of(record)
            self._end(run, "canceled", error=reason)
            if run.task is not None:
                run.task.cancel()

    def _cancel_all(self, run_ids: Iterable[str], reason: str) -> None:
        """Cancel the unfinished runs; a damaged run is skipped."""
        for record in self._records_of(run_ids, self._store.find_open).values():
            if record is not None:
                self.cancel(record, reason)

    def _records_of(
        self, run_ids: Iterable[str], find: Callable[[str], RunRecord | None]
    ) -> Mapping[str, RunRecord | None]:
        """Return the records of runs; None for a damaged one."""
        records: dict[str, RunRecord | None] = {}
        for run_id in run_ids:
            try:
                records[run_id] = find(run_id)
            except StoreCorruptError as error:
                log.error("run %s cannot be canceled and its log cannot be read: %s", run_id, error)
                records[run_id] = None
        return records

    def cancel_live(self, run_id: str, reason: str) -> None:
        """Cancel a run if it is in memory here and the runs that it started can be read now."""
        run = self._live.get(run_id)
        if run is not None:
            with suppress(StoreError):
                self.cancel(run.record, reason)

    def _parked(self, run: LiveRun) -> None:
        """Record that a run is parked; remove it from memory if it can be loaded again."""
        for wait in run.waits.values():
            if wait.op not in run.record.waits:
                self._store.add_wait(run.record, WaitRecord(wait.op, wait.about, wait.names))
        wake = min((wait.until for wait in run.waits.values() if wait.until is not None), default=None)
        self._store.park(run.record, wake, partial(self._evict, run))

    def _unparked(self, run: LiveRun) -> None:
        """Record that a parked run continues."""
        if not run.is_stopped:
            self._store.unpark(run.record)

    def _notify_stalled(self, run: LiveRun) -> None:
        """Notify the tasks that wait for a stalled run."""
        self._store.on_change(run.record.run_id)

    def require_no_fault(self, run_id: str) -> None:
        """Raise a `NondeterminismError` if the run, or a child that it waits for, is stalled here."""
        run = self._live.get(run_id)
        if run is not None:
            run.require_no_fault()

    def is_executing(self, run_id: str) -> bool:
        """Return whether this process executes the run and it is not parked."""
        run = self._live.get(run_id)
        return run is not None and run.task is not None and not run.is_parked

    def is_running(self, run_id: str) -> bool:
        """Return whether this process executes the run, and it is neither parked nor over.

        Raises:
            NondeterminismError: as `require_no_fault`.
        """
        self.require_no_fault(run_id)
        return self.is_executing(run_id) and self._live[run_id].record.ending is None

    def _evict(self, run: LiveRun, is_recorded: bool) -> None:
        """Remove a parked run with its children from memory, unless its parent is still there."""
        if not run.is_parked or run.is_stopped:
            return
        if not is_recorded:
            run.is_parked = False
            run.park_when_idle()
        elif not self._keeps_parked and (run.parent is None or run.parent.is_stopped):
            self._stop(run)

    def _stop(self, run: LiveRun) -> None:
        for child in run.children.values():
            self._stop(child)
        run.is_stopped = True
        self._live.pop(run.record.run_id, None)
        self._store.evict(run.record)
        if run.task is not None:
            run.task.cancel()

    async def replay(self, record: RunRecord) -> Json:
        """Replay a loop from the journal without operations, and return its output; see `replayed`."""
        context = JournaledContext(LiveRun(record, None, self._parking), self._host, is_replay=True)
        name = f"replay of {record.run_id}"
        return await replayed(record, context, lambda: self.tasks.start(self._execute(context, record), name))

    def _begin(self, run: LiveRun) -> None:
        if run.task is None:
            self._store.unpark(run.record)
            if run.record.began is None:
                self._store.begin(run.record, self.clock())
            run.task = self.tasks.start(self._run_loop(run), run.record.run_id)

    async def _execute(self, context: JournaledContext, record: RunRecord) -> Json:
        LOOP_TIME.set(record.began or 0.0)
        return await execute_loop(self._loops, record.loop, context, decode(record.input))

    async def _run_loop(self, run: LiveRun) -> None:
        """Run a loop to its end, and record the end."""
        record = run.record
        context = JournaledContext(run, self._host)
        output, problem = NULL, None
        try:
            value = await self._execute(context, record)
            output, _ = encode(value, f"the output of run {record.run_id}", self.max_payload_bytes)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - author code; its failure is recorded as the end of the run
            task = asyncio.current_task()
            if run.is_stopped or (task is not None and task.cancelling()):
                run.is_stopped = True
                return
            problem = error
        if run.is_stopped:
            return
        problem = context.fault or problem
        if isinstance(problem, NondeterminismError | StoreError):
            self._stalled(run, problem)
            return
        ending: Ending = "completed" if problem is None else "failed"
        text = "" if problem is None else failure_text(record.run_id, problem)
        try:
            await self.paused_runs.retry_until_readable(
                run, "", partial(self._end, run, ending, output, text)
            )
        except StoreError as error:
            self._stalled(run, error)

    def _stalled(self, run: LiveRun, problem: ToolgenError) -> None:
        log.error("run %s is stalled: %s", run.record.run_id, problem, exc_info=problem)
        run.stall(problem)

    def _end(self, run: LiveRun, ending: Ending, output: bytes = NULL, error: str = "") -> None:
        """End a run, and the child runs that it waits for; no effect on a run that is over.

        Raises:
            StoreError: the child runs cannot be read now, and nothing has ended.
        """
        if run.is_stopped:
            return
        record = run.record
        reason = error if ending == "canceled" else f"run {record.run_id} is over"
        # Reading can fail, so it comes before anything ends. Otherwise a loop could see one child end
        # although another one has not.
        find = self._store.find_open if ending == "completed" else self._store.find
        children = self._records_of(record.children, find)
        for child in children.values():
            if child is not None:
                self.cancel(child, reason)
        events: list[Mapping[str, Json]] = [{"type": "run_stream_end"}]
        if ending != "completed":
            ended = partial(ended_run, record, ending, error, self.clock(), run.begun_ops(), children.get)
            events = ending_events(record.run_id, ending, error, self._last_events, ended)
        for event in events:
            text, copy = encode(event, "an event of the engine")
            self.events.append(record, None, text, copy)
        run.is_stopped = True
        run.awake.close()
        run.unpark()
        self._live.pop(record.run_id, None)
        self._store.end(record, ending, output, error, self.clock())
        for task in run.in_flight.values():
            task.cancel()
        self._store.when_durable(partial(_over, run))


def _over(run: LiveRun) -> None:
    if run.over is not None:
        run.over.notify()
