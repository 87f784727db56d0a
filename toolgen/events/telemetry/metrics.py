"""OpenTelemetry metrics of calls, waits and runs, for hosts with `opentelemetry-api`: `toolgen[otel]`.

The two durations have the names and the buckets of OpenTelemetry's semantic conventions for generative AI
(`gen_ai.…`; open-telemetry/semantic-conventions-genai, in development); names outside of the conventions
begin with `toolgen.`. Attributes are ids of tools and agents, statuses and kinds, but never a value or the id
of a run, a session or a call. Nothing here is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal, ParamSpec

from toolgen.calls.call import CallMeta
from toolgen.calls.documents.results import result_of
from toolgen.calls.errors import DeclaredError
from toolgen.calls.results import ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..event_reporter import EventReceiver, EventReporter
from ..records import EXPIRED
from .spans import OTHER, SCOPE, scope_version

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

P = ParamSpec("P")

_CALLS_S: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Buckets of calls, as for `gen_ai.execute_tool.duration` in the conventions."""
_RUNS_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)
"""Buckets of runs, as for `gen_ai.invoke_agent.duration` in the conventions."""
_WAITS_S: Final = (1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800)
"""Buckets of waits for people: from a second to a week."""

log = logger("toolgen.runtime")


class Metrics:
    """Counts and measures the work of the runtimes that use it; its methods never raise."""

    def __init__(self, provider: MeterProvider | None = None) -> None:
        """Get a meter of the provider, by default of the process's provider.

        Raises:
            ToolgenError: `opentelemetry-api` is not installed.
        """
        with extra("otel"):
            from opentelemetry import metrics

        meter = metrics.get_meter(SCOPE, scope_version(), meter_provider=provider)
        self._calls = meter.create_counter("toolgen.calls.ended", "{call}", "Calls that have ended.")
        self._call_s = meter.create_histogram(
            "gen_ai.execute_tool.duration",
            "s",
            "Duration of calls.",
            explicit_bucket_boundaries_advisory=_CALLS_S,
        )
        self._unfit = meter.create_counter(
            "toolgen.results.unfit", "{result}", "Results of lenient services that do not fit their type."
        )
        self._retries = meter.create_counter(
            "toolgen.retries", "{attempt}", "Retries of calls and plannings."
        )
        self._opened = meter.create_counter(
            "toolgen.suspensions.opened", "{suspension}", "Suspended calls and questions of planners."
        )
        self._ended = meter.create_counter(
            "toolgen.suspensions.ended", "{suspension}", "Suspensions that have ended."
        )
        self._wait_s = meter.create_histogram(
            "toolgen.suspensions.duration",
            "s",
            "Time until a suspension is answered.",
            explicit_bucket_boundaries_advisory=_WAITS_S,
        )
        self._started = meter.create_counter("toolgen.runs.started", "{run}", "Runs that have started.")
        self._run_ends = meter.create_counter("toolgen.runs.ended", "{run}", "Runs that have ended.")
        self._open = meter.create_up_down_counter(
            "toolgen.runs.open", "{run}", "Unfinished runs that this process has seen."
        )
        self._run_s = meter.create_histogram(
            "gen_ai.invoke_agent.duration",
            "s",
            "Duration of runs, including the time they wait.",
            explicit_bucket_boundaries_advisory=_RUNS_S,
        )

    def end_call(self, tool: str, status: str, duration_s: float, error: str = "") -> None:
        """Count the end of a call, unless it is suspended; `error` is the name of a declared error."""
        if status == "suspended":
            return
        attributes = {"gen_ai.tool.name": tool.rpartition(".")[2], "toolgen.tool": tool}
        attributes["toolgen.status"] = status
        if status == "error":
            attributes["error.type"] = error or "tool_error"
        _contain(self._calls.add, 1, attributes)
        if duration_s > 0:  # otherwise, nothing was executed
            operation = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
            _contain(self._call_s.record, duration_s, {**operation, **attributes})

    def see_warnings(self, tool: str) -> None:
        """Count a result with warnings."""
        _contain(self._unfit.add, 1, {"gen_ai.tool.name": tool.rpartition(".")[2], "toolgen.tool": tool})

    def end_logged_call(self, event: Mapping[str, Json], tool: str) -> None:
        """Count the end of a call, or of an unanswered suspension, from an event of a run's log."""

        def text(name: str) -> str:
            return str(event.get(name, ""))

        if text("resolved_by"):
            return  # the call was counted at its first end
        end = result_of({"tool_call_id": "", **event})
        error = end.error
        if end.status == "denied" and not text("answered_id") and str(error).endswith(EXPIRED):
            _contain(self._ended.add, 1, {"toolgen.outcome": "expired"})
        took = end.telemetry.duration_s if end.telemetry else 0.0
        self.end_call(tool, end.status, took, error.code if isinstance(error, DeclaredError) else "")
        if event.get("warnings"):
            self.see_warnings(tool)

    def retry(self, kind: Literal["call", "planning"], id_: str) -> None:
        """Count another attempt at a call, by the id of its tool, or at a planning, by its agent."""
        name = "toolgen.tool" if kind == "call" else "gen_ai.agent.id"
        _contain(self._retries.add, 1, {"toolgen.kind": kind, name: id_})

    def open_wait(self, kind: str) -> None:
        """Count a suspended call or a planner's question."""
        _contain(self._opened.add, 1, {"toolgen.kind": kind})

    def end_wait(self, kind: str, outcome: Literal["answered", "canceled"], duration_s: float | None) -> None:
        """Count the end of a suspension, with its duration if known."""
        attributes = {"toolgen.kind": kind, "toolgen.outcome": outcome}
        _contain(self._ended.add, 1, attributes)
        if duration_s is not None:
            _contain(self._wait_s.record, max(0.0, duration_s), attributes)

    def start_run(self, agent: str) -> None:
        """Count the start of a run."""
        _contain(self._started.add, 1, _of_agent(agent))

    def end_run(self, agent: str, status: str, duration_s: float | None) -> None:
        """Count the end of a run, with its duration if known."""
        attributes = {**_of_agent(agent), "toolgen.status": status}
        _contain(self._run_ends.add, 1, attributes)
        if duration_s is None:
            return
        if status == "failed":
            attributes["error.type"] = OTHER
        operation = {"gen_ai.operation.name": "invoke_agent"}
        _contain(self._run_s.record, max(0.0, duration_s), {**operation, **attributes})

    def see_run(self, agent: str, change: Literal[1, -1]) -> None:
        """Count that a run is open in this process (1), or over (-1)."""
        _contain(self._open.add, change, _of_agent(agent))


class MeteredReporter(EventReporter):
    """Emits the steps of calls outside of runs, and counts their ends; other ends are counted from logs."""

    def __init__(self, events: EventReceiver, limit: int, metrics: Metrics) -> None:
        super().__init__(events, limit)
        self._metrics = metrics

    def emit_tool_end(self, result: ToolResult, meta: CallMeta, spec: ToolSpec | None = None) -> None:
        error, telemetry = result.error, result.telemetry
        self._metrics.end_call(
            OTHER if spec is None else spec.id,
            result.status,
            telemetry.duration_s if telemetry else 0.0,
            error.code if isinstance(error, DeclaredError) else "",
        )
        if result.warnings:
            self._metrics.see_warnings(result.tool)
        super().emit_tool_end(result, meta, spec)


def _of_agent(agent: str) -> dict[str, str]:
    return {"gen_ai.agent.id": agent, "gen_ai.agent.name": agent.rpartition(".")[2]}


def _contain(record: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> None:
    """Record a measurement; a failure is only logged."""
    try:
        record(*arguments, **named)
    except Exception:
        log.exception("a metric was not recorded")
