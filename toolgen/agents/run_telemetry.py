"""OpenTelemetry spans and metrics of runs and their plannings; spans of tool calls are nested in them.

Names and attributes follow OpenTelemetry's semantic conventions for generative AI ("Invoke agent span");
attributes without a name there are prefixed with `toolgen.`. If a span fails, the failure is logged and the
run continues. Metrics come from logged events, each of which is processed once. Their state is lost with the
process, so durations cover only what both started and ended in it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from toolgen.calls.results import OpenSpan
from toolgen.calls.steps.failures import log
from toolgen.contract.json_value import Json
from toolgen.engines import ActivityInfo
from toolgen.events.telemetry.metrics import Metrics
from toolgen.events.telemetry.spans import (
    OTHER,
    ToolSpans,
    end_span,
    ending,
    ending_on_error,
    span_of,
    trace_of,
    within,
)

from .loop.documents import PlanArgument, RunFacts

_MOST_RUNS: Final = 10_000
"""Maximum number of runs with metrics state; beyond it, the runs longest without events count as over."""


if TYPE_CHECKING:
    from opentelemetry.trace import Span

Work = Callable[[ActivityInfo, Any], Awaitable[Any]]


class RunSpans:
    """Creates one span per run, until its last event, and one span per planning.

    The facts of a run name the parent of all these spans, in every process (`RunFacts.trace`). The span of a
    run ends only in the process that started it. So if many workers execute a run, the run and the call that
    it answers have no other span than the span of their request: no span has a parent that no backend
    receives.
    """

    def __init__(self, spans: ToolSpans, *, is_shared: bool) -> None:
        """Construct without spans; `is_shared` tells whether many workers execute the runs."""
        self._spans = spans
        self._is_shared = is_shared
        self._running: dict[str, Span] = {}

    # Parent spans of runs.

    @contextmanager
    def start(self, run_id: str, facts: RunFacts, is_here: bool) -> Iterator[None]:
        """Create the span of a run without a calling run while it is started, and record it in the facts.

        If this process executes the run, the span is the span of the run and stays open. Otherwise, it is the
        span of a request, and the run gets its own span below it, in the process that plans first.
        """
        span = self._start(run_id, facts, is_client=not is_here)
        if trace := trace_of(span):
            facts["trace"] = trace
        if span is None:
            yield
            return
        if is_here:  # register the span before the engine executes anything of the run
            self._running[run_id] = span
        try:
            with ending_on_error(span):
                yield
        except BaseException:
            self._running.pop(run_id, None)
            raise
        if not is_here:
            end_span(span)

    def call(self, run_id: str, facts: RunFacts, call: OpenSpan) -> None:
        """Record in the facts of a run that its parent span is the call that it answers."""
        if not (trace := call.trace):
            return
        facts["trace"] = trace
        if self._is_shared:
            self._request(run_id, facts)
            call.conclude(None)
        else:
            self._spans.leave_open(run_id, call)

    def hand_over(self, run_id: str, facts: RunFacts, taken: RunFacts) -> None:
        """Record in the facts of a run that its parent span is the run whose conversation it takes over."""
        if trace := trace_of(self._span(run_id, facts)):
            taken["trace"] = trace
            if self._is_shared:
                self._request("", taken)

    def _request(self, run_id: str, facts: RunFacts) -> None:
        """Create the request span of a run that another run starts; `run_id` is "" if it is unknown."""
        if (span := self._start(run_id, facts, is_client=True)) is not None:
            facts["trace"] = trace_of(span)
            end_span(span)

    # Executed activities and events.

    def on_event(self, run_id: str, event: Mapping[str, Json]) -> None:
        """End the span of a run based on its events; never raises."""
        try:
            match event.get("type"):
                case "run_completed":
                    self._note(run_id, event)
                case "run_stream_end":
                    if (span := self._running.pop(run_id, None)) is not None:
                        end_span(span)
                case _:
                    pass
        except Exception:  # noqa: BLE001 - the host's tracer; a span never fails a run
            log.exception("the span of run %s was not written", run_id)

    def wrap_activity(self, name: str, work: Work) -> Work:
        """Wrap an activity so that it runs within the span of its run."""

        async def watched(info: ActivityInfo, argument: Any) -> Any:
            facts = _facts_of(argument)
            if name == "plan" and argument["step"] == 0:
                self._begin_here(info.run_id, argument["facts"])
            with within(self._span(info.run_id, facts)):
                if name != "plan":
                    return await work(info, argument)
                with self._plan(info, argument) as span:
                    result = await work(info, argument)
                    if result["kind"] == "retry":
                        _mark_failed(span)
                    return result

        return watched

    def _begin_here(self, run_id: str, facts: RunFacts) -> None:
        """Start the span of a run with its first planning, unless this process already started it."""
        if self._is_shared or run_id in self._running:
            return
        if (span := self._start(run_id, facts)) is not None:
            self._running[run_id] = span

    def _start(self, run_id: str, facts: RunFacts, *, is_client: bool = False) -> Span | None:
        agent, parent = facts["agent"], facts["parent"]
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": agent,
            "gen_ai.agent.name": agent.rpartition(".")[2],
            "gen_ai.conversation.id": facts["session_id"],
            "toolgen.run_id": run_id,
            "toolgen.turn_id": facts["turn_id"],
            "toolgen.parent_run_id": parent["run_id"] if parent else "",
        }
        name = f"invoke_agent {attributes['gen_ai.agent.name']}"
        return self._spans.started(name, attributes, under=facts.get("trace", ""), is_client=is_client)

    def _span(self, run_id: str, facts: RunFacts | None) -> Span | None:
        """Return the span of a run, or its parent span if another process started it."""
        running = self._running.get(run_id)
        return running if running is not None or facts is None else span_of(facts.get("trace", ""))

    def _note(self, run_id: str, event: Mapping[str, Json]) -> None:
        if event.get("status") == "canceled":  # the parent run is canceled too and never concludes the call
            self._spans.conclude(run_id)
        span = self._running.get(run_id)
        if span is None:
            return
        span.set_attribute("toolgen.status", str(event.get("status")))
        if event.get("status") == "failed":
            _mark_failed(span)

    @contextmanager
    def _plan(self, info: ActivityInfo, argument: PlanArgument) -> Iterator[Span | None]:
        agent = argument["facts"]["agent"]
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": "plan",
            "gen_ai.agent.id": agent,
            "gen_ai.agent.name": agent.rpartition(".")[2],
            "gen_ai.conversation.id": argument["facts"]["session_id"],
            "toolgen.run_id": info.run_id,
            "toolgen.step": argument["step"],
            "toolgen.attempt": argument.get("attempt", 1),
        }
        span = self._spans.started(f"plan {attributes['gen_ai.agent.name']}", attributes)
        with ending(span):
            yield span


def _facts_of(argument: object) -> RunFacts | None:
    """Return the facts of a run from the argument of an activity; None if it has none."""
    return argument.get("facts") if isinstance(argument, dict) else None


def _mark_failed(span: Span | None) -> None:
    from opentelemetry.trace import StatusCode

    if span is not None:
        span.set_attribute("error.type", OTHER)
        span.set_status(StatusCode.ERROR)


@dataclass(slots=True)
class _SeenRun:
    agent: str
    began: float | None = None
    """Seconds since 1970; None if another process started it."""
    questions: dict[str, float] = field(default_factory=dict)
    """Times at which a planner's questions were asked, by question ID."""


class RunMetrics:
    """Counts the runs of one host, and their calls, retries and waits."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._runs: OrderedDict[str, _SeenRun] = OrderedDict()

    def on_event(self, run_id: str, event: Mapping[str, Json], agent: str, is_known_tool: bool) -> None:
        """Count an event of a run; `agent` is "" if it is unknown. Never raises."""
        try:
            self._count(run_id, event, agent, is_known_tool)
        except Exception:  # noqa: BLE001 - the host's meter; a counter never fails a run
            log.exception("an event of run %s was not counted", run_id)

    def _count(self, run_id: str, event: Mapping[str, Json], agent: str, is_known_tool: bool) -> None:
        metrics = self._metrics
        if event.get("type") == "run_stream_end":
            if (over := self._runs.pop(run_id, None)) is not None:
                metrics.see_run(over.agent, -1)
            return
        run, at = self._seen(run_id, str(event.get("agent", "")) or agent or OTHER), _time_of(event)
        match event:
            case {"type": "run_started"}:
                run.began = at
                metrics.start_run(run.agent)
            case {"type": "run_completed", "status": str(status)}:
                took = None if run.began is None or at is None else at - run.began
                metrics.end_run(run.agent, status, took)
            case {"type": "tool_end", "tool": str(tool)}:
                metrics.end_logged_call(event, tool if is_known_tool else OTHER)
            case {"type": "plan_retry"}:
                metrics.retry("planning", run.agent)
            case {"type": "question_asked", "kind": str(kind), "suspension_id": str(id_)}:
                metrics.open_wait(kind)
                if at is not None:
                    run.questions[id_] = at
            case {"type": "answer_accepted", "tool": "", "kind": str(kind), "suspension_id": str(id_)}:
                asked_at = run.questions.pop(id_, None)
                metrics.end_wait(kind, "answered", None if asked_at is None or at is None else at - asked_at)
            case _:
                pass

    def _seen(self, run_id: str, agent: str) -> _SeenRun:
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = _SeenRun(agent)
            self._metrics.see_run(agent, 1)
            if len(self._runs) > _MOST_RUNS:
                _, silent = self._runs.popitem(last=False)
                self._metrics.see_run(silent.agent, -1)
        self._runs.move_to_end(run_id)
        return run


def _time_of(event: Mapping[str, Json]) -> float | None:
    at = event.get("time")
    return float(at) if isinstance(at, int | float) else None
