"""The `RunContext` of a loop on Temporal: each operation is a command of its workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from ..context import CallOptions
from ..errors import ActivityFailed, EngineError, NondeterminismError
from ..in_process.journal import begun_key, digest, encode
from ..in_process.operations import cancel_gathered, duplicate_operation, ignore_exception, result_or_failure
from ..statuses import Signal
from .documents import (
    WORKFLOW,
    ActivityStart,
    Entry,
    RunStart,
    SentBegun,
    activity_summary,
    activity_type,
    run_summary,
)
from .failures import activity_failure, child_failure
from .inbox import Inbox
from .log_writer import LogWriter, require_shallow
from .projection import RunProjection
from .scheduling import ActivityScheduling
from .settings import EngineSettings, search_attributes

DEFAULT: Final = CallOptions()
_NO_END: Final = timedelta(days=3650)
"""Timeout of an activity without a limit; heartbeats detect a dead worker."""
_KEEPING: Final = timedelta(minutes=5)
"""Extra time after the timeout of an activity, in which its result can wait for the large-value store."""
_MANY_EVENTS: Final = 25_000
"""Maximum history length in events; the server terminates a workflow at twice as many."""
_MANY_BYTES: Final = 25_000_000
"""Maximum history size in bytes; the server terminates a workflow at twice as many."""
_MOST_CHILDREN: Final = 1_000
"""Maximum number of concurrent runs that a run has started. The server allows 2,000, including detached runs,
and fails the workflow task if there are more."""
_LONGEST_ID: Final = 1_000
"""Maximum length of a workflow or activity id in bytes of UTF-8, the default of the server."""


@frozen_record
class ScheduledActivity:
    """A scheduled activity. It can be awaited repeatedly, and each await returns its result."""

    run_id: str
    op: str
    argument_digest: str
    """Digest of its argument."""
    end: asyncio.Future[Any]
    once: bool

    def __await__(self) -> Generator[object, None, Json]:
        return self._result().__await__()

    async def _result(self) -> Json:
        try:
            end = await asyncio.shield(self.end)
        except ActivityError as error:
            raise activity_failure(self.op, error, once=self.once) from error
        if end["argument_digest"] != self.argument_digest:
            raise NondeterminismError(
                f"run {self.run_id} does {self.op!r} with something else, but its journal has something else"
            )
        value: Json = end["value"]
        return value


class WorkflowContext:
    """The `RunContext` of one run."""

    def __init__(self, run_start: RunStart, settings: EngineSettings, inbox: Inbox) -> None:
        self.settings = settings
        self.log = LogWriter(run_start, settings.largest_entry)
        self.projection = RunProjection()
        self._run_start = run_start
        self._inbox = inbox
        self._ops: set[str] = set()
        self.activities = ActivityScheduling()
        self._once: set[str] = set()
        """Keys of the activities that must not happen twice."""
        self.begun_ops: set[str] = set()
        """Keys of the activities in `_once` that have begun."""
        self.children: list[workflow.ChildWorkflowHandle[Any, Any]] = []
        self.detached: list[str] = []
        self._places = asyncio.Semaphore(_MOST_CHILDREN)
        """Limit of concurrent child runs."""
        self.fault: EngineError | None = None
        """First error caused by a bug in toolgen; it counts even if the loop has caught it."""

    @property
    def run_id(self) -> str:
        return self._run_start["run_id"]

    @property
    def input(self) -> Any:
        """Argument of the loop."""
        return self._run_start["input"]

    @property
    def has_room(self) -> bool:
        info = workflow.info()
        return (
            info.get_current_history_length() < _MANY_EVENTS and info.get_current_history_size() < _MANY_BYTES
        )

    def now(self) -> float:
        return workflow.time()

    def one_by_one(self) -> AbstractAsyncContextManager[None]:
        return asyncio.Lock()

    def start(self, op: str, activity: str, arg: Json, options: CallOptions | None = None) -> Awaitable[Json]:
        what = f"the argument of {activity} for the operation {op}"
        text, copy = encode(arg, what, self.settings.limits.max_payload_bytes)
        self._take(op)
        chosen = options or DEFAULT
        activity_start: ActivityStart = {
            "loop": self._run_start["loop"],
            "logged": len(self.log.events),
            "activity": activity,
            "argument": copy,
            "attempts": chosen.attempts,
            "timeout": chosen.timeout,
            "once": chosen.once,
        }
        if chosen.once:
            self._once.add(op)
        limit = _NO_END if chosen.timeout is None else timedelta(seconds=chosen.timeout)

        def begin() -> workflow.ActivityHandle[Any]:
            return workflow.start_activity(
                activity_type(activity, copy),
                args=[activity_start, *self.log.piece_to_carry(self.activities.takes)],
                activity_id=op,
                start_to_close_timeout=limit + self.settings.heartbeat + _KEEPING,
                heartbeat_timeout=self.settings.heartbeat,
                # No maximum number of attempts: the worker decides which attempt is the last one.
                retry_policy=RetryPolicy(initial_interval=timedelta(seconds=chosen.backoff)),
                cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
                summary=activity_summary(self._run_start["loop"], self.input, copy),
            )

        end = self.activities.start(op, begin, self.settings.sent(len(text)), what)
        argument_digest = digest(text).hex()
        return ScheduledActivity(
            run_id=self.run_id, op=op, argument_digest=argument_digest, end=end, once=chosen.once
        )

    async def child(self, op: str, loop: str, arg: Json) -> Json:
        handle = await self._start_run(op, loop, arg, workflow.ParentClosePolicy.REQUEST_CANCEL)
        handle.add_done_callback(ignore_exception)
        self.children.append(handle)
        try:
            output: Json = await asyncio.shield(handle)
        except ChildWorkflowError as error:
            raise child_failure(op, error) from error
        return output

    async def detach(self, op: str, loop: str, arg: Json) -> str:
        await self._start_run(op, loop, arg, workflow.ParentClosePolicy.ABANDON)
        run_id = f"{self.run_id}/{op}"
        self.detached.append(run_id)
        return run_id

    async def gather(self, *awaitables: Awaitable[Json]) -> list[Json | ActivityFailed]:
        tasks = [asyncio.ensure_future(result_or_failure(awaitable)) for awaitable in awaitables]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            cancel_gathered(tasks, awaitables)
            raise

    async def wait(
        self, op: str, *names: str, timeout_s: float | None = None, about: Json = None
    ) -> Signal | None:
        limit = min(self.settings.limits.max_payload_bytes, self.settings.largest_entry)
        what = f"what the operation {op} is about"
        text, copy = encode(about, what, limit)
        require_shallow(copy, what)
        self._take(op)
        signal = self._inbox.take(names)
        if signal is not None or (timeout_s is not None and timeout_s <= 0):
            self._wait_over(op, signal, had_begun=False)
            return signal
        wait = self._inbox.begin(op, names, copy)
        self.log.add(Entry(wait=op, names=list(names), about=copy), len(text))
        self.projection.begin_wait(op, names, copy, len(text))
        timer = None
        if timeout_s is not None:
            timer = asyncio.get_running_loop().call_later(timeout_s, wait.end, None)
        try:
            signal = await wait.taken
        finally:
            if timer is not None:
                timer.cancel()
            if not self._inbox.is_closed:
                self._wait_over(op, signal, had_begun=True)
        return signal

    def _wait_over(self, op: str, signal: Signal | None, *, had_begun: bool) -> None:
        key = self._inbox.end(op, signal)
        self.projection.end_wait(op)
        entry: Entry = {"wait_over": op}
        if key is not None:
            entry["key"] = key
        if had_begun or key is not None:
            self.log.add(entry, len(op))

    async def publish(self, key: str, event: Mapping[str, Json]) -> None:
        self._require_running()
        self.log.publish(key, event)

    def publish_begun(self, sent: SentBegun) -> None:
        """Record that an activity begins, and its events; another attempt sends them under the same keys."""
        if sent["op"] in self._once:
            self.begun_ops.add(sent["op"])
        for number, event in enumerate(sent["events"]):
            self.log.publish(begun_key(sent["op"], number), event)

    async def _start_run(
        self, op: str, loop: str, arg: Json, policy: workflow.ParentClosePolicy
    ) -> workflow.ChildWorkflowHandle[Any, Any]:
        what = f"the input of {loop} for the operation {op}"
        text, copy = encode(arg, what, self.settings.limits.max_payload_bytes)
        self._take(op)
        run_id = f"{self.run_id}/{op}"
        workflow_id = f"{self.settings.prefix}{run_id}"
        self._require_fitting(workflow_id)
        if loop not in self.settings.loops:
            raise self._note_fault(EngineError(f"no loop is registered as {loop!r}, for the run {run_id}"))
        child_start: RunStart = {**self._run_start, "run_id": run_id, "loop": loop, "input": copy}
        await self._places.acquire()
        try:
            self.activities.count(self.settings.sent(len(text)), what)
            if policy == workflow.ParentClosePolicy.REQUEST_CANCEL:
                self.projection.add_child(op)
            handle = await workflow.start_child_workflow(
                WORKFLOW,
                child_start,
                id=workflow_id,
                task_queue=self.settings.queue_of(copy),
                parent_close_policy=policy,
                cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_REQUESTED,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                search_attributes=search_attributes(child_start),
                static_summary=run_summary(loop, copy),
            )
        except BaseException as error:
            self._places.release()
            if isinstance(error, WorkflowAlreadyStartedError):
                message = f"a run that is not a child of {self.run_id} has the id {run_id}"
                raise self._note_fault(EngineError(message)) from error
            raise
        handle.add_done_callback(lambda _: self._places.release())
        return handle

    def _take(self, op: str) -> None:
        """Reserve the key of an operation.

        Raises:
            DuplicateOperationError: the key is already used.
            EngineError: the key is longer than the server accepts.
        """
        self._require_running()
        self._require_fitting(op)
        if op in self._ops:
            raise self._note_fault(duplicate_operation(self.run_id, op))
        self._ops.add(op)

    def _require_fitting(self, id_: str) -> None:
        """Raise if the server would refuse the id on every attempt.

        Raises:
            EngineError: the id is longer than the server accepts.
        """
        if (size := len(id_.encode())) > _LONGEST_ID:
            message = f"an id has {size} bytes; the server accepts {_LONGEST_ID}: {id_[:100]}…"
            raise self._note_fault(EngineError(message))

    def _require_running(self) -> None:
        """Raise `CancelledError` if the run has ended; during an eviction, the SDK raises."""
        workflow.random()
        if self._inbox.is_closed:
            raise asyncio.CancelledError

    def _note_fault(self, fault: EngineError) -> EngineError:
        self.fault = self.fault or fault
        return fault
