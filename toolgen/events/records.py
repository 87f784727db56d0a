"""Events for observers: one frozen record for each type of event.

Events never contain injected values, credentials or the tokens of suspended calls; a consumer must never
need them. They contain the data of small artifacts. `Any` means JSON, because pydantic cannot read the
recursive `Json`. `document.py` serializes events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from toolgen.calls.documents.types import (
    ArtifactDocument,
    BoundsDocument,
    ErrorDocument,
    IssueDocument,
    ProviderDocument,
    RunLinkDocument,
    TelemetryDocument,
)
from toolgen.calls.results import EndStatus
from toolgen.contract.record import record

EXPIRED: Final = "nobody answered in time"
"""End of the reason why a call was not run; loops write it, and metrics count it."""


# A base class, against the house style, because twenty classes would repeat these six fields.
@record
class EventHead:
    """The number, time and ids of an event; filled by `Events.emit`."""

    seq: int = 0
    """Number per run, from 1 without gaps; 0 in no log, of a subscription or a call of a tool."""
    time: float = 0.0
    """Seconds since 1970."""
    run_id: str = ""
    session_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""
    agent_id: str = ""
    """Agent of the run, or of the run that makes the call. Every ID is "" if it does not apply."""


@record
class RunStarted(EventHead):
    """A run began; its first event."""

    type: Literal["run_started"] = "run_started"
    agent: str
    parent_run_id: str = ""


@record
class RunPhase(EventHead):
    """A run entered its next phase."""

    type: Literal["run_phase"] = "run_phase"
    phase: Literal["prompted", "planning", "executing_tools", "synthesizing", "waiting"]


@record
class ToolStart(EventHead):
    """A call's arguments are decoded, and its executor is about to run."""

    type: Literal["tool_start"] = "tool_start"
    tool: str
    """Id of the tool, as in all events."""
    name: str = ""
    """The wire name."""
    arguments: Any = None
    """The model's arguments, decoded; never with injected values."""
    text: str = ""
    """The text for people: the tool's call hint, filled."""
    parent_tool_call_id: str = ""
    runs_once: bool = False
    """Whether a second execution could repeat an effect of the first one."""


@record
class ToolArgsDelta(EventHead):
    """A piece of the arguments while the model writes them; best effort."""

    type: Literal["tool_args_delta"] = "tool_args_delta"
    name: str
    """The wire name, as the model wrote it."""
    delta: str


@record
class ToolUpdate(EventHead):
    """The progress of a call, best effort; or an intermediate result, which is in the log of its run."""

    type: Literal["tool_update"] = "tool_update"
    tool: str
    fraction: float | None = None
    """Fraction of the work that is done, from 0 to 1; None if unknown."""
    message: str = ""
    value: Any = None
    """Progress value, encoded by the tool's progress codec."""
    number: int = 0
    """The number of an intermediate result of the call, from 1; 0 for progress."""


@record
class ToolOutputDelta(EventHead):
    """A piece of output before the result is there; best effort."""

    type: Literal["tool_output_delta"] = "tool_output_delta"
    tool: str
    text: str


@record
class ToolEnd(EventHead):
    """A call has its result: its `ResultDocument`, without sensitive values and content blocks."""

    type: Literal["tool_end"] = "tool_end"
    tool: str
    """Id of the tool; the requested name if no tool has it."""
    status: EndStatus
    result: Any = None
    """Result as the model reads it; None if there is none yet."""
    error: ErrorDocument | None = None
    display: str = ""
    """Text for people: the filled result hint of the tool, or the text of the executor."""
    bounds: BoundsDocument | None = None
    warnings: Sequence[IssueDocument] = ()
    """Issues in the response of a lenient service; the result contains these values as received."""
    artifacts: Sequence[ArtifactDocument] = ()
    is_final: bool = False
    run_link: RunLinkDocument | None = None
    telemetry: TelemetryDocument | None = None
    suspension_id: str = ""
    """ID of the question; it cannot be used to answer."""
    answered_id: str = ""
    """ID of the question whose answer led to this end."""
    resolved_by: str = ""
    """Person who resolved a call whose outcome was unknown."""


@record
class AgentRunStarted(EventHead):
    """A tool call started the run of another agent."""

    type: Literal["agent_run_started"] = "agent_run_started"
    tool: str
    agent: str
    child_run_id: str


@record
class QuestionAsked(EventHead):
    """The planner asks the person a question."""

    type: Literal["question_asked"] = "question_asked"
    suspension_id: str
    question: str
    missing_fields: tuple[str, ...] = ()
    kind: Literal["clarification", "questions", "confirmation", "external"] = "clarification"
    answer_schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; empty for a string."""
    reason: str = ""
    """Reason why the question is asked again; "" for the first time."""


@record
class ApprovalRequested(EventHead):
    """A person must approve a call. The token for the answer is in the result, for its client alone."""

    type: Literal["approval_requested"] = "approval_requested"
    suspension_id: str
    tool: str
    question: str
    preview: str = ""
    is_shortened: bool = False
    """The question or the preview shows only a part of a value; the arguments have all of it."""
    arguments: Any = None
    """All that will run, as it was frozen."""
    answer_schema: Mapping[str, Any]
    """JSON Schema."""
    expires_at: float
    """Seconds since 1970."""
    requested_by: str = ""
    """Person for whom the call was made; "" if unknown."""
    reason: str = ""
    """Reason why the question is asked again; "" for the first time."""


@record
class InputRequested(EventHead):
    """A call needs a person's answer or a credential. The token is in the result, as above."""

    type: Literal["input_requested"] = "input_requested"
    suspension_id: str
    tool: str
    kind: Literal["input", "credential"]
    question: str
    arguments: Any = None
    """The arguments of the call that asks, as they were frozen."""
    answer_schema: Mapping[str, Any]
    """JSON Schema."""
    expires_at: float
    """Seconds since 1970."""
    requested_by: str = ""
    """Person for whom the call was made; "" if unknown."""
    reason: str = ""
    """Reason why the question is asked again; "" for the first time."""
    request: Mapping[str, Any] | None = None
    """Description of the missing credential, as the tool requested it; None for other questions."""


@record
class AnswerAccepted(EventHead):
    """A call or a planner got the answer that it waited for; the answer itself is not in the event.

    After `ApprovalRequested` it is `ToolAuthorization` that says so.
    """

    type: Literal["answer_accepted"] = "answer_accepted"
    suspension_id: str
    kind: Literal["input", "credential", "pending", "clarification", "questions", "confirmation", "external"]
    """`confirmation` is one of a planner."""
    tool: str = ""
    """"" for a planner."""
    answered_by: str = ""
    """Person who answered, as named by the host."""


@record
class ToolAuthorization(EventHead):
    """A call was approved or denied."""

    type: Literal["tool_authorization"] = "tool_authorization"
    tool: str
    decision: Literal["approved", "denied"]
    decided_by: Literal["policy", "person", "runtime"]
    """`runtime` if nobody could be asked, the question was canceled, or the tool is disabled."""
    reason: str = ""
    suspension_id: str = ""
    answered_by: str = ""
    """Person who answered, as named by the host."""
    grant_id: str = ""
    """The grant by which the call was approved, without another question."""


@record
class PlannerThought(EventHead):
    """The planner's reasoning; best effort."""

    type: Literal["planner_thought"] = "planner_thought"
    text: str


@record
class PlanRetry(EventHead):
    """A planning begins again; its texts, thoughts and arguments so far are discarded."""

    type: Literal["plan_retry"] = "plan_retry"
    attempt: int
    """Number of the failed planning attempt, from 1."""
    delay_s: float = 0.0
    """Seconds until the next attempt; 0 if the model is asked again at once."""
    reason: str


@record
class AssistantReply(EventHead):
    """Text for the person; the whole of it unless it is partial."""

    type: Literal["assistant_reply"] = "assistant_reply"
    text: str
    is_partial: bool = False
    is_truncated: bool = False
    """The model came to the limit of its tokens: the text just ends."""
    provider: ProviderDocument | None = None
    """Provider data for the text, such as citations; None without any."""


@record
class Usage(EventHead):
    """The token usage of one request to a model."""

    type: Literal["usage"] = "usage"
    model: str
    input_tokens: int
    output_tokens: int


@record
class StateChanged(EventHead):
    """A successful call changed a key of the state; only those with access to the state see the value."""

    type: Literal["state_changed"] = "state_changed"
    tool: str
    scope: Literal["app", "user", "session", "temp"]
    key: str
    """The key without its scope."""
    operation: Literal["set", "delete", "append", "add"]


@record
class StateConflict(EventHead):
    """Parallel calls changed a key of the state in ways that its rule does not merge."""

    type: Literal["state_conflict"] = "state_conflict"
    scope: str
    key: str
    tool_call_ids: tuple[str, ...]
    """Ids of the calls, in their order."""
    applied_tool_call_id: str = ""
    """The call whose change was applied; "" if none was."""


@record
class ArtifactSaved(EventHead):
    """An artifact was stored."""

    type: Literal["artifact_saved"] = "artifact_saved"
    name: str
    version: int
    media_type: str = ""
    size: int = 0
    """Bytes."""


@record
class MemoryPreloaded(EventHead):
    """A planning got entries of earlier conversations; the event has none of their text."""

    type: Literal["memory_preloaded"] = "memory_preloaded"
    count: int
    has_failed: bool = False
    """The memory failed; the planning went on without it."""


@record
class ToolsetDropped(EventHead):
    """A toolset could not be listed and is left out of the request."""

    type: Literal["toolset_dropped"] = "toolset_dropped"
    toolset: str
    reason: str


@record
class EventsDropped(EventHead):
    """The reader was too slow, and events are missing here. The subscription adds this, with `seq` 0."""

    type: Literal["events_dropped"] = "events_dropped"
    count: int
    """Number of events that are missing at this position."""
    total: int
    """Number of lost events since the subscription began."""


@record
class RunCompleted(EventHead):
    """A run has ended."""

    type: Literal["run_completed"] = "run_completed"
    status: Literal["completed", "failed", "canceled"]
    error: str = ""


@record
class RunStreamEnd(EventHead):
    """The last event of a run."""

    type: Literal["run_stream_end"] = "run_stream_end"


Event: TypeAlias = (
    RunStarted
    | RunPhase
    | ToolStart
    | ToolArgsDelta
    | ToolUpdate
    | ToolOutputDelta
    | ToolEnd
    | AgentRunStarted
    | QuestionAsked
    | ApprovalRequested
    | InputRequested
    | AnswerAccepted
    | ToolAuthorization
    | PlannerThought
    | PlanRetry
    | AssistantReply
    | Usage
    | StateChanged
    | StateConflict
    | ArtifactSaved
    | MemoryPreloaded
    | ToolsetDropped
    | EventsDropped
    | RunCompleted
    | RunStreamEnd
)
