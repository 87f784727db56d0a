"""What the steps of a call share: the services of its runtime, its batch, and its own frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from toolgen.contract.json_value import Json
from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.contract.secrets import Secrets, hiding, within

from ..calls import CallMeta, ToolCall
from ..codec import Arguments, raw_arguments
from ..context import ToolContext, actions_of, opened_by, set_resumption, set_store_retry, store_retry_of
from ..errors import DeclaredError, ToolError, ToolValidationError
from ..events.event_reporter import SILENT, EventReporter
from ..results import ToolResult
from ..stores.outages import ONCE, StoreRetry
from ..values import Values
from .boundary import Contained
from .execution import Execution
from .failures import declared, denied_result, error_result, invalid_arguments_result, log, readable
from .late_ends import LateEnds
from .policy import Policy
from .registered_tool import RegisteredTool
from .scheduler import Scheduler
from .secrets import note_answer, note_document, secrets_of
from .trace import Trace

if TYPE_CHECKING:
    from ..capabilities import Capability
    from ..disabling import DisabledTools
    from ..events.hub import Events
    from ..metrics import Metrics
    from ..telemetry import ToolSpans
    from ..waiting.answers import Resumption
    from ..waiting.errors import SuspensionError
    from ..waiting.wait_registry import WaitRegistry
    from .bridge import Wait


def _nothing() -> int:
    return 0


@dataclass(slots=True, kw_only=True)
class RuntimeServices:
    """The services that all calls of one runtime share. Constructed by `Runtime` from its arguments."""

    execution: Execution
    scheduler: Scheduler
    reports: EventReporter
    capabilities: Mapping[str, Capability]
    policy: Policy | None = None
    spans: ToolSpans | None = None
    metrics: Metrics | None = None
    is_measured: bool = field(init=False)
    """Whether there are spans or metrics."""
    disabled: DisabledTools | None = None
    waits: WaitRegistry | None = None
    """None where no call can wait."""
    no_wait: SuspensionError | None = None
    """Why no call can wait, where the runtime has an engine all the same."""
    is_found_again: Callable[[RegisteredTool], bool] | None = None
    """Whether the workers of the engine find a tool by themselves; None where one process has them all."""
    run_id: str = ""
    """The run that keeps the artifacts of results; without one it is that of the call."""
    is_interactive: bool = True
    """Whether there is somebody to ask."""
    limits: Limits = DEFAULT_LIMITS
    stage_timeout: float | None = None
    """Seconds for one step of the host's own code."""
    store_retry: StoreRetry = ONCE
    """Of artifacts and changes of state that are stored after an executor."""
    late_ends: LateEnds = field(default_factory=LateEnds)
    beside: Callable[[], int] = _nothing
    """Returns the bytes of JSON that the engine keeps beside a call that waits: what its run says of it."""

    def __post_init__(self) -> None:
        self.is_measured = self.spans is not None or self.metrics is not None

    def for_direct_call(self, tool: RegisteredTool) -> RuntimeServices:
        """Return the services of a call outside of agents; it cannot wait if only its caller has the tool."""
        if self.is_found_again is None or self.is_found_again(tool):
            return self
        from ..waiting.errors import UnsharedToolError  # only many workers need it

        return replace(self, waits=None, no_wait=UnsharedToolError(tool.spec.id, tool.toolset))

    @property
    def nobody_to_ask(self) -> str:
        """Return why nobody can be asked, where that is so."""
        if self.no_wait is not None:
            return self.no_wait.message
        return "this runtime is not interactive or has no engine"


def event_reporter_for(events: Events | None, limits: Limits, metrics: Metrics | None) -> EventReporter:
    """Return the reporter of calls to a hub; without a hub it emits nothing, and counts for the metrics."""
    if metrics is not None:
        from ..events.hub import Events
        from ..metrics import MeteredReporter

        return MeteredReporter(events or Events(), limits.result_bytes, metrics)
    return SILENT if events is None else EventReporter(events, limits.result_bytes)


class Batch:
    """The calls of one turn's step; a single call is a batch of its own."""

    _secrets: tuple[Secrets, ...] = ()

    def __init__(self, capabilities: Mapping[str, Capability], values: Values | None = None) -> None:
        self._capabilities = capabilities
        self.touched: list[ToolContext] = []
        """Contexts of calls that used a capability, or asked something of their agent."""
        self._values = values

    def add_secrets(self, secrets: Secrets) -> None:
        """Add the sensitive values of a call, which are redacted while the batch is settled."""
        self._secrets = (*self._secrets, secrets)

    @property
    def values(self) -> Values:
        """The values that the calls share."""
        if self._values is None:
            self._values = Values()
        return self._values

    def open(self, name: str, context: ToolContext) -> Any:
        """Return the capability's object for a call.

        Raises:
            AttributeError: the host provides no such capability.
        """
        from ..capabilities import CallScope  # a host without capabilities never needs it

        capability = self._capabilities.get(name)
        if capability is None or context.spec is None:
            known = ", ".join(self._capabilities) or "none"
            raise AttributeError(
                f"ctx has no {name!r}: this runtime provides {known}; give it the capability, and say "
                f"Needs({name!r}) in the design, so that it is missed at registration"
            )
        scope = CallScope(
            meta=context.meta,
            tool=context.tool,
            spec=context.spec,
            report=context.report,
            store_retry=store_retry_of(context),
        )
        return capability.open(scope)

    def in_thread(self, name: str, opened: Any, wait: Wait) -> Any:
        """Return the capability's object for a synchronous executor."""
        from ..capabilities import ThreadCapability

        capability = self._capabilities[name]
        return capability.for_thread(opened, wait) if isinstance(capability, ThreadCapability) else opened

    async def settle(self, results: Sequence[ToolResult], reports: EventReporter) -> tuple[ToolResult, ...]:
        """Commit the capabilities of the batch and return the results with the actions of their tools.

        A failure of a capability is logged, without the sensitive values of any call of the batch, and the
        results are returned as they came.
        """
        if not self.touched:
            return tuple(results)
        with hiding(within(*self._secrets) if self._secrets else None):
            try:
                return await self._settled(results, reports)
            except Exception:
                log.exception("a capability did not commit the changes of %d calls", len(results))
                return tuple(results)

    async def _settled(self, results: Sequence[ToolResult], reports: EventReporter) -> tuple[ToolResult, ...]:
        self.touched.sort(key=lambda context: context.place)
        settled = list(results)
        for context in self.touched:
            if actions := actions_of(context):
                settled[context.place] = replace(settled[context.place], actions=actions)
        for name, capability in self._capabilities.items():
            opened = [
                (opened_by(context)[name], results[context.place].status == "ok")
                for context in self.touched
                if name in opened_by(context)
            ]
            if opened:
                with Contained():
                    conflicts = await capability.close(opened)
                reports.emit_state_conflicts(conflicts, self.touched[0].meta)
        self.touched = []
        return tuple(settled)


class OnceCall(Protocol):
    """What an engine keeps of a call that may not run twice."""

    async def begin(self) -> None:
        """Keep that the executor runs now; awaited immediately before."""

    def give_up(self) -> None:
        """Say that nobody waits for the executor any more."""


class Frame:
    """The state of one call that has begun, with a context of its own."""

    call: ToolCall | None = None
    """For what stands between the arguments and the executor; None before that, and for tools without any."""
    once: OnceCall | None = None
    """Of a call of a run whose tool may not run twice."""
    resumption: Resumption | None = None
    """Of a call that was suspended, and goes on."""
    secrets: Secrets | None = None
    """The sensitive values of the call; None where its design has none."""
    trace_before: str = ""
    """The span of what was executed before the call was suspended, as `FrozenCall.trace`."""

    def __init__(
        self,
        tool: RegisteredTool,
        arguments: Arguments,
        meta: CallMeta,
        batch: Batch,
        services: RuntimeServices,
        trace: Trace | None = None,
    ) -> None:
        spec = tool.spec
        self.spec = spec
        self.tool = tool
        self.arguments = arguments
        """As they came."""
        self.meta = meta
        self.batch = batch
        self.services = services
        self.context = ToolContext(meta, spec.id, spec, batch)
        if services.store_retry is not ONCE:
            set_store_retry(self.context, services.store_retry)
        self.trace = trace
        """Gets the steps of the call, the one that fails excepted."""
        if tool.is_sensitive:
            self.secrets = secrets_of(raw_arguments(arguments), spec.payload)
            batch.add_secrets(self.secrets)

    def resume(self, resumption: Resumption) -> None:
        """Let the call go on, which was suspended, with the answers to it."""
        self.resumption = resumption
        set_resumption(self.context, resumption)
        if self.secrets is not None and self.spec.confirm is not None:
            for answer in resumption.answers:
                note_answer(self.secrets, self.spec.confirm.payload, answer)

    @property
    def limit(self) -> int:
        """The largest size of an outgoing document in bytes."""
        return self.tool.result_bytes

    @property
    def answers(self) -> tuple[Json, ...]:
        """Return the earlier answers to this call."""
        return () if self.resumption is None else self.resumption.answers

    def error_result(self, error: ToolError) -> ToolResult:
        """Return the error result of a failure whose text is for the model."""
        with hiding(self.secrets):
            known = declared(self.spec, readable(self.spec, error))
            if self.secrets is not None and isinstance(known, DeclaredError):
                codec = self.spec.errors[known.code].codec
                note_document(self.secrets, codec, known.details_json)
            return error_result(self.spec.id, known, self.meta, self.limit)

    def denied_result(self, message: str, *, code: str = "denied") -> ToolResult:
        """Return the result of a call that a person or a policy did not allow."""
        with hiding(self.secrets):
            return denied_result(self.spec, message, self.meta, self.limit, code=code)

    def invalid_arguments_result(self, error: ToolValidationError, message: str = "") -> ToolResult:
        """Return the result of arguments that do not fit; with a message in the place of its own."""
        with hiding(self.secrets):
            return invalid_arguments_result(
                self.spec, error, self.arguments, self.meta, self.limit, message=message
            )
