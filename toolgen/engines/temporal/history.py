"""Reads the state of a run from the history of its workflow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType, ParentClosePolicy, WorkflowTaskFailedCause
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes, HistoryEvent

from toolgen.contract.json_value import Json

from ..errors import PayloadGoneError
from ..statuses import OpenWait, RunState, WaitStatus
from .documents import (
    ANSWER,
    BEGUN_RECORD,
    LOG,
    Entry,
    Mark,
    RunStart,
    SentAnswer,
    received_answer,
    received_begun,
    received_piece,
    received_start,
)
from .failures import cancel_reason
from .payloads import UNUSABLE, NotJsonError

Decode: TypeAlias = Callable[
    [Sequence[Payload], ActivityTaskScheduledEventAttributes | None], Awaitable[list[Any]]
]
"""Decodes payloads of a run, or of the passed activity of the run."""
_Handler = Callable[["RunView", HistoryEvent, Decode], Awaitable[None]]
_NO_FAULTS: Final = frozenset(
    getattr(WorkflowTaskFailedCause, f"WORKFLOW_TASK_FAILED_CAUSE_{name}")
    for name in (
        "UNHANDLED_COMMAND",  # the workflow was about to end when a signal came
        "UNHANDLED_UPDATE",
        "RESET_STICKY_TASK_QUEUE",
        "FORCE_CLOSE_COMMAND",
        "FAILOVER_CLOSE_COMMAND",
        "RESET_WORKFLOW",
    )
)
"""Causes after which the server retries a workflow task, and the retry succeeds."""
_SERVER: Final = "history-service"
"""Identity under which the server terminates a workflow that exceeds a limit."""


@dataclass(slots=True)
class LoggedWait:
    """A wait of the loop according to the log."""

    names: tuple[str, ...]
    about: Json
    is_open: bool = True
    key: str | None = None
    """Key of the answer that ended it."""


@dataclass(slots=True)
class RunView:
    """State of a run in the part of its history that was read."""

    prefix: str
    """Prefix of the workflow ids of runs."""
    start: RunStart | None = None
    """Start of the run; None if the workflow does not execute a run."""
    ending: RunState | None = None
    """End of the run; None while it is running."""
    output: Json = None
    error: str = ""
    fault: str = ""
    """Failure of the newest workflow task; "" if it did not fail."""
    is_gone: bool = False
    """Whether the task failed because a large value was erased or pruned."""
    events: list[Mapping[str, Json]] = field(default_factory=list)
    waits: dict[str, LoggedWait] = field(default_factory=dict)
    answers: dict[str, list[SentAnswer]] = field(default_factory=dict)
    """Answers to each operation, in the order in which they arrived."""
    children: list[str] = field(default_factory=list)
    detached: list[str] = field(default_factory=list)
    """Ids of the runs that outlive this one."""
    begun_ops: set[str] = field(default_factory=set)
    """Operations whose activities recorded that they begin an effect that must not happen twice."""
    length: int = 0
    """Number of events that were read."""
    time: float = 0.0
    """Time of the newest event, in seconds since 1970."""

    @property
    def subjects(self) -> dict[str, Json]:
        """Subjects of the open waits in the log that have one, in the order in which they began."""
        return {op: wait.about for op, wait in self.waits.items() if wait.is_open and wait.about is not None}

    @property
    def awaiting(self) -> tuple[OpenWait, ...]:
        """Open waits with a subject; empty if the run is over."""
        subjects = {} if self.ending is not None else self.subjects
        return tuple(OpenWait(op=op, about=about) for op, about in subjects.items())

    @property
    def is_asleep(self) -> bool:
        """Whether a wait is open that only a timeout ends."""
        return any(wait.is_open and not wait.names for wait in self.waits.values())

    def answer(self, op: str) -> SentAnswer | None:
        """Return the accepted answer to a wait; None if there is none.

        If the run is over, this is the answer that its loop consumed, because another one can have arrived at
        the end.
        """
        sent, wait = self.answers.get(op, []), self.waits.get(op)
        if wait is not None and (not wait.is_open or self.ending is not None):
            return next((answer for answer in sent if answer["key"] == wait.key), None)
        return sent[0] if sent else None

    def is_over(self, op: str) -> bool:
        """Return whether a wait can no longer be answered."""
        wait = self.waits.get(op)
        return self.ending is not None or (wait is not None and not wait.is_open)

    def wait_status(self, op: str) -> WaitStatus | None:
        """Return the status of a wait; None if no wait has begun under the key."""
        wait, answer = self.waits.get(op), self.answer(op)
        if wait is None or wait.about is None:
            return None
        return WaitStatus(
            about=wait.about,
            is_open=wait.is_open and answer is None and self.ending is None,
            answer=None if answer is None else answer["payload"],
        )

    def add_mark(self, mark: Mark, run_id: str) -> None:
        """Add a wait or a child run from the memo."""
        if "names" in mark:
            self.waits[mark["op"]] = LoggedWait(tuple(mark["names"]), mark.get("about"))
        else:
            self.children.append(f"{run_id}/{mark['op']}")

    async def read(self, event: HistoryEvent, decode: Decode) -> None:
        """Read the next event."""
        self.length, self.time = event.event_id, event.event_time.ToMicroseconds() / 1e6
        handler = _HANDLERS.get(event.event_type)
        if handler is not None:
            await handler(self, event, decode)


async def _started(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    payloads = event.workflow_execution_started_event_attributes.input.payloads
    view.start = received_start(await _decoded(payloads, decode))


async def _task_completed(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    view.fault, view.is_gone = "", False


async def _task_failed(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    failed = event.workflow_task_failed_event_attributes
    if failed.cause in _NO_FAULTS:
        return
    causes = _causes(failed.failure)
    messages = [await _message(cause, decode) for cause in causes]
    lost = [
        message
        for cause, message in zip(causes, messages, strict=True)
        if cause.application_failure_info.type == PayloadGoneError.__name__
    ]
    if lost or not any(UNUSABLE in message for message in messages):
        view.fault = (lost or messages)[0] or "its workflow task failed"
        view.is_gone = bool(lost)


def _causes(failure: Failure) -> list[Failure]:
    """Return a failure followed by its chain of causes."""
    causes = [failure]
    while causes[-1].HasField("cause"):
        causes.append(causes[-1].cause)
    return causes


async def _scheduled(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    scheduled = event.activity_task_scheduled_event_attributes
    payloads = scheduled.input.payloads
    pieces = payloads if scheduled.activity_type.name == LOG else payloads[1:]
    piece = received_piece(await _decoded(pieces, decode, scheduled)) if pieces else None
    for entry in piece["entries"] if piece else ():
        _log_entry(view, entry)


def _log_entry(view: RunView, entry: Entry) -> None:
    if "event" in entry:
        view.events.append(event := entry["event"])
        if event.get("type") == "run_completed" and event.get("status") == "canceled":
            view.error = str(event.get("error"))
    elif "wait" in entry:
        view.waits[entry["wait"]] = LoggedWait(tuple(entry.get("names", ())), entry.get("about"))
    elif "wait_over" in entry:
        wait = view.waits.setdefault(entry["wait_over"], LoggedWait((), None))
        wait.is_open, wait.key = False, entry.get("key")


async def _child(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    initiated = event.start_child_workflow_execution_initiated_event_attributes
    is_detached = initiated.parent_close_policy == ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
    runs = view.detached if is_detached else view.children
    runs.append(initiated.workflow_id.removeprefix(view.prefix))


async def _signaled(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    signaled = event.workflow_execution_signaled_event_attributes
    if signaled.signal_name == ANSWER:
        _answered(view, received_answer(await _decoded(signaled.input.payloads, decode)))
    elif signaled.signal_name == BEGUN_RECORD:
        record = received_begun(await _decoded(signaled.input.payloads, decode))
        view.begun_ops |= set() if record is None else {record["op"]}


async def _updated(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    request = event.workflow_execution_update_accepted_event_attributes.accepted_request
    if request.input.name == ANSWER:
        _answered(view, received_answer(await _decoded(request.input.args.payloads, decode)))


async def _decoded(
    payloads: Sequence[Payload], decode: Decode, activity: ActivityTaskScheduledEventAttributes | None = None
) -> list[Any]:
    """Return decoded payloads; an empty list if they are not JSON."""
    try:
        return await decode(payloads, activity)
    except NotJsonError:
        return []


def _answered(view: RunView, sent: SentAnswer | None) -> None:
    if sent is not None:
        view.answers.setdefault(sent["op"], []).append(sent)


async def _cancel_requested(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    view.error = cancel_reason(event.workflow_execution_cancel_requested_event_attributes.cause)


async def _completed(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    view.ending, view.error = "completed", ""
    [view.output] = await decode(event.workflow_execution_completed_event_attributes.result.payloads, None)


async def _failed(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    failure = event.workflow_execution_failed_event_attributes.failure
    view.ending, view.error = "failed", await _message(failure, decode)


async def _message(failure: Failure, decode: Decode) -> str:
    """Return the message of a failure; with a codec, it is in a payload."""
    if not failure.HasField("encoded_attributes"):
        return failure.message
    [attributes] = await decode([failure.encoded_attributes], None)
    message: str = attributes["message"]
    return message


async def _canceled(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    view.ending = "canceled"


async def _terminated(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    ended = event.workflow_execution_terminated_event_attributes
    view.ending, view.error = "canceled", ended.reason
    if ended.identity == _SERVER:
        view.ending, view.error = "failed", f"the server ended it: {ended.reason}"


async def _timed_out(view: RunView, event: HistoryEvent, decode: Decode) -> None:
    view.ending, view.error = "failed", "the server ended it: its time limit was exceeded"


_HANDLERS: Final[Mapping[object, _Handler]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: _started,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: _task_completed,
    EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: _task_failed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: _scheduled,
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: _child,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: _signaled,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: _updated,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: _cancel_requested,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _completed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _failed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: _canceled,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: _terminated,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: _timed_out,
}
