"""The services that one runtime has for all its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolgen.contract.limits import DEFAULT_LIMITS, LONGEST_CHARACTER, Limits

from ..events.call_reporter import CallReporter
from ..results import ToolResult
from ..specs import ToolSpec
from .execution import Execution
from .policy import Policy

if TYPE_CHECKING:
    from ..capabilities import Capability
    from ..disabling import DisabledTools
    from ..events.hub import Events
    from ..metrics import Metrics
    from ..telemetry import ToolSpans
    from ..waiting.wait_registry import WaitRegistry


def _nothing() -> int:
    return 0


@dataclass(slots=True, kw_only=True)
class RuntimeServices:
    """The services that all calls of one runtime share. Constructed by `Runtime` from its arguments."""

    execution: Execution
    reports: CallReporter
    capabilities: Mapping[str, Capability]
    policy: Policy | None = None
    spans: ToolSpans | None = None
    metrics: Metrics | None = None
    disabled: DisabledTools | None = None
    waits: WaitRegistry | None = None
    """None where no call can wait."""
    run_id: str = ""
    """The run that keeps the artifacts of results; without one it is that of the call."""
    is_interactive: bool = True
    """Whether there is somebody to ask."""
    limits: Limits = DEFAULT_LIMITS
    stage_timeout: float | None = None
    """Seconds for one step of the host's own code."""
    beside: Callable[[], int] = _nothing
    """Returns the bytes of JSON that the engine keeps beside a call that waits: what its run says of it."""

    def limit_of(self, spec: ToolSpec[Any, Any]) -> int:
        """Return the largest size of an outgoing document of a tool, in bytes."""
        limit = spec.max_result_bytes
        return self.limits.result_bytes if limit is None else limit

    def exceeds(self, spec: ToolSpec[Any, Any], result: ToolResult) -> bool:
        """Return whether a document exceeds the limit of its tool, or a text for people may do so."""
        limit = self.limit_of(spec)
        return len(result.json) > limit or len(result.display) > limit // LONGEST_CHARACTER


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
