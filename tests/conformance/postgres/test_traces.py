"""Traces of runs that several workers execute in turns, each with a tracer provider of its own."""

from __future__ import annotations

import pytest

from tests.agents.tools import agent, calling, everything, exported, first_answer
from tests.conformance.postgres.test_many_workers import workers
from tests.conventions import violations
from tests.otlp import Receiver
from tests.selection import volume
from toolgen.adapters.postgres import Postgres
from toolgen.agents import FinalResult, HandOver, PlanInput, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import ConfirmSpec


async def burn(id: str) -> str:
    """Burn a parcel."""
    return f"{id} is ash"


BURN = function_toolset(
    "x.parcels", [func_tool(burn, toolset="x.parcels", confirm=ConfirmSpec(hint="Burn {id}?"))]
)


def found(given: PlanInput) -> FinalResult:
    return FinalResult(result=first_answer(given))


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(volume(1, lab=6)))
async def test_a_run_with_a_child_and_a_wait_is_one_trace(database: Postgres, seed: int) -> None:
    low = agent("x.low", ScriptedPlanner([calling(("burn", {"id": "p1"})), found]), BURN)
    top = agent("x.top", ScriptedPlanner([calling("look"), everything]), exported("x.checks", "x.low"))
    with Receiver() as receiver:
        async with workers(
            database, seed, low, top, spans=lambda: ToolSpans(receiver.provider())
        ) as runtimes:
            handle = await agents_of(runtimes[0]).client("x.top").start("Go.", session_id="s")
            (asked,) = (await handle.settled()).awaiting
            await runtimes[1].suspensions.answer(asked.token, {"approved": True})
            assert (await handle.result()).status == "completed"
        spans = receiver.spans()
    assert {span.trace for span in spans} == {spans[0].trace}
    ids = {span.id for span in spans}
    assert [span.name for span in spans if span.parent not in ids] == ["invoke_agent top"]
    (child,) = [span for span in spans if span.name == "invoke_agent low"]
    (called,) = [span for span in spans if span.name == "execute_tool look"]
    assert child.parent == called.id
    assert {span.parent for span in spans if span.name == "plan low"} == {child.id}
    assert [wrong for span in spans for wrong in violations(span)] == []
    before, after = sorted(
        (span for span in spans if span.name == "execute_tool burn"), key=lambda span: len(span.links)
    )
    assert after.links == ((before.trace, before.id),)
    assert sum(span.name.startswith("plan ") for span in spans) == 4


async def test_a_conversation_that_is_handed_over_stays_in_its_trace(database: Postgres) -> None:
    low = agent("x.low", ScriptedPlanner(["Here."]))
    top = agent("x.top", ScriptedPlanner([HandOver(agent="x.low")]), transfers=("x.low",))
    with Receiver() as receiver:
        async with workers(database, 1, low, top, spans=lambda: ToolSpans(receiver.provider())) as runtimes:
            await agents_of(runtimes[0]).client("x.top").run("Go.", session_id="s")
        spans = receiver.spans()
    names = {span.id: span.name for span in spans}
    assert {span.name: names.get(span.parent, "") for span in spans} == {
        "invoke_agent top": "",
        "plan top": "invoke_agent top",
        "invoke_agent low": "invoke_agent top",
        "plan low": "invoke_agent low",
    }
