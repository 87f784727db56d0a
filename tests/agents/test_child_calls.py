"""Calls that agents answer: their ids, their limits, and tools that are gone when the answer comes."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.agents.tools import (
    agent,
    answers,
    calling,
    check_log,
    exported,
    first_answer,
    running,
)
from tests.virtual_time import now
from toolgen.agents import (
    FinalResponse,
    FinalResult,
    PlanInput,
    PlanResult,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.runtime import Limits, StaticToolset, ToolContext, ToolsetRegistration
from toolgen.runtime.views import filter_toolset


async def test_calls_of_a_child_name_the_call_that_they_answer() -> None:
    top = ScriptedPlanner([calling("look"), "done"])
    low = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), '"seen"'])
    async with running(agent("x.low", low), agent("x.top", top, exported("x.lows", "x.low"))) as (runtime, _):
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        child = await runtime.runs.events(f"{output.run_id}/child:call_0_0")
    (start,) = [event for event in child if event.type == "tool_start"]
    assert start.parent_tool_call_id == "call_0_0"
    assert output.text == "done"


async def look(ctx: ToolContext) -> str:
    """Look at the state."""
    return f"{await ctx.state.get('session:seen')} {await ctx.state.get('session:last')}"


def exporting(name: str) -> ToolsetRegistration:
    """Return a toolset that the agent `x.low` implements."""

    def look(at: str) -> str:
        """Look."""
        return at

    spec = func_tool(look, toolset=name).spec
    return ToolsetRegistration(name=name, specs=[spec], executor=AgentRoute(agent="x.low"))


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_tool_that_is_gone_when_its_agent_has_answered(elsewhere: bool) -> None:
    gone: list[bool] = []
    exported = exporting("x.checks")
    view = filter_toolset(exported, lambda spec, context: not gone)
    top = ScriptedPlanner([calling(("look", {"at": "lamp"})), first_answer])

    def answer(given: PlanInput) -> FinalResult:
        gone.append(True)
        if elsewhere:  # as in a process that did not plan, and asks the toolset itself
            agents_of(runtime)._host._snapshots.pop(given.run_id.partition("/")[0])
        return FinalResult(result="dust")

    agents = (
        agent("x.low", ScriptedPlanner([answer])),
        agent("x.top", top, StaticToolset(name="x.nothing", bound=()), dynamic=(view,)),
    )
    async with running(*agents) as (runtime, engine):
        runtime.tools.register(exported)
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        check_log(output, await runtime.runs.events(output.run_id))
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    assert output.text == ('{"error":"there is no tool \'look\'"}' if elsewhere else '"dust"')


async def test_results_of_agents_are_cut_like_all_others() -> None:
    low = ScriptedPlanner([FinalResult(result="all is well " * 100)])
    top = ScriptedPlanner([calling(("look", {"at": "lamps"})), first_answer])
    agents = agent("x.low", low), agent("x.top", top, exporting("x.checks"))
    async with running(*agents, limits=Limits(result_bytes=100)) as (runtime, engine):
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        events = await runtime.runs.events(output.run_id)
        direct = await runtime.call("x.checks.look", {"at": "lamps"})
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    check_log(output, events)
    told = json.loads(output.text)
    assert (told["bytes"], told["beginning"][:5]) == (1202, '"all ')
    assert len(output.text) <= 100
    assert direct.json.decode() == output.text
    (ended,) = [event for event in events if event.type == "tool_end"]
    assert ended.result == told


SUM = ("add", {"a": 1, "b": 1})


async def slow(given: PlanInput) -> PlanResult:
    await asyncio.sleep(30)
    return FinalResponse(text="never")


async def test_a_child_has_what_is_left_and_its_answer_comes_through() -> None:
    """The child ends when the time of its parent is over; what it found is not lost."""
    low = ScriptedPlanner([slow, '"what I know"'])
    top = ScriptedPlanner([calling("look"), lambda given: f"{given.closing}: {answers(given)[0]}"])
    policy = RunPolicy(time_budget=0.15)
    async with running(
        agent("x.low", low, policy=RunPolicy(time_budget=60)),
        agent("x.top", top, exported("x.lows", "x.low"), policy=policy),
    ) as (runtime, engine):
        began = now()
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        took = now() - began
        child = await agents_of(runtime).snapshot(f"{output.run_id}/child:call_0_0")
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    assert took == pytest.approx(0.15, abs=0.02)
    assert child.stop == "time_budget"
    assert output.text == 'time_budget: "what I know"'


async def test_a_typed_answer_is_repaired_once() -> None:
    def count() -> int:
        """Count."""
        return 0

    cases: list[tuple[list[ScriptStep], str | None]] = [
        (["three", FinalResult(result=3)], "3"),
        (["three", calling(SUM), "4.5", "4"], "4"),
        ([FinalResult(result="x"), "nothing"], None),
    ]
    for said, text in cases:
        low, top = ScriptedPlanner(said), ScriptedPlanner([calling("look"), first_answer])
        async with running(
            agent("x.low", low), agent("x.top", top, exported("x.lows", "x.low", returns=count))
        ) as (runtime, engine):
            output = await agents_of(runtime).client("x.top").one_shot("Go.")
            await engine.replay(output.run_id)
            await engine.replay(f"{output.run_id}/child:call_0_0")
        if text is not None:
            assert output.text == text
            continue
        (hint,) = top.inputs[1].retry_hints
        assert hint.reason == "malformed_response"
        assert output.text.startswith('{"error":"look failed: the final result does not fit')
