"""Reports about calls: to subscribers and logs, as spans and metrics, and in a `Trace` of steps.

The steps of a call use these classes; `events` turns the reports into events and telemetry. A caller passes a
`Trace` to `Runtime.call`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, get_args

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import Arguments, CallMeta, FrozenCall
    from .errors import ToolError
    from .results import ToolResult
    from .specs import ToolSpec

ProgressCallback: TypeAlias = Callable[..., None]
"""Receives a piece of text, progress, or an event of a capability."""
Step = Literal["lookup", "decode", "inject", "execute", "encode", "check", "after"]

_STEPS: Final[tuple[Step, ...]] = get_args(Step)


class CallReports:
    """Reporter that drops the steps of calls, because there is no subscriber. `EventReporter` emits them."""

    __slots__ = ()

    @property
    def is_idle(self) -> bool:
        """Whether there is no subscriber."""
        return True

    def progress_callback(self, spec: ToolSpec, meta: CallMeta) -> ProgressCallback | None:
        """Return the progress callback of one call; None without subscribers."""
        return None

    def emit_tool_start(self, spec: ToolSpec, payload: object, meta: CallMeta, *, runs_once: bool) -> None:
        """Emit that a call has decoded arguments; the payload has no injected values yet."""

    def emit_tool_end(self, result: ToolResult, meta: CallMeta, spec: ToolSpec | None = None) -> None:
        """Emit the result of a call; `spec` is None if its tool is not registered."""

    def emit_answer_requested(self, call: FrozenCall) -> None:
        """Emit that a call was suspended for the answer of a person."""

    def answered(self, call: FrozenCall, person: str) -> None:
        """Emit that a suspended call was answered, other than by an approval."""

    def emit_authorization(
        self,
        tool: str,
        meta: CallMeta,
        decision: Literal["approved", "denied"],
        by: Literal["policy", "person", "runtime"],
        reason: str = "",
        suspension_id: str = "",
        person: str = "",
    ) -> None:
        """Emit that a call was approved or denied, with the source of the decision."""

    def emit_granted(self, tool: str, meta: CallMeta, grant_id: str, person: str, reason: str) -> None:
        """Emit that a call was approved by a person's grant."""

    def emit_toolset_dropped(self, toolset: str, reason: str, meta: CallMeta) -> None:
        """Emit that a toolset is left out of a request."""


SILENT: Final = CallReports()
"""Reporter without subscribers."""


class CallSpans(Protocol):
    """Creates one span for each call; no span if the tracer fails."""

    def of(
        self, spec: ToolSpec, meta: CallMeta, arguments: Arguments = b"", before: str = ""
    ) -> AbstractContextManager[Callable[[ToolResult], ToolResult]]:
        """Return the span of a call, below the span of its execution before it was suspended.

        The span's value records the end of the call, and returns the result, with the span if it stays open.
        """
        ...

    def here(self) -> str:
        """Return the current span as W3C Trace Context `traceparent`; "" outside any span."""
        ...

    def under(self, trace: str) -> AbstractContextManager[None]:
        """Make the span that a `traceparent` names the current span, if it names one."""
        ...

    def conclude(self, run_id: str, result: ToolResult | None = None) -> None:
        """End the span of the call that a run answered, if the call was made in this process."""
        ...


class CallMetrics(Protocol):
    """Counts calls and waits; a failed measurement is logged."""

    def retry(self, kind: Literal["call", "planning"], id_: str) -> None:
        """Count a further attempt at a call, by the tool's ID, or at a planning, by its agent."""
        ...

    def open_wait(self, kind: str) -> None:
        """Count a suspended call or a planner's question."""
        ...

    def end_wait(self, kind: str, outcome: Literal["answered", "canceled"], duration_s: float | None) -> None:
        """Count the end of a suspension, with its duration if known."""
        ...

    def end_logged_call(self, event: Mapping[str, Json], tool: str) -> None:
        """Count the end of a call, or of an unanswered suspension, from an event of a run's log."""
        ...


@frozen_record
class TraceStep:
    """One step of a call."""

    name: Step
    duration_s: float
    value: Any
    """Value that the step produced.

    It is the tool's ID, the payload, the names of the injected fields, the returned value, the JSON or the
    bounds; or the `ToolError` that ended the call. The step `after` only has an error: of an after-hook, of
    the size of the result, or of its artifacts.
    """


class Trace:
    """The steps of one call, in order. Its clock starts when it is created."""

    __slots__ = ("_since", "steps")

    def __init__(self) -> None:
        self.steps: list[TraceStep] = []
        self._since = time.perf_counter()

    def require_unused(self) -> None:
        """Check, before anything runs, that the trace is new.

        Raises:
            ValueError: the trace holds the steps of another call.
        """
        if self.steps:
            raise ValueError(
                "this Trace already holds the steps of another call; create a new Trace() for each call"
            )

    def mark(self, name: Step, value: object) -> None:
        """Add a step that ends now."""
        now = time.perf_counter()
        self.steps.append(TraceStep(name=name, duration_s=now - self._since, value=value))
        self._since = time.perf_counter()

    def fail(self, error: ToolError) -> None:
        """Add the step in which the call failed: the first step that is missing."""
        self.mark(_STEPS[len(self.steps)], error)
