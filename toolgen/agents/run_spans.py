"""OpenTelemetry spans of runs and of their plannings; the spans of tool calls stand inside them.

Names and attributes are those of OpenTelemetry's semantic conventions for generative AI ("Invoke agent
span"); what they have no name for stands under `toolgen.`. A span that fails is logged, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolgen.contract.json_value import Json
from toolgen.runtime.call.failures import log
from toolgen.runtime.engine import ActivityInfo
from toolgen.runtime.telemetry import OTHER, ToolSpans, ending

from .loop.documents import PlanArgument
from .recent_runs import RecentRuns

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Work = Callable[[ActivityInfo, Any], Awaitable[Any]]


class RunSpans:
    """Makes one span a run, from its first event to its last, and one a planning."""

    def __init__(self, spans: ToolSpans, most: int | None) -> None:
        """Construct without spans; of more than `most` runs at once, the one that was used first is ended."""
        self._spans = spans
        self._running: RecentRuns[Span] = RecentRuns(most)

    def on_event(self, run_id: str, event: Mapping[str, Json]) -> None:
        """Start or end the span of a run by its events; never raises."""
        try:
            match event.get("type"):
                case "run_started":
                    self._begin(run_id, event)
                case "run_completed":
                    self._note(run_id, event)
                case "run_stream_end":
                    if (span := self._running.pop(run_id)) is not None:
                        span.end()
                case _:
                    pass
        except Exception:
            log.exception("the span of run %s was not written", run_id)

    def wrap_activity(self, name: str, work: Work) -> Work:
        """Wrap an activity so that it runs within the span of its run."""

        async def watched(info: ActivityInfo, argument: Any) -> Any:
            with self._within(info.run_id):
                if name != "plan":
                    return await work(info, argument)
                with self._plan(info, argument) as span:
                    result = await work(info, argument)
                    if result["kind"] == "retry":
                        _mark_failed(span)
                    return result

        return watched

    def _begin(self, run_id: str, event: Mapping[str, Json]) -> None:
        from opentelemetry.trace import set_span_in_context

        parent = self._running.get(str(event.get("parent_run_id", "")))
        agent = str(event.get("agent", ""))
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": agent,
            "gen_ai.agent.name": agent.rpartition(".")[2],
            "gen_ai.conversation.id": str(event.get("session_id", "")),
            "toolgen.run_id": run_id,
            "toolgen.turn_id": str(event.get("turn_id", "")),
            "toolgen.parent_run_id": str(event.get("parent_run_id", "")),
        }
        context = None if parent is None else set_span_in_context(parent)
        span = self._spans.started(
            f"invoke_agent {attributes['gen_ai.agent.name']}", attributes, context=context
        )
        if span is not None and (dropped := self._running.put(run_id, span)) is not None:
            dropped.end()

    def _note(self, run_id: str, event: Mapping[str, Json]) -> None:
        span = self._running.get(run_id)
        if span is None:
            return
        span.set_attribute("toolgen.status", str(event.get("status")))
        if event.get("status") == "failed":
            _mark_failed(span)

    @contextmanager
    def _within(self, run_id: str) -> Iterator[None]:
        from opentelemetry.trace import use_span

        span = self._running.get(run_id)
        if span is None:
            yield
            return
        with use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
            yield

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


def _mark_failed(span: Span | None) -> None:
    from opentelemetry.trace import StatusCode

    if span is not None:
        span.set_attribute("error.type", OTHER)
        span.set_status(StatusCode.ERROR)
