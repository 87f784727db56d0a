"""The spans and metrics of calls, as the steps of a call use them; `observability` makes OpenTelemetry's."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .results import OpenSpan, ToolResult

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .call import CallMeta
    from .codec import Arguments
    from .specs import ToolSpec


class CallSpan(OpenSpan, Protocol):
    """The span of one call that runs."""

    def end(self, result: ToolResult) -> ToolResult:
        """Record how the call ended, and return its result; never raises."""
        ...


class CallSpans(Protocol):
    """Makes one span for each call; a tracer that fails makes none."""

    def of(
        self, spec: ToolSpec[Any, Any], meta: CallMeta, arguments: Arguments = b"", before: str = ""
    ) -> AbstractContextManager[CallSpan]:
        """Return the span of a call, under the one of what was executed before it was suspended."""
        ...

    def here(self) -> str:
        """Return the current span as W3C Trace Context has it (`traceparent`); "" outside of any."""
        ...

    def under(self, trace: str) -> AbstractContextManager[None]:
        """Make the span current that a `traceparent` names, if it names one."""
        ...

    def conclude(self, run_id: str, result: ToolResult | None = None) -> None:
        """End the span of the call that a run has answered, if it was made here."""
        ...


class CallMetrics(Protocol):
    """Counts calls and waits; a measurement that fails is logged."""

    def retry(self, kind: Literal["call", "planning"], id_: str) -> None:
        """Count a further attempt at a call, by the id of its tool, or at a planning, by its agent."""
        ...

    def open_wait(self, kind: str) -> None:
        """Count that a call or a planner waits."""
        ...

    def end_wait(self, kind: str, outcome: Literal["answered", "canceled"], duration_s: float | None) -> None:
        """Count that a wait has ended, after so many seconds where that is known."""
        ...

    def end_logged_call(self, event: Mapping[str, Json], tool: str) -> None:
        """Count the end of a call, and of a wait that nobody has answered, by an event of a run's log."""
        ...
