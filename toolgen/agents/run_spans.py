"""OpenTelemetry spans of runs and of their plannings; the spans of tool calls stand inside them.

Names and attributes are those of OpenTelemetry's semantic conventions for generative AI ("Invoke agent
span"); what they have no name for stands under `toolgen.`. A span that fails is logged, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolgen.calls.results import OpenSpan
from toolgen.calls.steps.failures import log
from toolgen.contract.json_value import Json
from toolgen.observability.spans import (
    OTHER,
    ToolSpans,
    end_span,
    ending,
    ending_on_error,
    span_of,
    trace_of,
    within,
)
from toolgen.runs import ActivityInfo

from .loop.documents import PlanArgument, RunFacts

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Work = Callable[[ActivityInfo, Any], Awaitable[Any]]


class RunSpans:
    """Makes one span a run, until its last event, and one a planning.

    The facts of a run name the span that all of this stands under, in whatever process (`RunFacts.trace`).
    The span of a run ends only in the process that has begun it. So where many workers execute a run, it has
    no other span than that of the request for it, and so has the call that it answers: nothing stands under a
    span that no backend gets.
    """

    def __init__(self, spans: ToolSpans, *, is_shared: bool) -> None:
        """Construct without spans; `is_shared` says that many workers execute the runs."""
        self._spans = spans
        self._is_shared = is_shared
        self._running: dict[str, Span] = {}

    # What runs stand under.

    @contextmanager
    def start(self, run_id: str, facts: RunFacts, is_here: bool) -> Iterator[None]:
        """Make the span of a run that nobody called while it is started, and note it in the facts.

        Where this process executes the run it is the span of the run, and goes on. Else it is that of a
        request, and the run has one of its own beneath, in the process that plans first.
        """
        span = self._start(run_id, facts, is_client=not is_here)
        if trace := trace_of(span):
            facts["trace"] = trace
        if span is None:
            yield
            return
        if is_here:  # before the engine may execute anything of it
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
        """Note in the facts of a run that it stands under the call which it answers."""
        if not (trace := call.trace):
            return
        facts["trace"] = trace
        if self._is_shared:
            self._request(run_id, facts)
            call.conclude(None)
        else:
            self._spans.leave_open(run_id, call)

    def hand_over(self, run_id: str, facts: RunFacts, taken: RunFacts) -> None:
        """Note in the facts of a run that it stands under the one whose conversation it takes."""
        if trace := trace_of(self._span(run_id, facts)):
            taken["trace"] = trace
            if self._is_shared:
                self._request("", taken)

    def _request(self, run_id: str, facts: RunFacts) -> None:
        """Make the span of the request for a run that another one leads to; "" where its id is not known."""
        if (span := self._start(run_id, facts, is_client=True)) is not None:
            facts["trace"] = trace_of(span)
            end_span(span)

    # What is executed.

    def on_event(self, run_id: str, event: Mapping[str, Json]) -> None:
        """End the span of a run by its events; never raises."""
        try:
            match event.get("type"):
                case "run_completed":
                    self._note(run_id, event)
                case "run_stream_end":
                    if (span := self._running.pop(run_id, None)) is not None:
                        end_span(span)
                case _:
                    pass
        except Exception:
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
        """Begin the span of a run with its first planning, unless this process has begun it before."""
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
        """Return the span of a run; that which it stands under where another process has begun it."""
        running = self._running.get(run_id)
        return running if running is not None or facts is None else span_of(facts.get("trace", ""))

    def _note(self, run_id: str, event: Mapping[str, Json]) -> None:
        if event.get("status") == "canceled":  # with the run that waits for it, which makes no result
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


def _facts_of(argument: Any) -> RunFacts | None:
    """Return the facts of a run in the argument of an activity of it; None where it has none."""
    return argument.get("facts") if isinstance(argument, dict) else None


def _mark_failed(span: Span | None) -> None:
    from opentelemetry.trace import StatusCode

    if span is not None:
        span.set_attribute("error.type", OTHER)
        span.set_status(StatusCode.ERROR)
