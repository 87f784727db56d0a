"""Tools that are disabled between the plannings of a run, and while its calls wait."""

from __future__ import annotations

import asyncio

from tests.agents.tools import calling, first_answer, running, waiting
from tests.virtual_time import now
from toolgen.agents import AgentRegistration, AgentSpec, AgentTool, PlanInput, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import DisabledTools, MemoryStateStore
from toolgen.runtime import Runtime, StaticToolset
from toolgen.runtime.views import with_confirmation

OFF = '{"error":"add is disabled: broken"}'
did: list[str] = []


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    did.append("add")
    return a + b


async def sub(a: int, b: int) -> int:
    """Subtract two numbers."""
    return a - b


def sums() -> StaticToolset:
    return function_toolset("x.sums", [add, sub])


def registered(planner: ScriptedPlanner, *, is_dynamic: bool = False) -> AgentRegistration:
    if is_dynamic:
        spec = AgentSpec(id="x.agent", description="Adds.")
        return AgentRegistration(spec=spec, planner=planner, dynamic=(sums(),))
    tools = tuple(AgentTool(id=f"x.sums.{name}", name=name) for name in ("add", "sub"))
    spec = AgentSpec(id="x.agent", description="Adds.", tools=tools)
    return AgentRegistration(spec=spec, planner=planner, toolsets=(sums(),))


async def run(runtime: Runtime, message: str = "Go.") -> str:
    output = await asyncio.wait_for(agents_of(runtime).client("x.agent").run(message, session_id="s"), 60)
    return output.text


def names(given: PlanInput) -> str:
    return " ".join(tool.name for tool in given.tools)


async def test_the_next_planning_does_not_offer_a_disabled_tool() -> None:
    for is_dynamic in (False, True):
        planner = ScriptedPlanner([names], [names], [names])
        switch = DisabledTools(MemoryStateStore(), clock=now)
        async with running(registered(planner, is_dynamic=is_dynamic), disabled=switch) as (runtime, _):
            assert await run(runtime) == "add sub"
            assert await runtime.tools.disable("x.sums.add", "broken") == "x.sums.add"
            assert await run(runtime) == "sub"
            await runtime.tools.enable("x.sums.add")
            assert await run(runtime) == "add sub"


async def test_a_call_of_a_disabled_tool_is_a_result_that_the_planner_reads() -> None:
    did.clear()
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer], [])
    async with running(registered(planner), disabled=DisabledTools(MemoryStateStore())) as (runtime, _):
        await runtime.tools.disable("add", "broken")
        assert await run(runtime) == OFF
    assert not did


async def test_a_call_that_waits_for_an_approval_is_not_executed_when_it_comes() -> None:
    did.clear()
    toolset = with_confirmation(function_toolset("x.sums", [add]), hint="Add {a} and {b}?")
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer], [])
    spec = AgentSpec(id="x.agent", description="Adds.")
    one = AgentRegistration(spec=spec, planner=planner, dynamic=(toolset,))
    async with running(one, disabled=DisabledTools(MemoryStateStore())) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        await runtime.tools.disable("add", "broken")
        result = await runtime.suspensions.answer(asked.token, {"approved": True}, by="jo")
        assert (result.status, result.json.decode()) == ("error", OFF)
        assert (await asyncio.wait_for(handle.result(), 60)).text == OFF
        ends = [one for one in await runtime.runs.events(handle.run_id) if one.type == "tool_end"]
        assert [(one.status, bool(one.answered_id)) for one in ends] == [
            ("suspended", False),
            ("error", True),
        ]
    assert not did
