"""In-process `RunContext` of a loop: each operation is read from the journal, or executed and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from toolgen.contract.json_value import Json
from toolgen.contract.tasks import CallLater, in_pieces

from ..context import CallOptions, Loop, RunContext
from ..errors import ActivityFailed, EngineError, NondeterminismError
from ..statuses import Signal
from .activities import LOOP_TIME, Activities, ActivityCall, StartedActivity, result_of
from .journal import (
    NULL,
    EventLog,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    digest,
    encode,
    log_key,
)
from .live_run import AT_ONCE, LiveRun, LoopWait, Wakeup
from .operations import EXIT, Gathering, OneByOne, cancel_gathered, duplicate_operation, result_or_failure
from .paused_runs import PausedRuns
from .store import RunStore

T = TypeVar("T")

DEFAULT: Final = CallOptions()
WAIT: Final = "wait"
"""Marker that the journal stores for a wait, in the place of an activity name."""
_AGAIN_S: Final = 0.02
"""Seconds until the next attempt to end a wait that could not be ended because of a signal."""


async def execute_loop(loops: Mapping[str, Loop], name: str, context: RunContext, argument: Json) -> Json:
    """Run the loop of a run and return its result.

    Raises:
        NondeterminismError: no loop has the name, but one had it when the run began.
        Exception: the exception of the loop; `SystemExit` becomes a `RuntimeError`.
    """
    if name not in loops:
        raise NondeterminismError(f"no loop is registered as {name!r}, for run {context.run_id}")
    try:
        output: Json = await loops[name](context, argument)
    except SystemExit as error:  # raised from a task, it would end the event loop
        raise RuntimeError(EXIT) from error
    return output


class WaitEnds:
    """Ends each wait once, with or without a signal, and records the end of an operation for its loop."""

    def __init__(self, store: RunStore, clock: Callable[[], float], call_later: CallLater) -> None:
        self._store = store
        self._clock = clock
        self._call_later = call_later

    def deliver(self, run: LiveRun, signal: SignalRecord) -> None:
        """Pass a stored signal to the oldest wait for it."""
        wait = run.waiting_for(signal.name)
        if wait is not None:
            self._resolve(run, wait, signal)

    async def take_or_none(self, run: LiveRun, wait: LoopWait, *, is_final: bool) -> OpRecord | None:
        """Take a stored signal for the wait and return the end of the wait; None if the loop must wait."""
        signal = run.next_signal(wait.names)
        if signal is None and not is_final:
            return None
        return await self.record_end(run, self._record(wait, signal, 0.0), signal)

    async def record_end(self, run: LiveRun, record: OpRecord, taken: SignalRecord | None = None) -> OpRecord:
        """Record the end of an operation with the signal that it took; return it once it is durable."""
        self._store.end_operation(run.record, record, taken)
        with run.awake.busy():
            await self._store.wait_durable_through_outages()
        return record

    async def wait_for_durable_records(self, run: LiveRun) -> None:
        """Wait until every record that the loop has seen is durable, before another run can see it."""
        if run.record.unwritten:
            with run.awake.busy():
                await self._store.wait_durable_through_outages()

    async def record_child_end(self, run: LiveRun, op: str, child: RunRecord) -> OpRecord:
        """Record the end of a child run as the end of its operation, as `record_end` does."""
        assert child.ending is not None, "a child that goes on has no end to keep"
        kind = "" if child.ending == "completed" else child.ending
        end = OpRecord(op, child.loop, digest(child.input), self._clock(), child.output, kind, child.error)
        return await self.record_end(run, end)

    async def wait_for_signal(self, run: LiveRun, wait: LoopWait, until: float | None) -> OpRecord:
        """Wait for a signal until `until`, in seconds since 1970, and return the end of the wait."""
        if until is not None:
            wait.until = until
            self._set_timer(run, wait, until, until - self._clock())
        if wait.about != NULL and wait.op not in run.record.waits:
            self._store.add_wait(run.record, WaitRecord(wait.op, wait.about, wait.names))
        run.waits[wait.op] = wait
        run.moved()
        try:
            while wait.record is None:
                await wait.wakeup.wait()
        finally:
            if wait.timer is not None:
                wait.timer.cancel()
            if run.waits.pop(wait.op, None) is not None:
                run.moved()
        return wait.record

    def _set_timer(self, run: LiveRun, wait: LoopWait, until: float, delay_s: float) -> None:
        wait.timer = self._call_later(max(0.0, delay_s), partial(self._expire, run, wait, until))

    def _expire(self, run: LiveRun, wait: LoopWait, until: float) -> None:
        if run.is_stopped or run.waits.pop(wait.op, None) is None:
            return
        record = self._record(wait, None, until)
        run.ends_not_durable += 1
        run.unpark()
        self._store.expire(run.record, record, partial(self._wait_expired, run, wait, record))

    def _wait_expired(self, run: LiveRun, wait: LoopWait, record: OpRecord, is_recorded: bool) -> None:
        if is_recorded:
            self._notify(run, wait, record)
            return
        run.ends_not_durable -= 1  # a signal arrived first
        if run.is_stopped:
            return
        run.waits[wait.op] = wait
        signal = run.next_signal(wait.names)
        if signal is not None:
            self._resolve(run, wait, signal)
        elif wait.until is not None:
            self._set_timer(run, wait, wait.until, _AGAIN_S)  # the signal was for another wait

    def _resolve(self, run: LiveRun, wait: LoopWait, signal: SignalRecord) -> None:
        record = self._record(wait, signal, 0.0)
        self._store.end_operation(run.record, record, signal)
        run.waits.pop(wait.op, None)
        run.ends_not_durable += 1
        run.unpark()
        self._store.when_durable(partial(self._notify, run, wait, record))

    def _notify(self, run: LiveRun, wait: LoopWait, record: OpRecord) -> None:
        run.ends_not_durable -= 1
        wait.record = record
        wait.wakeup.notify()
        run.moved()

    def _record(self, wait: LoopWait, signal: SignalRecord | None, until: float) -> OpRecord:
        value = NULL
        if signal is not None:
            name, _ = encode(signal.name, "the name of a signal")
            value = b'{"name":%b,"payload":%b}' % (name, signal.payload)
        return OpRecord(wait.op, WAIT, wait.digest, max(self._clock(), until), value)


@dataclass(slots=True, frozen=True, kw_only=True)
class Host:
    """Components that the runs of a process share, and functions that start child runs."""

    activities: Activities
    events: EventLog
    waits: WaitEnds
    paused_runs: PausedRuns
    max_payload_bytes: int | None
    child_of: Callable[[LiveRun, str, str, bytes], LiveRun]
    """Returns the child run of an operation, with its loop and its input; starts it if it does not exist."""
    detached: Callable[[LiveRun, str, str, bytes], OpRecord]
    """Starts a run that outlives its parent, and returns the end of the operation, which has its id."""


class JournaledContext:
    """The `RunContext` of one execution of a loop."""

    __slots__ = ("_host", "_is_replay", "_ops", "_run", "fault")

    def __init__(self, run: LiveRun, host: Host, *, is_replay: bool = False) -> None:
        self._run = run
        self._host = host
        self._is_replay = is_replay
        self._ops: set[str] = set()
        self.fault: EngineError | None = None
        """First error caused by a bug in toolgen; it counts even if the loop has caught it."""

    @property
    def run_id(self) -> str:
        return self._run.record.run_id

    @property
    def has_room(self) -> bool:
        return True

    def now(self) -> float:
        return LOOP_TIME.get()

    def start(self, op: str, activity: str, arg: Json, options: CallOptions | None = None) -> Awaitable[Json]:
        argument, copy = encode(
            arg, f"the argument of {activity} for the operation {op}", self._host.max_payload_bytes
        )
        if recorded := self._take_recorded(op, activity, argument):
            return StartedActivity(self._run.awake, recorded)
        function = self._host.activities.functions.get(activity)
        if function is None:
            raise EngineError(f"no activity is registered as {activity!r}, for the operation {op}")
        operation = StartedActivity(self._run.awake)
        call = ActivityCall(
            run=self._run,
            op=op,
            activity=activity,
            function=function,
            argument=argument,
            options=options or DEFAULT,
            operation=operation,
            asked_at=LOOP_TIME.get(),
        )
        self._host.activities.start(call, copy)
        return operation

    async def child(self, op: str, loop: str, arg: Json) -> Json:
        text, _ = encode(arg, f"the input of {loop} for the operation {op}", self._host.max_payload_bytes)
        recorded = self._take_recorded(op, loop, text)
        if recorded is None:
            recorded = await self._child_ended(op, loop, text)
        return result_of(recorded)

    async def _child_ended(self, op: str, loop: str, text: bytes) -> OpRecord:
        await self._host.waits.wait_for_durable_records(self._run)
        child = await self._host.paused_runs.retry_until_readable(
            self._run, op, partial(self._if_running, self._host.child_of, op, loop, text)
        )
        record = child.record
        if (record.loop, record.input) != (loop, text):
            raise self._note_fault(NondeterminismError(f"run {record.run_id} was started with another input"))
        child.over = over = child.over or Wakeup(self._run.awake)
        self._run.children[op] = child
        self._run.moved()
        try:
            while record.ending is None:
                await over.wait()
        finally:
            self._run.children.pop(op, None)
            self._run.moved()
        self._require_running()
        return await self._host.waits.record_child_end(self._run, op, record)

    async def detach(self, op: str, loop: str, arg: Json) -> str:
        text, _ = encode(arg, f"the input of {loop} for the operation {op}", self._host.max_payload_bytes)
        recorded = self._take_recorded(op, loop, text)
        if recorded is None:
            await self._host.waits.wait_for_durable_records(self._run)
            end = await self._host.paused_runs.retry_until_readable(
                self._run, op, partial(self._if_running, self._host.detached, op, loop, text)
            )
            recorded = await self._host.waits.record_end(self._run, end)
        return str(result_of(recorded))

    async def gather(self, *awaitables: Awaitable[Json]) -> list[Json | ActivityFailed]:
        branches = sum(not isinstance(awaitable, StartedActivity) for awaitable in awaitables)
        parts = Gathering(self._run.awake, branches)
        tasks: list[asyncio.Task[tuple[Json | ActivityFailed, float]] | None] = []
        results: list[Json | ActivityFailed] = []
        try:
            with self._run.turnstile.hold():
                async for awaitable in in_pieces(awaitables, AT_ONCE):
                    is_branch = not isinstance(awaitable, StartedActivity)
                    tasks.append(asyncio.ensure_future(_branch(awaitable, parts)) if is_branch else None)
            if branches:
                # A fault in one branch ends the run, so it does not need to wait for the other branches.
                await parts.ended(task for task in tasks if task is not None)
            for awaitable, task in zip(awaitables, tasks, strict=True):
                if task is None:
                    results.append(await result_or_failure(awaitable))
                else:
                    result, now = task.result()
                    LOOP_TIME.set(max(LOOP_TIME.get(), now))
                    results.append(result)
        except BaseException:
            cancel_gathered((task for task in tasks if task is not None), awaitables)
            raise
        return results

    async def wait(
        self, op: str, *names: str, timeout_s: float | None = None, about: Json = None
    ) -> Signal | None:
        names_text, _ = encode(list(names), f"the names of the operation {op}")
        about_text, _ = encode(about, f"what the operation {op} is about", self._host.max_payload_bytes)
        recorded = self._take_recorded(op, WAIT, names_text)
        if recorded is None:
            wait = LoopWait(op, names, digest(names_text), about_text, Wakeup(self._run.awake))
            until = None if timeout_s is None else LOOP_TIME.get() + timeout_s
            is_final = timeout_s is not None and timeout_s <= 0
            recorded = await self._host.waits.take_or_none(self._run, wait, is_final=is_final)
            if recorded is None:
                recorded = await self._host.waits.wait_for_signal(self._run, wait, until)
                self._require_running()
        match result_of(recorded):
            case None:
                return None
            case {"name": str(name), "payload": payload}:
                return Signal(name=name, payload=payload)
            case _:
                fault = f"run {self.run_id} has something else than a signal as the end of {op!r}"
                raise self._note_fault(NondeterminismError(fault))

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        self._require_running()
        text, copy = encode(dict(event), f"the event {key}")
        if self._is_replay:
            if log_key(key, copy) not in self._run.record.keys:
                raise self._note_fault(NondeterminismError(f"run {self.run_id} never published {key!r}"))
            return
        self._host.events.append(self._run.record, key, text, copy)

    def one_by_one(self) -> AbstractAsyncContextManager[None]:
        return OneByOne(self._run.awake)

    def _take_recorded(self, op: str, what: str, argument: bytes) -> OpRecord | None:
        """Reserve the key and return the journaled end of the operation; None if the operation is new.

        Raises:
            DuplicateOperationError: the key is already used.
            NondeterminismError: the journal has another operation, or a replay finds none.
        """
        self._require_running()
        if op in self._ops:
            raise self._note_fault(duplicate_operation(self.run_id, op))
        self._ops.add(op)
        recorded = self._run.record.ops.get(op)
        if recorded is None:
            if self._is_replay:
                raise self._note_fault(NondeterminismError(f"run {self.run_id} never did {op!r}"))
            return None
        if recorded.what == what and recorded.digest == digest(argument):
            return recorded
        change = "with something else" if recorded.what == what else f"as {what}, not as {recorded.what}"
        raise self._note_fault(
            NondeterminismError(f"run {self.run_id} does {op!r} {change}, but its journal has something else")
        )

    def _if_running(
        self, start: Callable[[LiveRun, str, str, bytes], T], op: str, loop: str, text: bytes
    ) -> T:
        """Start another run from this one, unless this one has been stopped."""
        self._require_running()
        return start(self._run, op, loop, text)

    def _require_running(self) -> None:
        """Raise `CancelledError` if the run has been stopped."""
        if self._run.is_stopped:
            raise asyncio.CancelledError

    def _note_fault(self, fault: EngineError) -> EngineError:
        self.fault = self.fault or fault
        return fault


async def _branch(awaitable: Awaitable[Json], parts: Gathering) -> tuple[Json | ActivityFailed, float]:
    """Return the result of a branch of a loop, and the newest time that the branch has observed."""
    with parts.part():
        return await result_or_failure(awaitable), LOOP_TIME.get()


async def replayed(
    record: RunRecord, context: JournaledContext, start: Callable[[], Awaitable[Json]]
) -> Json:
    """Replay the loop of a completed run without executing operations, and return its output.

    Raises:
        EngineError: the run is not completed.
        NondeterminismError: the loop makes other operations or returns another output.
    """
    if record.ending != "completed":
        raise EngineError(f"run {record.run_id} is not completed; only then it can be replayed")
    try:
        output = await start()
    except Exception as error:
        fault = NondeterminismError(f"run {record.run_id} was completed before, and its loop raises now")
        raise context.fault or fault from error
    if context.fault is not None:
        raise context.fault
    text, _ = encode(output, f"the output of run {record.run_id}")
    if text != record.output:
        raise NondeterminismError(f"run {record.run_id} returned another result than before")
    return output
