"""The runs that go on in this process, and every change of one."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import uuid
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

from toolgen.contract.fields import Json
from toolgen.contract.logs import logger
from toolgen.runtime.agents.engine import (
    Activity,
    ActivityFailed,
    EngineError,
    LastEvents,
    Loop,
    NondeterminismError,
    OnEvent,
)

from .activities import NOW, Call, perform, text_of
from .context import WAIT, JournaledContext
from .journal import Ending, Journal, OpRecord, RunRecord, SignalRecord
from .payloads import NULL, decode, encode
from .run import Bell, Run, Wait
from .timers import CallLater

_GRACE_S: Final = 1.0
"""For loops and activities to end when the engine is closed; then they are left behind."""
_ONCE: Final = frozenset(("run_completed", "run_stream_end"))
"""Types of the events of which a run has one; their type is their key."""

log = logger("toolgen.engines")


class Runs:
    """Executes loops and activities; belongs to one event loop at a time."""

    def __init__(
        self,
        journal: Journal,
        clock: Callable[[], float],
        call_later: CallLater,
        max_payload_bytes: int | None,
    ) -> None:
        self.journal = journal
        self.clock = clock
        self._call_later = call_later
        self.max_payload_bytes = max_payload_bytes
        self.loops: Mapping[str, Loop] = {}
        self.activities: Mapping[str, Activity] = {}
        self.on_event: OnEvent | None = None
        self.last_events: LastEvents | None = None
        self._live: dict[str, Run] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._context = contextvars.Context()
        self._is_working = False

    def start(self, *, worker: bool) -> None:
        """Begin with the runs that are not over, if they are not going on already."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._loop is not None:  # the event loop ended before the engine was closed
                self._live.clear()
                self._is_working = False
            self._loop, self._thread = loop, threading.get_ident()
            self._context = contextvars.copy_context()
        if not worker or self._is_working:
            return
        self._is_working = True
        for record in self.journal.unfinished():
            self.run_of(record)
        for run in list(self._live.values()):
            self._begin(run)

    async def close(self) -> None:
        """Stop everything, and leave all runs as they are."""
        live, self._live = self._live, {}
        self._is_working, self._loop = False, None
        for run in live.values():
            run.is_stopped = True
            run.turned.ring()
            run.appended.ring()
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_GRACE_S)
            for task in late:
                log.warning("%s ignores its cancellation and runs on", task.get_name())

    def run_of(self, record: RunRecord) -> Run:
        """Return what goes on of a run that is not over."""
        run = self._live.get(record.run_id)
        if run is None:
            above = None if record.parent is None else self.journal.find(record.parent)
            parent = None if above is None or above.ending is not None else self.run_of(above)
            run = self._live[record.run_id] = Run(record, parent)
        return run

    def open(self, loop: str, text: bytes, run_id: str, parent: str | None = None) -> Run:
        """Return a new run, begun if this process works.

        Raises:
            EngineError: no loop has the name.
        """
        if loop not in self.loops:
            raise EngineError(f"no loop is registered as {loop!r}, for the run {run_id}")
        record = RunRecord(run_id=run_id, loop=loop, input=text, parent=parent)
        self.journal.add(record)
        run = self.run_of(record)
        if self._is_working:
            self._begin(run)
        return run

    def child_of(self, run: Run, op: str, loop: str, text: bytes) -> Run:
        """Return the child run of an operation, begun now or before.

        Raises:
            EngineError: no loop has the name, or another run has the id.
        """
        run_id = f"{run.record.run_id}/{op}"
        record = self.journal.find(run_id)
        if record is None:
            return self.open(loop, text, run_id, run.record.run_id)
        if record.parent != run.record.run_id:
            raise EngineError(f"a run that is no child of {run.record.run_id} has the id {run_id}")
        return self.run_of(record) if record.ending is None else Run(record, run)

    def perform(self, run: Run, call: Call, arg: Json) -> None:
        """Begin an activity."""
        name = f"{run.record.run_id}/{call.op}"
        run.in_flight[call.op] = self._spawn(perform(self, run, call, arg), name)
        run.moved()

    def performed(self, run: Run, call: Call, record: OpRecord, value: Json) -> None:
        """Keep how an activity ended, and tell its loop."""
        self.journal.put(run.record, record)
        del run.in_flight[call.op]
        call.operation.end(record, value)
        run.moved()

    def deliver(self, record: RunRecord, signal: SignalRecord) -> None:
        """Keep a signal, and hand it to the oldest wait for it."""
        self.journal.add_signal(record, signal)
        run = self.run_of(record)
        wait = run.waiting_for(signal.name)
        if wait is None:
            run.inbox.append(signal)
        else:
            self._resolve(run, wait, signal)

    def received(self, run: Run, wait: Wait, *, is_final: bool) -> OpRecord | None:
        """Return how a wait ends at once: with a signal that is there, or with none if it is final."""
        signal = run.take(wait.names)
        return self._resolve(run, wait, signal) if signal is not None or is_final else None

    async def signaled(self, run: Run, wait: Wait, until: float | None) -> OpRecord:
        """Return how a wait ends, at the latest at `until` in seconds since 1970."""
        if until is not None:
            left = max(0.0, until - self.clock())
            wait.timer = self._call_later(left, partial(self._expire, run, wait, until))
        run.waits[wait.op] = wait
        run.moved()
        try:
            while wait.op in run.waits:
                await wait.bell.wait()
        finally:
            if wait.timer is not None:
                wait.timer.cancel()
            if run.waits.pop(wait.op, None) is not None:
                run.moved()
        return run.record.ops[wait.op]

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        over = Bell()
        timer = self._call_later(seconds, over.ring)
        try:
            await over.wait()
        finally:
            timer.cancel()

    def _expire(self, run: Run, wait: Wait, until: float) -> None:
        if not run.is_stopped and wait.op in run.waits:
            self._resolve(run, wait, None, until)

    def _resolve(self, run: Run, wait: Wait, signal: SignalRecord | None, until: float = 0.0) -> OpRecord:
        value = NULL
        if signal is not None:
            name, _ = encode(signal.name, "the name of a signal")
            value = b'{"name":%b,"payload":%b}' % (name, signal.payload)
        record = OpRecord(wait.op, WAIT, wait.digest, max(self.clock(), until), value)
        self.journal.put(run.record, record, signal)
        run.waits.pop(wait.op, None)
        wait.bell.ring()
        run.moved()
        return record

    def append(self, run: Run, key: str | None, text: bytes, event: Mapping[str, Json]) -> None:
        """Append an event to the log of a run, unless the key is there or the log has ended."""
        record = run.record
        if event.get("type") in _ONCE:
            key = str(event["type"])
        if key in record.keys or "run_stream_end" in record.keys:
            return
        offset = self.journal.add_event(record, key, text)
        run.appended.ring()
        if self.on_event is not None:
            try:
                self.on_event(record.run_id, offset, event)
            except KeyboardInterrupt:
                raise
            except BaseException:
                log.exception("run %s: whoever hears of its events failed", record.run_id)

    def has_event(self, run: Run, key: str, event: Mapping[str, Json]) -> bool:
        kind = event.get("type")
        return (kind if kind in _ONCE else key) in run.record.keys

    def in_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call a function in the thread of the event loop: now if this is it."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    def cancel(self, record: RunRecord, reason: str) -> None:
        """End a run and what it has started, the children first."""
        if record.ending is None:
            run = self.run_of(record)
            self._end(run, "canceled", error=reason)
            if run.task is not None:
                run.task.cancel()

    async def replay(self, record: RunRecord) -> Json:
        """Return what the loop returns when it runs again from the journal, and does nothing.

        Raises:
            EngineError: the run is not completed.
            NondeterminismError: the loop does or returns something else.
        """
        if record.ending != "completed":
            raise EngineError(f"run {record.run_id} is not completed; only then it can be replayed")
        context = JournaledContext(self, Run(record, None), is_replay=True)
        output: Json = await self._spawn(self._execute(context, record), f"replay of {record.run_id}")
        if context.fault is not None:
            raise context.fault
        text, _ = encode(output, f"the output of run {record.run_id}")
        if text != record.output:
            raise NondeterminismError(f"run {record.run_id} returns something else than before")
        return output

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        loop = asyncio.get_running_loop()
        task = loop.create_task(work, name=name, context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin(self, run: Run) -> None:
        if run.task is None:
            if run.record.began is None:
                self.journal.begin(run.record, self.clock())
            run.task = self._spawn(self._drive(run), run.record.run_id)

    async def _execute(self, context: JournaledContext, record: RunRecord) -> Json:
        NOW.set(record.began or 0.0)
        try:
            output: Json = await self.loops[record.loop](context, decode(record.input))
        except SystemExit as error:  # out of a task it would end the event loop
            raise RuntimeError("the loop wants to exit") from error
        return output

    async def _drive(self, run: Run) -> None:
        """Run a loop to its end, and keep how it ended."""
        record = run.record
        context = JournaledContext(self, run)
        output, problem = NULL, None
        try:
            value = await self._execute(context, record)
            output, _ = encode(value, f"the output of run {record.run_id}", self.max_payload_bytes)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if run.is_stopped or (task is not None and task.cancelling()):
                run.is_stopped = True
                return
            problem = error
        if run.is_stopped:
            return
        problem = context.fault or problem
        if isinstance(problem, NondeterminismError):
            log.error("run %s stands still: %s", record.run_id, problem, exc_info=problem)
        elif problem is None:
            self._end(run, "completed", output)
        else:
            self._end(run, "failed", error=_told(run, problem))

    def _end(self, run: Run, ending: Ending, output: bytes = NULL, error: str = "") -> None:
        record = run.record
        for child in record.children:
            known = self.journal.find(child)
            if known is not None:
                self.cancel(known, error if ending == "canceled" else f"run {record.run_id} is over")
        if ending != "completed":
            self._tell_last(run)
            self._tell(run, {"type": "run_completed", "status": ending, "error": error})
        self._tell(run, {"type": "run_stream_end"})
        run.is_stopped = True
        run.unpark()
        self._live.pop(record.run_id, None)
        self.journal.end(record, ending, output, error)
        for task in run.in_flight.values():
            task.cancel()
        run.turned.ring()
        run.appended.ring()

    def _tell_last(self, run: Run) -> None:
        """Append what the log lacks before the end of a run that its loop did not end."""
        if self.last_events is None:
            return
        try:
            log_so_far = [decode(text) for text in run.record.events]
            for event in self.last_events(decode(run.record.input), self.clock(), log_so_far):
                self._tell(run, event)
        except Exception:
            log.exception("run %s: its log lacks its last events", run.record.run_id)

    def _tell(self, run: Run, event: Mapping[str, Json]) -> None:
        text, copy = encode(event, "an event of the engine")
        self.append(run, None, text, copy)


def _told(run: Run, problem: BaseException) -> str:
    """Log why a run failed, and return what others may know of it."""
    run_id = run.record.run_id
    match problem:
        case ActivityFailed():
            log.error("run %s failed", run_id, exc_info=problem)
            return text_of(problem)
        case EngineError():
            log.error("run %s failed", run_id, exc_info=problem)
            return problem.message
        case _:
            reference = uuid.uuid4().hex[:12]
            log.error("run %s failed [%s]", run_id, reference, exc_info=problem)
            return f"the run failed; it is a mistake in the program (reference {reference})"
