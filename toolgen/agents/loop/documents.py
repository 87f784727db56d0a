"""The JSON documents that the loop and its activities exchange, as the journal of an engine stores them."""

from __future__ import annotations

from typing import Any, Final, Literal, NotRequired, TypeAlias

from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from toolgen.calls.documents.results import ref_of, result_text
from toolgen.calls.documents.types import ProviderDocument
from toolgen.contract.json_value import Json
from toolgen.waiting.loop import CallOutcome

LOOP: Final = "agent"
LOOP_VERSION: Final = 9
"""The only loop version that is executed; raise it for any change that affects runs in a journal."""

TRANSFER: Final = "transfer:"
"""Prefix of the operation key that hands the conversation over.

The ID of the run that takes over ends with the key.
"""

AwaitKind = Literal["clarification", "questions", "confirmation", "external"]

StopReason = Literal[
    "final",
    "terminal_tool",
    "transferred",
    "escalated",
    "tool_cap",
    "failure_cap",
    "step_cap",
    "time_budget",
    "missing_fields",
    "failed",
]
"""Reason for the end of a run: its planner's answer, a tool, another agent, or a limit."""


class Parent(TypedDict):
    """The call that a child run answers."""

    run_id: str
    agent: str
    tool_call_id: str
    tool: str
    """Id of the tool whose result the run returns; "" for a conversation that was handed over."""
    is_designed: NotRequired[bool]
    """Whether the call is designed, as `StepCall.is_designed`."""
    child: NotRequired[str]
    """ID of the child run itself, if no loop made the call."""


class RunFacts(TypedDict):
    """The facts of a run that never change; passed to every activity."""

    version: int
    """The `LOOP_VERSION` with which the run began."""
    agent: str
    session_id: str
    turn_id: str
    labels: dict[str, str]
    policy: dict[str, Any]
    allowed_tags: list[str]
    denied_tags: list[str]
    restrict_to_tool: str
    parent: Parent | None
    depth: int
    """Nesting depth: number of agents above this run that called one another; 0 if no agent called it."""
    in_conversation: bool
    """Whether the run sees the session and is a part of it."""
    client: NotRequired[str]
    """Agent whose client started the run, if another agent answers in its place."""
    requested_by: NotRequired[str]
    """The person for whom the run was started."""
    conversation: NotRequired[str]
    """Agent whose conversation led to a run outside its session.

    It receives results that arrive after everything has ended.
    """
    trace: NotRequired[str]
    """Parent span of the run's spans in every process, as W3C Trace Context `traceparent`.

    It is the span of the call that the run answers, otherwise the run's own span.
    """
    history_run_ids: NotRequired[list[str]]
    """Runs that had the conversation before this run, oldest first, if there is no session."""


class RunInput(TypedDict):
    """The argument of the loop."""

    facts: RunFacts
    message: str
    source: Literal["person", "agent", "runtime"]
    content: NotRequired[list[Json]]
    """Links to the files that came with the message; absent if there are none."""


class ModelUsage(TypedDict):
    """Token usage of one request to a model."""

    model: str
    input_tokens: int
    output_tokens: int


class Dropped(TypedDict):
    """A toolset that is missing from a request, and the reason."""

    toolset: str
    reason: str


class MemoryStep(TypedDict):
    """Memory report of a planning; a run is remembered if its plannings have one."""

    preloaded: NotRequired[int]
    """Number of preloaded entries; absent if an earlier planning of the run did it, or preloading is off."""
    has_failed: NotRequired[bool]
    """Whether the memory failed, so that nothing was preloaded."""


class StepCall(TypedDict):
    """A call that the planner requests, with the facts of its tool that the loop needs."""

    id: str
    name: str
    arguments: str
    tool: str
    """ID of the tool; the requested name if no tool has it."""
    tags: list[str]
    is_bookkeeping: bool
    is_sequential: bool
    """Whether the other sequential calls of the batch wait for its end, in every executing process."""
    sequential_key: NotRequired[str]
    """Key that sequential calls share; calls with the same key run one at a time.

    Without it, the key covers all sequential calls of the batch.
    """
    starts_run: bool
    """Whether the run of another agent answers the call."""
    is_designed: NotRequired[bool]
    """Whether the design of the agent contains the tool, so that a worker without it has another version.

    Set only if many workers execute the runs.
    """
    start: dict[str, Json]
    """The event that reports the start of the call."""


class PlanArgument(TypedDict):
    """The argument of the activity `plan`."""

    facts: RunFacts
    step: int
    new: list[Json]
    """Messages since the previous planning."""
    hints: list[Json]
    """The `ErrorDocument` of each failed call that can be repaired, with the ID of its `tool`."""
    closing: str
    restrict_to_tool: str
    time_left: NotRequired[float]
    """Seconds for the attempt, if there is a limit."""
    attempt: NotRequired[int]
    """Number of the planning attempt, from 1; absent for 1."""
    message_ids: NotRequired[list[str]]
    """IDs of client messages among the new messages of the run; absent if there are none."""
    is_back: NotRequired[bool]
    """Whether another run had the conversation since the previous planning; absent if not."""


class CallsStep(TypedDict):
    """The planner calls tools."""

    kind: Literal["calls"]
    text: str
    provider: NotRequired[ProviderDocument]
    """Facts of the provider about the text; absent if there are none."""
    calls: list[StepCall]
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class FinalStep(TypedDict):
    """The planner ends the run with an answer."""

    kind: Literal["final"]
    text: str
    result: Json
    """The typed result; None if the run ends with text."""
    is_truncated: NotRequired[bool]
    """Whether the text is incomplete; absent if it is complete."""
    provider: NotRequired[ProviderDocument]
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class ProblemStep(TypedDict):
    """The planner's plan is rejected; the planner gets the reason and plans again."""

    kind: Literal["problem"]
    problem: str
    is_malformed: bool
    """Whether a result was returned whose shape does not match the requested one."""
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class AwaitStep(TypedDict):
    """The planner asks a person."""

    kind: Literal["await"]
    await_kind: AwaitKind
    question: str
    schema: dict[str, Json] | None
    missing_fields: list[str]
    restrict_to_tool: str
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class HandOverStep(TypedDict):
    """The planner hands the conversation over to another agent."""

    kind: Literal["transfer"]
    agent: str
    input: RunInput
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


Step: TypeAlias = CallsStep | FinalStep | ProblemStep | AwaitStep | HandOverStep
"""Next step that a planner requests, with its model usage."""


class Retry(TypedDict):
    """Conditions for a further attempt after a failed planning attempt."""

    delay_s: float
    """Seconds until the next attempt."""
    total_s: float
    """Seconds from the first attempt, after which there is no further attempt."""
    most_attempts: int
    """Maximum number of attempts that fail in this way; 0 for no limit."""


class RetryStep(TypedDict):
    """The attempt at a planning failed; its reports are discarded, and `retry` tells what follows."""

    kind: Literal["retry"]
    reason: str
    retry: Retry
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    is_store: NotRequired[bool]
    """Whether a store failed, rather than the planner."""


class ChildRun(TypedDict):
    """The run that answers a call."""

    agent: str
    input: RunInput


class PendingWorkDocument(TypedDict):
    """A call that was acknowledged, and waits in its own run."""

    run_id: str
    op: str
    """Key of the wait."""
    frozen: dict[str, Any]


class CallRecord(CallOutcome, total=False):
    """The record of a finished or suspended call."""

    reminder: str
    """Reminder for the model after the result; not one of its content blocks."""
    run_artifacts: list[Json]
    """Artifacts of the call and of the run that answered it, each with the ID of its call."""
    problem: str
    """Error text if the tool requested an action that its agent cannot perform."""
    transfer: ChildRun | None
    is_escalated: bool
    is_unattended: bool
    """Whether there is no person to ask."""
    usage: list[ModelUsage]


class Failure(TypedDict):
    """Reason for the failure of a run."""

    kind: str
    """`planner`, `malformed_response`, `limit`, or the way in which the engine ended the run."""
    message: str
    causes: list[str]
    """Causes of the failure, the nearest first, including causes in the runs of other agents."""


class QuestionDocument(TypedDict):
    """The subject of a wait: a planner's question."""

    kind: AwaitKind
    id: str
    question: str
    answer_schema: dict[str, Json]
    reason: NotRequired[str]
    """Reason for asking again after an answer that could not be used."""


class AcceptArgument(TypedDict):
    """The argument of the activity `accept`."""

    op: str
    """Key of the wait."""
    about: QuestionDocument
    answer: Json
    """Answer as stored in the journal."""


class KeepArgument(TypedDict):
    """The argument of the activity `store`."""

    answer: dict[str, Any]
    """A `ToolAnswer`."""


class RunDocument(TypedDict):
    """The result of the loop."""

    agent: str
    """ID of the agent that answered; after a hand-over, the agent that took over."""
    text: str
    result: Json
    stop: StopReason
    failure: Failure | None
    usage: list[ModelUsage]
    tool_calls: int
    children: int
    """Number of runs that it started, including runs that those runs started."""
    artifacts: list[Json]
    pending: list[PendingWorkDocument]
    """Acknowledged calls whose work continues."""
    waited_s: float
    """Seconds that it waited for a person."""
    duration_s: NotRequired[float]
    """Seconds from its start to its end, including waiting times."""
    is_truncated: NotRequired[bool]
    """Whether the text is incomplete; absent if it is complete."""
    provider: NotRequired[ProviderDocument]
    """Facts of the provider about the text; absent if there are none."""


def tool_answer(call: StepCall, record: CallRecord) -> dict[str, Any]:
    """Return the result of a call as the `ToolAnswer` that its conversation stores."""
    answer: dict[str, Any] = {
        "id": call["id"],
        "name": call["name"],
        "status": record["status"],
        "text": result_text(record),
        "reminder": record.get("reminder", ""),
        "content": record.get("content", []),
    }
    if "bounds" in record:
        answer["bounds"] = record["bounds"]
    if artifacts := record.get("artifacts"):
        answer["artifacts"] = [to_jsonable_python(ref_of(each)) for each in artifacts]
    return answer


def event_ids(facts: RunFacts | None) -> dict[str, Json]:
    """Return the IDs to add to a run's events, which engine events lack; empty without facts."""
    if facts is None:
        return {}
    return {"session_id": facts["session_id"], "turn_id": facts["turn_id"], "agent_id": facts["agent"]}


def as_plain_json(document: Any) -> Json:
    """Return a typed document as plain JSON, for type checkers."""
    return document  # type: ignore[no-any-return]
