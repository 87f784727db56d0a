"""Activities: their tasks in the event loop, their attempts and reports, and their results for the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any, Final, TypeVar, TypeVarTuple

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.contract.tasks import GRACE_S, CallLater, Work, start_task
from toolgen.stores import StoreError

from ..context import Activity, ActivityInfo, CallOptions
from ..errors import OUTCOME_UNKNOWN, EngineError
from .journal import NO_ATTEMPT, AttemptRecord, EventLog, OpRecord, begun_key, decode, digest, encode
from .live_run import Awake, LiveRun, Wakeup
from .operations import Progress, activity_name, attempt_failure, is_shutdown, log_cut_off, timed_out
from .paused_runs import PausedRuns
from .store import RunStore

LOOP_TIME: Final[ContextVar[float]] = ContextVar("toolgen.engines.now")
"""Newest time that this part of a loop has observed.

It is a context variable because concurrent parts of a loop receive their results in another order during a
replay.
"""

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_LOST: Final = "the journal lost calls of this run that had started, and this might be one of them"
log = logger("toolgen.engines")


def settle(record: OpRecord) -> None:
    """Advance the clock of the loop to the end of an operation.

    Raises:
        ActivityFailed: it failed.
    """
    if record.at > LOOP_TIME.get():
        LOOP_TIME.set(record.at)
    if failure := record.failure():
        raise failure


def result_of(record: OpRecord) -> Json:
    """Return the result of an operation to its loop, and advance the clock of the loop at least to its end.

    Raises:
        ActivityFailed: it failed.
    """
    settle(record)
    value: Json = decode(record.value)
    return value


class StartedActivity:
    """A started activity. It can be awaited repeatedly, and each await returns its result."""

    __slots__ = ("_first", "record", "wakeup")

    def __init__(self, awake: Awake, record: OpRecord | None = None) -> None:
        self.record = record
        self.wakeup = Wakeup(awake)
        self._first: list[Json] = []

    def set_result(self, record: OpRecord, value: Json) -> None:
        """Set the result of the operation and wake the loop."""
        self.record = record
        self._first.append(value)
        self.wakeup.notify()

    def __await__(self) -> Generator[Any, None, Json]:
        while self.record is None:
            yield from self.wakeup.wait().__await__()
        settle(self.record)
        return self._first.pop() if self._first else decode(self.record.value)


@frozen_record
class ActivityCall:
    """An activity to be performed."""

    run: LiveRun
    op: str
    activity: str
    function: Activity
    argument: bytes
    options: CallOptions
    operation: StartedActivity
    asked_at: float
    """Time of the loop when it requested the activity."""


class Tasks:
    """Starts tasks with the context variables of `attach`; belongs to one event loop at a time."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._context = Context()

    def attach(self) -> bool:
        """Attach to the running event loop; return whether another one ended without `close`.

        Raises:
            EngineError: the other one has not ended.
        """
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return False
        self.require_loop()
        was_attached = self._loop is not None
        self._loop, self._thread = loop, threading.get_ident()
        self._context = copy_context()
        return was_attached

    def require_loop(self) -> None:
        """Raise an `EngineError` if the tasks belong to another event loop than the running one."""
        if self._loop not in (None, asyncio.get_running_loop()) and not self._loop.is_closed():
            raise EngineError(
                "the engine belongs to another event loop, which has not ended",
                hint="create an engine for each event loop, or call it with run_coroutine_threadsafe",
            )

    def start(self, work: Work[Result], name: str) -> asyncio.Task[Result]:
        """Start a task, and hold a reference to it until it ends."""
        return start_task(self._tasks, work, name=name, context=self._context.copy())

    def call(self, function: Callable[[*Arguments], None], *arguments: *Arguments) -> None:
        """Call a function in the thread of the event loop; immediately if this is that thread."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def close(self) -> None:
        """Leave the event loop: cancel all tasks except the current one, and wait about a second for them."""
        self._loop = None
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_S)
            for task in late:
                log.warning("%s ignores its cancellation and runs on", task.get_name())


class Activities:
    """Executes activities, records their ends in the journal, and wakes their loops."""

    def __init__(
        self,
        store: RunStore,
        clock: Callable[[], float],
        call_later: CallLater,
        max_payload_bytes: int | None,
        *,
        tasks: Tasks,
        events: EventLog,
        paused_runs: PausedRuns,
    ) -> None:
        self._store = store
        self._clock = clock
        self._call_later = call_later
        self._max_payload_bytes = max_payload_bytes
        self._tasks = tasks
        self._events = events
        self._paused_runs = paused_runs
        self.functions: Mapping[str, Activity] = {}
        self._executing: dict[StartedActivity, ActivityCall] = {}
        """Activities with a running attempt."""
        self.is_draining = False
        self._drained = asyncio.Event()
        """Set when no attempt is running, or when the time of a drain is over."""

    async def drain(self, seconds: float) -> bool:
        """Begin no further attempt, and wait for the running ones; return False after this many seconds."""
        if not self.is_draining:
            self.is_draining, self._drained = True, asyncio.Event()
        if self._executing:
            self._drained.clear()
            await self._pause(seconds, self._drained)
        return not self._executing

    def log_executing(self) -> None:
        """Log the running attempts before their tasks are canceled, except in runs that are over."""
        is_durable = self._store.is_durable
        for call in self._executing.values():
            if not call.run.is_stopped:
                record, name = call.run.record, activity_name(call.activity, decode(call.argument))
                is_unknown = call.options.once and record.attempts.get(call.op, NO_ATTEMPT).has_begun
                log_cut_off(record.run_id, call.op, name, is_unknown=is_unknown, is_durable=is_durable)

    def undrain(self) -> None:
        """Begin attempts again, after the tasks of the drained ones were canceled."""
        self.is_draining = False

    def start(self, call: ActivityCall, arg: Json) -> None:
        """Start an activity in its own task, unless it must not run twice and was started before."""
        run = call.run
        if call.options.once and run.has_begun(call.op):
            self._store.may_have_begun(run.record, call.op)  # the call below records that it has begun
            message = "the process ended while it was executed; it may have had its effect"
            log.warning("run %s: %s: %s: %s", run.record.run_id, call.op, OUTCOME_UNKNOWN, message)
            self._end(call, self._failure(call, OUTCOME_UNKNOWN, message), None)
            return
        name = f"{run.record.run_id}/{call.op}"
        run.in_flight[call.op] = self._tasks.start(self._perform(call, arg), name)
        run.moved()

    async def _perform(self, call: ActivityCall, arg: Json) -> None:
        """Execute an activity until it returns a result or has failed permanently."""
        run, options = call.run, call.options
        earlier = run.record.attempts.get(call.op, NO_ATTEMPT)
        attempt, pause = earlier.failed + 1, options.backoff * 2**earlier.failed
        asked_at = call.asked_at
        if earlier.until:
            await self._pause(max(0.0, earlier.until - self._clock()), asyncio.Event())
            asked_at = self._clock()
        if not options.once:
            await self.wait_for_durable_records(run)
        while True:
            until = None if options.timeout is None else run.turnstile.until(asked_at, options.timeout)
            if not run.turnstile.pass_at_once():
                try:
                    await run.turnstile.wait(until)
                except TimeoutError:
                    self._end(call, self._failure(call, *timed_out(options.timeout or 0.0)), None)
                    return
            if self.is_draining:
                await asyncio.Event().wait()  # until its task is canceled
            is_last = attempt >= options.attempts
            self._executing[call.operation] = call
            try:
                done = await self._attempt(call, arg, attempt, until, is_last=is_last)
            finally:
                del self._executing[call.operation]
                if not self._executing:
                    self._drained.set()
            if run.is_stopped:
                return
            if isinstance(done, StoreError):
                await self._paused_runs.pause(run.record.run_id, call.op, done)
                if until is not None and until <= asyncio.get_running_loop().time():
                    self._end(call, self._failure(call, *timed_out(options.timeout or 0.0)), None)
                    return
                arg = decode(call.argument)
                continue
            self._paused_runs.end(run.record.run_id, call.op)
            if done is not None:
                self._end(call, *done)
                return
            failed = AttemptRecord(attempt, self._clock() + pause)
            self._store.record_attempt(run.record, call.op, failed)
            await self._pause(pause, asyncio.Event())
            attempt, pause, arg = attempt + 1, pause * 2, decode(call.argument)
            asked_at = self._clock()

    def _end(self, call: ActivityCall, record: OpRecord, value: Json) -> None:
        self._store.end_operation(call.run.record, record)
        if call.options.is_durable_later:
            call.run.record.unwritten += 1
            self._store.when_durable(partial(_count_written, call.run), is_urgent=False)
            _notify_loop(call, record, value)
        else:
            self._store.when_durable(partial(_notify_loop, call, record, value))

    async def wait_for_durable_records(self, run: LiveRun) -> None:
        """Wait until every record that the loop of a run has seen is durable."""
        if run.record.unwritten:
            await self._store.wait_durable_through_outages()

    async def _record_begin(
        self, run: LiveRun, op: str, once: bool, events: Sequence[Mapping[str, Json]] = (), /
    ) -> None:
        """Append the initial events of an activity to the log, and wait until they are durable.

        With `once`, the record that the activity begins is durable too.

        Raises:
            asyncio.CancelledError: the run ended meanwhile and recorded the activity as not begun; or the
                call might have begun before, and is recorded as `outcome_unknown`.
        """
        for number, event in enumerate(events):
            key = begun_key(op, number)
            text, copy = encode(dict(event), f"the event {key}")
            self._events.append(run.record, key, text, copy)
        is_lost = once and self._store.may_have_begun(run.record, op)
        if once:
            attempt = run.record.attempts.get(op, NO_ATTEMPT)
            run.beginning.add(op)
            attempt = AttemptRecord(attempt.failed, attempt.until, has_begun=True)
            self._store.record_attempt(run.record, op, attempt)
        if run.record.unwritten or once or events:
            await self._store.wait_durable_through_outages()
        # the task of the run is canceled, but a task below it receives the cancellation only later
        if run.is_stopped:
            raise asyncio.CancelledError
        run.beginning.discard(op)
        if is_lost:
            run.in_flight[op].cancel(_LOST)  # a task below `in_flight[op]` can be the one that makes the call
            await asyncio.sleep(0)
            raise asyncio.CancelledError(_LOST)

    async def _pause(self, seconds: float, over: asyncio.Event) -> None:
        """Return after this many seconds, or earlier when the event is set."""
        timer = self._call_later(seconds, over.set)
        try:
            await over.wait()
        finally:
            timer.cancel()

    async def _attempt(
        self, call: ActivityCall, arg: Json, attempt: int, until: float | None, *, is_last: bool
    ) -> tuple[OpRecord, Json] | StoreError | None:
        """Return the end of the operation; None if another attempt must follow.

        If a store of the runtime is unavailable, return its error: the activity has not begun, and the
        attempt does not count.

        The attempt ends at `until` at the latest, by the clock of the event loop.
        """
        run = call.run
        progress = Progress(
            run.record.run_id,
            call.op,
            lambda report: self._tasks.call(self._events.report, run.record, report),
        )
        info = self._info(call, attempt, until, progress)
        limit = asyncio.timeout_at(until)
        try:
            async with limit:
                result = await call.function(info, arg)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - author code; its failure is recorded as the outcome of the attempt
            if run.is_stopped or is_shutdown(run):
                run.is_stopped = True
                return None
            if isinstance(error, StoreError) and error.is_temporary and not run.has_begun(call.op):
                return error
            limit_s = call.options.timeout if limit.expired() else None
            kind, message, is_last = attempt_failure(
                info, error, limit_s=limit_s, has_begun=run.has_begun(call.op), is_last=is_last
            )
            return (self._failure(call, kind, message), None) if is_last else None
        finally:
            progress.is_open = False
        try:
            what = f"the result of {call.activity} for the operation {call.op}"
            value, copy = encode(result, what, self._max_payload_bytes)
        except EngineError as error:
            log.error("run %s: %s", info.run_id, error)
            kind = OUTCOME_UNKNOWN if run.has_begun(call.op) else type(error).__name__
            return self._failure(call, kind, error.message), None
        return OpRecord(call.op, call.activity, digest(call.argument), self._clock(), value), copy

    def _info(
        self, call: ActivityCall, attempt: int, until: float | None, progress: Progress
    ) -> ActivityInfo:
        run = call.run
        return ActivityInfo(
            run_id=run.record.run_id,
            op=call.op,
            attempt=attempt,
            emit=progress.emit,
            timeout=None if until is None else until - asyncio.get_running_loop().time(),
            is_followed=run.turnstile.has_waiting,
            begun=partial(self._record_begin, run, call.op, call.options.once),
            wait_for_durable_inputs=partial(self.wait_for_durable_records, run),
        )

    def _failure(self, call: ActivityCall, kind: str, message: str) -> OpRecord:
        argument_digest = digest(call.argument)
        return OpRecord(call.op, call.activity, argument_digest, self._clock(), kind=kind, message=message)


def _count_written(run: LiveRun) -> None:
    run.record.unwritten -= 1


def _notify_loop(call: ActivityCall, record: OpRecord, value: Json) -> None:
    call.run.in_flight.pop(call.op, None)
    call.operation.set_result(record, value)
    call.run.moved()
