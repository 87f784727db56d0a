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
"""`denied`: a person or a policy said no. `pending`: the work goes on, the model has an acknowledgement.
`suspended`: nothing was answered yet, and the model is not called before it is. `unknown`: the result was not
kept, and nobody knows whether the call has run; `Runtime.runs.resolve` settles it. `running`: the call, or
its answer, was accepted, and its result is not known yet."""


@record
class ArtifactRef:
    """An artifact beside a result by reference: where it is kept, and its data where that is small."""

    kind: str
    uri: str = ""
    """What `Runtime.artifacts.load` reads; "" where no store has it."""
    media_type: str = ""
    """Such as `application/json` (RFC 6838)."""
    size: int = 0
    """Bytes of the data."""
    digest: str = ""
    """`sha256:` and the SHA-256 of the data in hex."""
    json: str = ""
    """The data as canonical JSON; "" where it is larger than `Limits.inline_artifact_bytes`."""
    not_kept: str = ""
    """Why no store has it, for people; "" where one does."""


@record
class Artifact:
    """Full data beside a result, for UIs and audits; the model never sees it."""

    kind: str
    data: ToolModel
    source_tool: str = ""
    """Id of the tool; set by the runtime."""
    json: bytes = b""
    """The data as canonical JSON; set by the runtime."""
    ref: ArtifactRef | None = None
    """Where it is kept; set by the runtime."""


@record
class ToolOutcome(Generic[R_co]):
    """A result with what goes beside it. Made by `of` or `final`."""

    result: R_co
    artifacts: tuple[Artifact, ...] = ()
    content: tuple[Content, ...] = ()
    display: str | None = None
    """Text for people, in the place of the tool's result hint."""
    is_final: bool = False

    @staticmethod
    def of(
        result: R,
        *,
        artifacts: Sequence[Artifact] = (),
        content: Sequence[Content] = (),
        display: str | None = None,
    ) -> ToolOutcome[R]:
        """Return the outcome; artifacts come from the `ArtifactSpec`s of the tool."""
        return ToolOutcome(result=result, artifacts=tuple(artifacts), content=tuple(content), display=display)

    @staticmethod
    def final(
        result: R,
        *,
        artifacts: Sequence[Artifact] = (),
        content: Sequence[Content] = (),
        display: str | None = None,
    ) -> ToolOutcome[R]:
        """Return the outcome that ends the turn: the model is not asked to put it into words."""
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
        """Return an outcome for work elsewhere with this handle, which `Runtime.waits.answer` ends.

        The handle is the executor's own name of the work, unique in the tool. `ack` is what the model gets
        now, of the class that the design's `LongRunning(ack=)` declares; where it declares none, the model
        waits for the result.
        """
        return Pending(handle=handle, ack=ack)

    @staticmethod
    def ask(
        question: str, schema: type[Any] | Mapping[str, object] | None = None, *, keep: Json = None
    ) -> Unfinished:
        """Return an outcome that asks a person first; the tool then runs again from its first line.

        `schema` is the type of the answer, which `ctx.answered(type)` then has; or its JSON Schema, for an
        answer that `ctx.answer` has as it was given. It is one string, number or boolean, or a flat object
        of them; a text where nothing is said. `keep` is what `ctx.kept` has then.
        """
        return Unfinished(kind="input", question=question, schema=schema, keep=keep)

    @staticmethod
    def approval(question: str) -> Unfinished:
        """Return an outcome that asks a person for an approval first, as `Confirm` does.

        After a no it is denied, and the tool does not run again. After a yes it runs again from its first
        line, and `ctx.approved(question)` is true for this very question.
        """
        return Unfinished(kind="confirmation", question=question)

    @staticmethod
    def need_credential(request: Mapping[str, Json], question: str = "", *, keep: Json = None) -> Unfinished:
        """Return an outcome for a missing credential; the tool runs again when the host has it.

        `keep` is what `ctx.kept` has then.
        """
        return Unfinished(kind="credential", question=question, request=request, keep=keep)


class WithoutResult:
    """The value of an executor without a result yet: `Unfinished`, `Pending` or `Delegated`.

    One base, so that each call asks once.
    """

    __slots__ = ()


@record
class Unfinished(WithoutResult):
    """The value of an executor that waits for an answer. Constructed by `ToolOutcome`."""

    kind: Literal["confirmation", "input", "credential"]
    question: str = ""
    schema: type[Any] | Mapping[str, Any] | None = None
    request: Mapping[str, Json] | None = None
    keep: Json = None
    """What the executor wants back with the answer; no client sees it."""


@record
class Pending(WithoutResult, Generic[A_co]):
    """The value of a `LongRunning` tool with work elsewhere. Constructed by `ToolOutcome.pending`."""

    handle: str
    ack: A_co
    """What the model gets at once; None where the design declares no acknowledgement."""


@record
class OpenSpan:
    """The span of a call that a run answers."""

    trace: str
    """The span as W3C Trace Context has it (`traceparent`), for what stands under it."""
    conclude: Callable[[ToolResult | None], None]
    """Ends the span, with the result if there is one; never raises."""


@record
class Delegated(WithoutResult):
    """The value of an agent's tools: a run of the agent must answer."""

    agent: str
    """Id."""
    message: str
    """The message to the agent."""
    span: OpenSpan | None = field(default=None, repr=False, compare=False)
    """The span of the call, which lasts until its run is over; set by the runtime, where there are spans."""


@record
class RunLink:
    """The run of the agent that answered a call."""

    run_id: str
    agent: str
    parent_run_id: str = ""
    parent_tool_call_id: str = ""
    pending: tuple[Suspended, ...] = ()
    """Work that was acknowledged in the run of a direct call, or below it, and that goes on elsewhere."""


@record
class OuterCall:
    """The direct call of an agent's tool that has no result before the run of its agent has an answer."""

    run_id: str
    """The run of the call itself; to cancel it is to cancel all below it."""
    tool: str
    """Id."""
    tool_call_id: str = ""
    arguments_mac: str = field(default="", repr=False)
    """The MAC of the arguments of this call, as a suspended call has one."""


@record
class Suspended:
    """A call that waits for an answer, or a planner that asks; the part of it that a client gets."""

    token: str = field(repr=False)
    """Answers the suspension once, through `Runtime.waits.answer`; no log should show it. "" of a planner's
    question in the output of a run, which `RunHandle.answer` answers."""
    id: str
    """Names it in events and logs; answers nothing."""
    kind: SuspensionKind | Literal["clarification", "questions", "external", "pause", "unsealed", "tampered"]
    """In the output of a run also the question of its planner, or a pause. `unsealed` or `tampered` is a call
    that no secret of this host has sealed, or that somebody has changed since: only its id and its tool are
    said, and nobody answers it."""
    tool: str
    question: str
    preview: str
    """What would happen, for the person."""
    is_shortened: bool = False
    """The question or the preview shows only a part of a value; the arguments have all of it."""
    arguments: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """All that will run, as it was frozen; never with injected values."""
    answer_schema: Mapping[str, Any]
    """JSON Schema of the answer."""
    expires_at: float
    """Seconds since 1970; 0 for a planner's question, which waits as long as its run."""
    handle: str = ""
    """The name that the executor gave pending work."""
    request: Mapping[str, Json] | None = None
    """What credential is missing."""
    run_id: str = ""
    """The run that waits."""
    tool_call_id: str = ""
    requested_by: str = ""
    """The person for whom the call was made; "" where nobody said."""
    reason: str = ""
    """Why it is asked again, where an answer was given and not used."""
    number: int = 1
    """Which question of its call it is; one that is asked again keeps its number."""
    sensitive: tuple[str, ...] = ()
    """JSON Pointers to each `{"sensitive": true}` in `arguments`, for a value that nobody is shown."""
    arguments_mac: str = field(default="", repr=False)
    """`Waits.arguments_mac` of what will run: tells whether other arguments are the same, and no value."""
    outer: OuterCall | None = None
    """The direct call above, where the run of its agent asks; None for what no direct call waits for."""

    @property
    def call(self) -> OuterCall:
        """The call that its caller knows, and whose result the answer leads to: the outer one, or itself."""
        return self.outer or OuterCall(
            run_id=self.run_id,
            tool=self.tool,
            tool_call_id=self.tool_call_id,
            arguments_mac=self.arguments_mac,
        )


class GrantLapsedError(Exception):
    """A call was about to begin by a grant, which gives it no use any more: it asks, and has this result."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


class Actions:
    """The actions that a tool requests of the agent that called it."""

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
    """The duration and token usage of a call."""

    duration_s: float = 0.0
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@record
class Received(WithoutResult):
    """The value of a bound tool whose service answered what does not fit. Made by generated code."""

    error: UnfitAnswerError
    """The answer as received, and where it does not fit."""


ToolReturn: TypeAlias = R | ToolOutcome[R] | Unfinished | Delegated | Received
"""What an executor's method may return: the plain result, an outcome around it, or that there is none yet."""

LongRunningReturn: TypeAlias = ToolReturn[R] | Pending[A]
"""What the method of a `LongRunning` tool may return: as `ToolReturn`, or that the work is pending.

The second argument is the class of its acknowledgement; None where the design declares none.
"""


@sparse_record
class ToolResult:
    """The one result of a call."""

    tool: str
    """Id of the tool; the name as asked for when no tool has it."""
    status: ToolStatus
    json: bytes = field(default=b"", repr=False)
    """Exactly what the model sees."""
    tool_call_id: str = ""
    result: Any = None
    """The typed result; None after an error."""
    error: ToolError | None = None
    retry_hint: RetryHint | None = None
    bounds: Bounds | None = None
    warnings: tuple[FieldIssue, ...] = ()
    """Where the answer of a lenient service does not fit, the first ones: `result` and `json` have these
    values as they were received."""
    artifacts: tuple[Artifact, ...] = ()
    content: tuple[Content, ...] = ()
    display: str = ""
    """The text for people: the tool's result hint, or what the executor said."""
    is_final: bool = False
    """The result ends the turn as it is."""
    approved_by: str = ""
    """Who granted the call before, and when: `approved by NAME at TIME`; "" for a call without a grant."""
    actions: Actions | None = None
    """What the tool asked of the agent that called it."""
    suspensions: tuple[Suspended, ...] = ()
    """All that wait for an answer before the call has its result: of an agent's tool, what its run asks."""
    frozen: FrozenCall | None = None
    """Only between the dispatcher and the run that waits."""
    delegated: Delegated | None = None
    """Only between the dispatcher and the runtime, which starts the run."""
    run_link: RunLink | None = None
    children_count: int = 0
    """Runs of agents behind the result, theirs included."""
    telemetry: Telemetry | None = None

    @property
    def suspension(self) -> Suspended | None:
        """What waits for an answer, of several the first; None where nothing does."""
        return self.suspensions[0] if self.suspensions else None
