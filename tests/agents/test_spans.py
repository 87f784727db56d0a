"""Spans of runs, plannings and calls, with OpenTelemetry's own SDK."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    PlanInput,
    PlannedCall,
    PlannerRetry,
    PlannerUnavailableError,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.toolsets.functions import function_toolset
from toolgen.observability.spans import ToolSpans
from toolgen.runtime import Runtime


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


async def test_calls_stand_in_plannings_and_plannings_in_runs() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    toolset = function_toolset("maths.doubling", [double])
    tool = AgentTool(id="maths.doubling.double", name="double")
    spec = AgentSpec(id="maths.doubler", description="Doubles.", tools=(tool,))
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("double", {"number": 2}),)), "4"], [])
    async with Runtime(spans=ToolSpans(provider)) as runtime:
        agents_of(runtime).register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))
        client = agents_of(runtime).client(spec.id)
        good = await client.run("Double 2.", session_id="s")
        bad = await client.run("Double 3.", session_id="s")
    assert (good.status, bad.status) == ("completed", "failed")
    spans = exporter.get_finished_spans()
    by_run = {
        run: [span for span in spans if (span.attributes or {}).get("toolgen.run_id") == run]
        for run in (good.run_id, bad.run_id)
    }
    assert [span.name for span in by_run[good.run_id]] == [
        "plan doubler",
        "execute_tool double",
        "plan doubler",
        "invoke_agent doubler",
    ]
    *inner, whole = by_run[good.run_id]
    own = whole.get_span_context()
    assert own
    assert all(span.parent and span.parent.span_id == own.span_id for span in inner)
    agents = {(span.attributes or {}).get("gen_ai.agent.id") for span in (*inner, whole)}
    assert agents == {(whole.attributes or {})["gen_ai.agent.id"]}
    assert (whole.attributes or {})["gen_ai.conversation.id"] == "s"
    assert (whole.attributes or {})["toolgen.status"] == "completed"
    assert whole.status.status_code is StatusCode.UNSET
    assert by_run[bad.run_id][-1].status.status_code is StatusCode.ERROR


async def test_an_attempt_that_failed_is_a_span_that_failed() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tried: list[int] = []

    def busy(given: PlanInput) -> FinalResponse:
        tried.append(given.step)
        if len(tried) == 1:
            raise PlannerUnavailableError("HTTP 429")
        return FinalResponse(text="Now.")

    spec = AgentSpec(id="maths.busy", description="Is busy.")
    soon = PlannerRetry(initial_s=0.001)
    async with Runtime(spans=ToolSpans(provider)) as runtime:
        Agents(runtime, planner_retry=soon)
        planner = ScriptedPlanner([busy])
        agents_of(runtime).register(AgentRegistration(spec=spec, planner=planner, toolsets=()))
        await agents_of(runtime).client(spec.id).run("Now?", session_id="s")
    plans = [span for span in exporter.get_finished_spans() if span.name == "plan busy"]
    told = [((span.attributes or {})["toolgen.attempt"], span.status.status_code) for span in plans]
    assert told == [(1, StatusCode.ERROR), (2, StatusCode.UNSET)]
