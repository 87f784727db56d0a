"""Results: the executor's outcome, and the one result of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, overload

from typing_extensions import TypeVar

from toolgen.contract.bounds import Bounds as Bounds
from toolgen.contract.names import RetryReason as RetryReason
from toolgen.contract.names import SuspensionKind as SuspensionKind
from toolgen.contract.record import record, sparse_record

from .errors import RetryHint as RetryHint

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json
    from toolgen.shapes.design.model import ToolModel
    from toolgen.shapes.issues import FieldIssue

    from .call import FrozenCall
    from .content import Content
    from .errors import ToolError, UnfitAnswerError

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True, default=Any)
A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True, default=Any)

EndStatus = Literal["ok", "error", "denied", "pending", "suspended", "unknown"]
"""Status of a call in its `tool_end`."""
ToolStatus = Literal[EndStatus, "running"]
"""Status of a call. `pending`: the work continues elsewhere, and the model has an acknowledgement.
`suspended`: the call waits for an answer. `unknown`: the call might have run, and its outcome is lost.
`running`: not known yet."""


@record
class ArtifactRef:
    """Reference to an artifact: its URI in the store, and its data if that is small."""

    kind: str
    uri: str = ""
    """URI for `Runtime.artifacts.load`; "" if the artifact is not stored."""
    media_type: str = ""
    """Media type, such as `application/json`."""
    size: int = 0
    """Size of the data in bytes."""
    digest: str = ""
    """`sha256:` and the hexadecimal SHA-256 of the data."""
    json: str = ""
    """Data as canonical JSON; "" if it is larger than `Limits.inline_artifact_bytes`."""
    not_stored_reason: str = ""
    """Why the artifact is not stored, for people; "" if it is."""


@record
class Artifact:
    """Full data that belongs to a result, for user interfaces and audits. Create it with `of` of an
    `ArtifactSpec`."""

    kind: str
    data: ToolModel
    """Data of the class that the design declares."""
    source_tool: str = ""
    """ID of the tool; set by the runtime."""
    json: bytes = b""
    """Data as canonical JSON; set by the runtime."""
    ref: ArtifactRef | None = None
    """Reference to the stored artifact; set by the runtime."""


@record
class ToolOutcome(Generic[R_co]):
    """A result with additions, or a question to a person. Executors create it with the functions below."""

    result: R_co
    """Result of the tool."""
    artifacts: tuple[Artifact, ...] = ()
    """Full data for user interfaces, created by the `ArtifactSpec`s of the tool."""
    content: tuple[Content, ...] = ()
    """Content blocks for the model."""
    display: str | None = None
    """Text for people, in place of the tool's result hint."""
    is_final: bool = False
    """Whether the result ends the turn."""

    @staticmethod
    def of(
        result: R,
        *,
        artifacts: Sequence[Artifact] = (),
        content: Sequence[Content] = (),
        display: str | None = None,
    ) -> ToolOutcome[R]:
        """Return a result with additions, as described above."""
        return ToolOutcome(result=result, artifacts=tuple(artifacts), content=tuple(content), display=display)

    @staticmethod
    def final(
        result: R,
        *,
        artifacts: Sequence[Artifact] = (),
        content: Sequence[Content] = (),
        display: str | None = None,
    ) -> ToolOutcome[R]:
        """Return a result that ends the turn: the model is not asked to comment on it."""
        outcome = ToolOutcome.of(result, artifacts=artifacts, content=content, display=display)
        return replace(outcome, is_final=True)

    @overload
    @staticmethod
    def pending(handle: str) -> Pending[None]: ...
    @overload
    @staticmethod
    def pending(handle: str, ack: A) -> Pending[A]: ...
    @staticmethod
    def pending(handle: str, ack: Any = None) -> Pending:
        """Return the outcome of a `LongRunning` tool whose work continues elsewhere.

        `Runtime.suspensions.answer` delivers the result later.

        Args:
            handle: The executor's name for the work, unique in the tool.
            ack: Acknowledgement for the model, of the class of the design's `LongRunning(ack=…)`. If the
                design declares none, the call stays suspended until the result arrives.
        """
        return Pending(handle=handle, ack=ack)

    @staticmethod
    def ask(
        question: str, schema: type[Any] | Mapping[str, object] | None = None, *, resume_state: Json = None
    ) -> Unfinished:
        """Ask a person a question. After the answer, the executor runs again from its first line.

        Args:
            question: Text for the person.
            schema: Type of the answer, for `ctx.answered(type)`, or a JSON Schema, for `ctx.answer`: a
                string, number or boolean, or a flat object of them. The default is a string.
            resume_state: JSON value that `ctx.resume_state` returns with the answer.
        """
        return Unfinished(kind="input", question=question, schema=schema, resume_state=resume_state)

    @staticmethod
    def approval(question: str) -> Unfinished:
        """Ask a person for an approval, as `Confirm` does.

        After an approval, the executor runs again from its first line, and `ctx.approved(question)` is true
        for exactly this question. After a rejection, the call is denied.
        """
        return Unfinished(kind="confirmation", question=question)

    @staticmethod
    def need_credential(
        request: Mapping[str, Json], question: str = "", *, resume_state: Json = None
    ) -> Unfinished:
        """Suspend the call until the host has a credential. Then the executor runs again from its first line.

        `request` describes the credential. `ctx.resume_state` returns `resume_state` then.
        """
        return Unfinished(kind="credential", question=question, request=request, resume_state=resume_state)


class WithoutResult:
    """The value of an executor without a result yet: `Unfinished`, `Pending` or `Delegated`.

    They share one base class, so that each call needs only one check.
    """

    __slots__ = ()


@record
class Unfinished(WithoutResult):
    """Return value of an executor that needs an answer, created for example by `ToolOutcome.ask`."""

    kind: Literal["confirmation", "input", "credential"]
    question: str = ""
    schema: type[Any] | Mapping[str, Any] | None = None
    request: Mapping[str, Json] | None = None
    resume_state: Json = None
    """Value that the executor gets back with the answer; no client sees it."""


@record
class Pending(WithoutResult, Generic[A_co]):
    """Return value of a `LongRunning` tool whose work continues elsewhere. Created by
    `ToolOutcome.pending`."""

    handle: str
    ack: A_co
    """Acknowledgement for the model; None if the design declares none."""


@record
class OpenSpan:
    """The span of a call that a run answers."""

    trace: str
    """W3C Trace Context (`traceparent`) of the span, for child spans."""
    conclude: Callable[[ToolResult | None], None]
    """Ends the span, with the result if there is one; never raises."""


@record
class Delegated(WithoutResult):
    """The value of an agent's tool: a run of the agent must answer."""

    agent: str
    """ID of the agent."""
    message: str
    """Message to the agent."""
    span: OpenSpan | None = field(default=None, repr=False, compare=False)
    """Span of the call, which stays open until its run is over; set by the runtime if there are spans."""


@record
class RunLink:
    """The run of the agent that answered a call."""

    run_id: str
    agent: str
    parent_run_id: str = ""
    parent_tool_call_id: str = ""
    pending: tuple[Suspended, ...] = ()
    """Acknowledged work that continues elsewhere, of this run and its child runs."""


@record
class OuterCall:
    """The direct call of an agent's tool that has no result until the run of its agent has an answer."""

    run_id: str
    """Run of the call itself; canceling it cancels all runs below it."""
    tool: str
    """ID of the tool."""
    tool_call_id: str = ""
    arguments_mac: str = field(default="", repr=False)
    """MAC of the arguments of this call, as for a suspended call."""


@record
class Suspended:
    """A suspended call or a planner's question, as clients see it."""

    token: str = field(repr=False)
    """Token for `Runtime.suspensions.answer`; do not log it. Empty for a question that `RunHandle.answer`
    answers."""
    id: str
    """ID of the question in events and logs; it answers nothing."""
    kind: SuspensionKind | Literal["clarification", "questions", "external", "pause", "unsealed", "tampered"]
    """An answer (`confirmation`, `input`), a `credential` or a result (`pending`). In the output of a run
    also a planner's question. An `unsealed` or `tampered` call has no valid seal and cannot be answered."""
    tool: str
    question: str
    """Text for the person, with at most 200 characters of each value."""
    preview: str
    """Description of the effect, for the person."""
    is_shortened: bool = False
    """Whether `question` or `preview` shows only part of a value. `arguments` has all of it."""
    arguments: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """Everything that will be executed, without injected values."""
    answer_schema: Mapping[str, Any]
    """JSON Schema of the answer."""
    expires_at: float
    """When the request expires, in seconds since 1970; 0 for a planner's question."""
    handle: str = ""
    """The executor's name for pending work."""
    request: Mapping[str, Json] | None = None
    """Description of the missing credential."""
    run_id: str = ""
    tool_call_id: str = ""
    requested_by: str = ""
    """Person for whom the call was made; "" if unknown."""
    reason: str = ""
    """Why the question is asked again; "" if it is new."""
    number: int = 1
    """Number of the question within its call. A question that is asked again keeps its number."""
    sensitive: tuple[str, ...] = ()
    """JSON Pointers to each `{"sensitive": true}` in `arguments`."""
    arguments_mac: str = field(default="", repr=False)
    """MAC of the arguments, to compare them with `suspensions.arguments_mac` without reading them."""
    outer: OuterCall | None = None
    """Direct call of an agent's tool that waits for this question; None if there is none."""

    @property
    def call(self) -> OuterCall:
        """Call whose result follows from the answer: the outer call, or the suspended call itself."""
        return self.outer or OuterCall(
            run_id=self.run_id,
            tool=self.tool,
            tool_call_id=self.tool_call_id,
            arguments_mac=self.arguments_mac,
        )


class GrantLapsedError(Exception):
    """The grant of a call that was about to begin has no uses left; the call asks, with this result."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


class Actions:
    """Actions that a tool requests from the agent that called it."""

    __slots__ = ("is_escalated", "transfer_to")

    def __init__(self) -> None:
        self.transfer_to = ""
        """Agent that takes over the conversation."""
        self.is_escalated = False

    def transfer(self, agent: str) -> None:
        """Hand the conversation to another agent after this turn."""
        self.transfer_to = agent

    def escalate(self) -> None:
        """Return the conversation to the agent, or the caller, that called this agent."""
        self.is_escalated = True


@sparse_record
class Telemetry:
    """Duration and token usage of a call."""

    duration_s: float = 0.0
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@record
class Received(WithoutResult):
    """Value of a bound tool whose service returned values that do not fit. Created by generated code."""

    error: UnfitAnswerError
    """Error with the response as received and its issues."""


ToolReturn: TypeAlias = R | ToolOutcome[R] | Unfinished | Delegated | Received
"""Return type of an executor's method: the plain result, a `ToolOutcome`, or that there is no result yet."""

LongRunningReturn: TypeAlias = ToolReturn[R] | Pending[A]
"""Return type of the method of a `LongRunning` tool. `A` is the class of the acknowledgement, or None."""


@sparse_record
class ToolResult:
    """The result of a call."""

    tool: str
    """ID of the tool; the requested name if no tool has it."""
    status: ToolStatus
    """What happened to the call."""
    json: bytes = field(default=b"", repr=False)
    """Exactly what the model sees; empty while there is no result."""
    tool_call_id: str = ""
    result: Any = None
    """Typed result; None after an error."""
    error: ToolError | None = None
    """Failure of the call."""
    retry_hint: RetryHint | None = None
    """How to repair or repeat a failed call."""
    bounds: Bounds | None = None
    """How much of the data a bounded result shows."""
    warnings: tuple[FieldIssue, ...] = ()
    """Places in which the answer of a lenient service does not fit; these values are unchanged."""
    artifacts: tuple[Artifact, ...] = ()
    """Full data for user interfaces."""
    content: tuple[Content, ...] = ()
    """Content blocks for the model."""
    display: str = ""
    """Text for people: the executor's, or the tool's result hint."""
    is_final: bool = False
    """Whether the result ends the turn."""
    approved_by: str = ""
    """Grant that approved the call: `approved by NAME at TIME`; "" without a grant."""
    actions: Actions | None = None
    """Actions that the tool requested from its agent."""
    suspensions: tuple[Suspended, ...] = ()
    """Open questions. If an agent answers the call, all questions of its run."""
    frozen: FrozenCall | None = None
    """Internal: the stored call, for the run that waits."""
    delegated: Delegated | None = None
    """Internal: the agent whose run must answer."""
    run_link: RunLink | None = None
    """Run of the agent that answered the call."""
    children_count: int = 0
    """Number of runs of agents behind the result."""
    telemetry: Telemetry | None = None
    """Duration and token usage of the call."""

    @property
    def suspension(self) -> Suspended | None:
        """First open question; None if there is none."""
        return self.suspensions[0] if self.suspensions else None
