"""The JSON documents that the loop and its activities exchange, as the journal of an engine keeps them."""

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
"""The only version of the loop that is executed; what changes for the runs of a journal raises it."""

TRANSFER: Final = "transfer:"
"""Prefix of the key of the operation that hands the conversation over. The id of the run that takes over ends
with the key.
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
    """Id of the run itself, where no loop made the call."""


class RunFacts(TypedDict):
    """The facts of a run that never change; every activity gets them."""

    version: int
    """The `LOOP_VERSION` with which it began."""
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
    """Number of agents that called one another; 0 for a run that nobody called."""
    in_conversation: bool
    """The run sees the session, and is a part of it."""
    client: NotRequired[str]
    """Agent whose client started the run, where another one answers in its place."""
    requested_by: NotRequired[str]
    """The person for whom the run was started."""
    conversation: NotRequired[str]
    """Agent whose conversation led to a run that is not a part of its session; it hears of what comes when
    all is over."""
    trace: NotRequired[str]
    """The span that those of the run stand under in every process, as W3C Trace Context has it
    (`traceparent`): that of the call which the run answers, else its own."""
    history_run_ids: NotRequired[list[str]]
    """Runs that had the conversation before this one, oldest first, where there is no session."""


class RunInput(TypedDict):
    """The argument of the loop."""

    facts: RunFacts
    message: str
    source: Literal["person", "agent", "runtime"]
    content: NotRequired[list[Json]]
    """Links to the files that came with the message; none where it is missing."""


class ModelUsage(TypedDict):
    """Token usage of one request to a model."""

    model: str
    input_tokens: int
    output_tokens: int


class Dropped(TypedDict):
    """A toolset that is missing in a request, and why."""

    toolset: str
    reason: str


class MemoryStep(TypedDict):
    """What a planning did with the memory of the host; a run whose plannings have it is remembered."""

    preloaded: NotRequired[int]
    """Entries that the planning preloaded; missing where an earlier one of the run did, or none is to."""
    has_failed: NotRequired[bool]
    """The memory failed, and nothing was preloaded."""


class StepCall(TypedDict):
    """A call that the planner wants, with the facts of its tool that the loop needs."""

    id: str
    name: str
    arguments: str
    tool: str
    """Id; the name as asked for when no tool has it."""
    tags: list[str]
    is_bookkeeping: bool
    is_sequential: bool
    """Whether the other sequential calls of its batch wait for its end, whatever process executes them."""
    sequential_key: NotRequired[str]
    """Key that sequential calls share; calls with the same key run one at a time. Without it, the key covers
    all sequential calls of the batch.
    """
    starts_run: bool
    """Whether the run of another agent answers it."""
    is_designed: NotRequired[bool]
    """Whether the design of the agent has the tool, so that a worker without it has another version; said
    where many workers execute the runs."""
    start: dict[str, Json]
    """The event that says that it was called."""


class PlanArgument(TypedDict):
    """The argument of the activity `plan`."""

    facts: RunFacts
    step: int
    new: list[Json]
    """Messages since the planning before."""
    hints: list[Json]
    """The `ErrorDocument` of each failed call that can be repaired, with the id of its `tool`."""
    closing: str
    restrict_to_tool: str
    time_left: NotRequired[float]
    """Seconds for the attempt, where there is a limit."""
    attempt: NotRequired[int]
    """Number of the planning attempt, from 1; 1 if it is missing."""
    message_ids: NotRequired[list[str]]
    """Ids of what clients said into the run that is among what is new; none where it is missing."""
    is_back: NotRequired[bool]
    """Another run had the conversation since the planning before; none had where it is missing."""


class CallsStep(TypedDict):
    """The planner calls tools."""

    kind: Literal["calls"]
    text: str
    provider: NotRequired[ProviderDocument]
    """Facts of the provider about the text; missing if there are none."""
    calls: list[StepCall]
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class FinalStep(TypedDict):
    """The planner ends the run with an answer."""

    kind: Literal["final"]
    text: str
    result: Json
    """The typed result; None where the run ends with text."""
    is_truncated: NotRequired[bool]
    """The text is not complete; it is where this is missing."""
    provider: NotRequired[ProviderDocument]
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    memory: NotRequired[MemoryStep]


class ProblemStep(TypedDict):
    """The planner's plan is rejected; the planner gets the reason and plans again."""

    kind: Literal["problem"]
    problem: str
    is_malformed: bool
    """It is a result of another shape than the one asked for."""
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
    """Whether and when a failed attempt at a planning is followed by another one."""

    delay_s: float
    """Seconds until the next attempt."""
    total_s: float
    """Seconds from the first attempt after which there is no other."""
    most_attempts: int
    """Attempts that may fail like this one; 0 for no limit."""


class RetryStep(TypedDict):
    """The attempt at a planning failed; what it reported is discarded, and `retry` says what follows."""

    kind: Literal["retry"]
    reason: str
    retry: Retry
    usage: list[ModelUsage]
    dropped: NotRequired[list[Dropped]]
    is_store: NotRequired[bool]
    """A store failed, and not the planner."""


class ChildRun(TypedDict):
    """The run that answers a call."""

    agent: str
    input: RunInput


class PendingWorkDocument(TypedDict):
    """A call that was acknowledged, and waits in a run of its own."""

    run_id: str
    op: str
    """Key of the wait."""
    frozen: dict[str, Any]


class CallRecord(CallOutcome, total=False):
    """The record of a finished or suspended call."""

    reminder: str
    """Reminder for the model after the result; none of its content blocks."""
    run_artifacts: list[Json]
    """Artifacts of the call and of the run that answered it, each with the id of its call."""
    problem: str
    """The tool wanted the impossible of its agent."""
    transfer: ChildRun | None
    is_escalated: bool
    is_unattended: bool
    """There is no person to ask."""
    usage: list[ModelUsage]


class Failure(TypedDict):
    """Why a run failed."""

    kind: str
    """`planner`, `malformed_response`, `limit`, or how the engine ended the run."""
    message: str
    causes: list[str]
    """Causes of the failure, the nearest first, including those in the runs of other agents."""


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
    """Id of the agent that answered; another one after a hand-over."""
    text: str
    result: Json
    stop: StopReason
    failure: Failure | None
    usage: list[ModelUsage]
    tool_calls: int
    children: int
    """Runs that it started, and those that they started."""
    artifacts: list[Json]
    pending: list[PendingWorkDocument]
    """Work that goes on, and whose calls were acknowledged."""
    waited_s: float
    """Seconds for which it waited for a person."""
    duration_s: NotRequired[float]
    """Seconds from its beginning to its end, those of waiting included."""
    is_truncated: NotRequired[bool]
    """The text is not complete; it is where this is missing."""
    provider: NotRequired[ProviderDocument]
    """Facts of the provider about the text; missing if there are none."""


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
    """Return the ids that the events of a run have, which those of its engine lack; none without facts."""
    if facts is None:
        return {}
    return {"session_id": facts["session_id"], "turn_id": facts["turn_id"], "agent_id": facts["agent"]}


def as_plain_json(document: Any) -> Json:
    """Return a typed document as plain JSON, for type checkers."""
    return document  # type: ignore[no-any-return]
