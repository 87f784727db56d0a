"""The services that one runtime has for all its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from toolgen.contract.limits import DEFAULT_LIMITS, Limits

from ..events.call_reporter import CallReporter
from ..specs import ToolSpec
from ..stores.outages import ONCE, StoreRetry
from .execution import Execution
from .late_ends import LateEnds
from .policy import Policy
from .scheduler import Scheduler

if TYPE_CHECKING:
    from ..capabilities import Capability
    from ..disabling import DisabledTools
    from ..events.hub import Events
    from ..metrics import Metrics
    from ..telemetry import ToolSpans
    from ..waiting.errors import SuspensionError
    from ..waiting.wait_registry import WaitRegistry
    from .registered_tool import RegisteredTool


def _nothing() -> int:
    return 0


@dataclass(slots=True, kw_only=True)
class RuntimeServices:
    """The services that all calls of one runtime share. Constructed by `Runtime` from its arguments."""

    execution: Execution
    scheduler: Scheduler
    reports: CallReporter
    capabilities: Mapping[str, Capability]
    policy: Policy | None = None
    spans: ToolSpans | None = None
    metrics: Metrics | None = None
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

    def limit_of(self, spec: ToolSpec[Any, Any]) -> int:
        """Return the largest size of an outgoing document of a tool, in bytes."""
        limit = spec.max_result_bytes
        return self.limits.result_bytes if limit is None else limit


def call_reporter_for(events: Events | None, limits: Limits, metrics: Metrics | None) -> CallReporter:
    """Return the reporter of calls to a hub; without a hub it emits nothing, and counts for the metrics."""
    if metrics is not None:
        from ..events.hub import Events
        from ..metrics import MeteredReporter

        return MeteredReporter(events or Events(), limits.result_bytes, metrics)
    if events is None:
        return CallReporter()
    from ..events.event_reporter import EventReporter  # only a runtime that is watched needs the events

    return EventReporter(events, limits.result_bytes)
