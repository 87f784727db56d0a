"""OpenTelemetry metrics of runs: from the events of their logs, each of which is seen once.

What it remembers of a run is lost with the process: durations are those of what began and ended in it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from toolgen.calls.steps.failures import log
from toolgen.contract.json_value import Json
from toolgen.observability.metrics import Metrics
from toolgen.observability.spans import OTHER

_MOST_RUNS: Final = 10_000
"""Which are remembered; beyond it those that were silent for longest count as over."""


@dataclass(slots=True)
class _SeenRun:
    agent: str
    began: float | None = None
    """Seconds since 1970; None where another process began it."""
    questions: dict[str, float] = field(default_factory=dict)
    """Times at which a planner's questions were asked, by id of the question."""


class RunMetrics:
    """Counts the runs of one host, and what they do."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._runs: OrderedDict[str, _SeenRun] = OrderedDict()

    def on_event(self, run_id: str, event: Mapping[str, Json], agent: str, is_known_tool: bool) -> None:
        """Count an event of a run, of an agent that may not be known; never raises."""
        try:
            self._count(run_id, event, agent, is_known_tool)
        except Exception:
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
            case {"type": "await_clarification", "kind": str(kind), "suspension_id": str(id_)}:
                metrics.open_wait(kind)
                if at is not None:
                    run.questions[id_] = at
            case {"type": "answer_accepted", "tool": "", "kind": str(kind), "suspension_id": str(id_)}:
                asked = run.questions.pop(id_, None)
                metrics.end_wait(kind, "answered", None if asked is None or at is None else at - asked)
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
