"""Shared state of the steps of a call: the services of its runtime, and its own frame.

A host can pass the tool and the arguments in several forms (`tool_name`, `call_arguments`). Any other form is
the host's mistake and raises; only a model's mistake becomes a result.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.contract.names import NOBODY_TO_ASK
from toolgen.contract.secrets import Secrets, hiding
from toolgen.shapes.design.model import ToolModel

from ..call import Arguments, ToolCall, arguments_json_or_empty
from ..capability import Capability, RetryStep, once
from ..context import Batch, ToolContext, set_resumption, set_retry_step
from ..errors import MalformedResultError, ToolError, ToolValidationError
from ..specs import ToolSpec
from .failures import (
    declared,
    denied_result,
    error_result,
    invalid_arguments_result,
    readable,
    tool_error_of,
)

if TYPE_CHECKING:
    from toolgen.contract.errors import ToolgenError
    from toolgen.contract.json_value import Json

    from ..call import CallMeta
    from ..provided import ArtifactKeeper
    from ..reports import CallMetrics, CallReports, CallSpans, Trace
    from ..results import Pending, ToolResult, Unfinished
    from ..resumption import Resumption
    from .execution import Execution
    from .hooks import HookMethod
    from .policy import Policy
    from .registered_tool import RegisteredTool
    from .scheduler import Scheduler


HostArguments: TypeAlias = Arguments | ToolModel
"""JSON text, a mapping of JSON values, or the payload of the tool."""


HandToRun: TypeAlias = "Callable[[RegisteredTool, Arguments, ToolResult, CallMeta], Awaitable[ToolResult]]"
"""Returns the result of a call that an agent answers, or that is suspended from now on."""


class Suspender(Protocol):
    """Suspends calls until they are answered: `waiting.suspending.CallSuspender`."""

    def obstacle(self, tool: RegisteredTool) -> ToolgenError | None:
        """Return the reason why calls of a tool cannot be suspended; None if they can."""
        ...

    async def ask(
        self, frame: Frame, frozen: bytes, question: str, preview: str, *, is_shortened: bool
    ) -> ToolResult:
        """Suspend a call with these arguments until a person approves it, and return its result.

        Raises:
            RuntimeClosedError: no engine can store the question.
            ToolError: the call has asked too many questions.
        """
        ...

    async def granted(
        self, frame: Frame, frozen: bytes, question: str, preview: str, *, is_shortened: bool
    ) -> bool:
        """Return whether a grant covers the call, so that it can run without another answer.

        The call takes a use of the grant immediately before its executor. If no use is left, it asks.
        """
        ...

    async def suspend(self, frame: Frame, unfinished: Unfinished | Pending, frozen: bytes) -> ToolResult:
        """Suspend a call whose executor has no result yet, and return its result with the frozen arguments.

        Raises:
            MalformedResultError: the executor's question or acknowledgement does not fit the design.
            ToolError: the call has asked too many questions.
        """
        ...


@dataclass(slots=True, kw_only=True)
class RuntimeServices:
    """The services that all calls of one runtime share. Constructed by `Runtime` from its arguments."""

    execution: Execution
    scheduler: Scheduler
    reports: CallReports
    capabilities: Mapping[str, Capability]
    artifacts: ArtifactKeeper | None = None
    """Stores the artifacts of results; None if there is no artifact store."""
    policy: Policy | None = None
    spans: CallSpans | None = None
    metrics: CallMetrics | None = None
    is_measured: bool = field(init=False)
    """Whether calls are recorded in spans or metrics."""
    why_disabled: Callable[[str], Awaitable[str | None]] | None = None
    """Returns why a tool, passed by ID, is disabled; "" without a reason, None if it is enabled."""
    suspender: Suspender | None = None
    """Suspends calls; None if this runtime cannot."""
    run_id: str = ""
    """ID of the run that stores the artifacts of results; "" for the run of the call."""
    is_interactive: bool = True
    """Whether a person can be asked."""
    limits: Limits = DEFAULT_LIMITS
    unknown_tool_hooks: tuple[HookMethod, ...] = ()
    """Hook methods for calls of tools that do not exist."""
    stage_timeout: float | None = None
    """Maximum seconds for one step of the host's own code."""
    retry_step: RetryStep = once
    """Retries the steps that store artifacts and state changes after an executor."""
    new_batch: Callable[[], Batch] = field(init=False)
    """Creates the batch of a single call."""
    needs_steps: bool = field(init=False)
    """Whether every call takes all steps, even if the snapshot with its tool belongs to another runtime."""

    def __post_init__(self) -> None:
        self.is_measured = self.spans is not None or self.metrics is not None
        self.needs_steps = self.is_measured or self.why_disabled is not None or self.policy is not None
        self.new_batch = partial(Batch, self.capabilities)


class Frame:
    """State of one call that has begun, with its own context."""

    call: ToolCall | None = None
    """The call for hooks, policies and interceptors; None before they run, and for tools without any."""
    record_begin: Callable[[], Awaitable[None]] | None = None
    """Awaited immediately before the executor, for a run's call of a tool that must not run twice."""
    give_up: Callable[[], None] | None = None
    """Called when the executor of such a call is abandoned."""
    resumption: Resumption | None = None
    """Answers with which a suspended call is resumed."""
    secrets: Secrets | None = None
    """Sensitive values of the call; None if its design has none."""
    trace_before: str = ""
    """Span of the execution before the call was suspended, as `FrozenCall.trace`."""

    def __init__(
        self,
        tool: RegisteredTool,
        arguments: Arguments,
        meta: CallMeta,
        batch: Batch,
        services: RuntimeServices,
        trace: Trace | None = None,
        context: ToolContext | None = None,
    ) -> None:
        spec = tool.spec
        self.spec = spec
        self.tool = tool
        self.arguments = arguments
        """The arguments as received."""
        self.meta = meta
        self.batch = batch
        self.services = services
        self.context = context or ToolContext(meta, spec.id, spec, batch)
        if services.retry_step is not once:
            set_retry_step(self.context, services.retry_step)
        self.trace = trace
        """Receives the steps of the call, except the step that fails."""
        if tool.is_sensitive:
            from ..sensitive import note_document

            self.secrets = Secrets()
            note_document(spec.payload, arguments_json_or_empty(arguments), self.secrets)
            batch.add_secrets(self.secrets)

    def tool_call(self, document: bytes, payload: Any = None) -> ToolCall:
        """Return the call for hooks, in half of the time that its constructor takes."""
        call: Any = object.__new__(ToolCall)
        call.tool, call.payload_json, call.meta = self.spec.id, document, self.meta
        call.payload, call.seen_bounds = payload, ()
        return call  # type: ignore[no-any-return]  # created as one

    def resume(self, resumption: Resumption) -> None:
        """Resume a suspended call with its answers."""
        self.resumption = resumption
        set_resumption(self.context, resumption)

    @property
    def limit(self) -> int:
        """Maximum size of a document for the model, in bytes."""
        return self.tool.result_bytes

    @property
    def answers(self) -> tuple[Json, ...]:
        """Earlier answers to this call."""
        return () if self.resumption is None else self.resumption.answers

    @property
    def nobody_to_ask(self) -> str:
        """Return the reason why nobody can be asked about the call; "" if somebody can."""
        services = self.services
        obstacle = None if services.suspender is None else services.suspender.obstacle(self.tool)
        if obstacle is not None:
            return obstacle.message
        return "" if services.is_interactive and services.suspender is not None else NOBODY_TO_ASK

    def error_result(self, error: ToolError) -> ToolResult:
        """Return the error result of a failure whose text is for the model."""
        with hiding(self.secrets):
            readable_error = declared(self.spec, readable(self.spec, error))
            return error_result(self.spec.id, readable_error, self.meta, self.limit)

    def failed_result(self, error: BaseException) -> ToolResult:
        """Return the error result of an exception; an exception that is not for the model is logged."""
        with hiding(self.secrets):
            return self.error_result(tool_error_of(self.spec, error))

    def denied_result(self, message: str, *, code: str = "denied") -> ToolResult:
        """Return the result of a call that a person or a policy did not allow."""
        return denied_result(self.spec, message, self.meta, self.limit, code=code)

    def invalid_arguments_result(self, error: ToolValidationError, message: str = "") -> ToolResult:
        """Return the result of invalid arguments, with another message if one is passed."""
        return invalid_arguments_result(
            self.spec, error, self.arguments, self.meta, self.limit, message=message
        )


def tool_name(tool: str | ToolSpec) -> str:
    """Return the name of a tool, or the ID of a spec.

    Raises:
        TypeError: it is neither a string nor a spec.
    """
    if isinstance(tool, str):
        return tool
    if isinstance(tool, ToolSpec):
        return tool.id
    raise TypeError(f"expected a tool's id, its wire name or its ToolSpec, got {type(tool).__name__}")


def call_arguments(spec: ToolSpec, arguments: HostArguments) -> Arguments:
    """Return the arguments of a call; a payload of the tool is encoded.

    Raises:
        TypeError: they are neither JSON text nor a mapping nor a payload of this tool, or the payload
            contains values of other types.
    """
    if isinstance(arguments, (bytes, str, Mapping)):
        return arguments
    if not isinstance(arguments, ToolModel):
        raise TypeError(
            f"the arguments of {spec.name} have the type {type(arguments).__name__}; pass JSON text, a "
            f"mapping or a {spec.payload.name}"
        )
    try:
        return spec.payload.encode(arguments)
    except MalformedResultError as error:
        raise TypeError(f"the arguments of {spec.name} cannot be encoded: {error}") from error
