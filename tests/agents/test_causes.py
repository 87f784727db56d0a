"""Errors chain across agents: who called learns what stands behind a failure."""

from __future__ import annotations

from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.events.records import ToolEnd
from toolgen.runtime import Runtime, ToolsetRegistration


def look() -> str:
    """Look."""
    return ""


def exported(toolset: str, agent: str) -> ToolsetRegistration:
    spec = func_tool(look, toolset=toolset).spec
    return ToolsetRegistration(name=toolset, specs=[spec], executor=AgentRoute(agent=agent))


def asking(id_: str, calls: str, planner: ScriptedPlanner, toolset: ToolsetRegistration) -> AgentRegistration:
    policy = RunPolicy(max_consecutive_failed_tool_calls=1)
    tool = AgentTool(id=f"{toolset.name}.look", name=calls)
    spec = AgentSpec(id=id_, description="Asks.", tools=(tool,), policy=policy)
    return AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,))


async def test_a_failure_two_agents_below_is_a_cause() -> None:
    call = CallTools(calls=(PlannedCall.of("look"),))
    async with Runtime() as runtime:
        agents_of(runtime).register(
            asking("a.top", "look", ScriptedPlanner([call, "I give up."]), exported("a.middles", "a.middle"))
        )
        agents_of(runtime).register(
            asking("a.middle", "look", ScriptedPlanner([call, call]), exported("a.lows", "a.low"))
        )
        low = AgentSpec(id="a.low", description="Fails.")
        agents_of(runtime).register(AgentRegistration(spec=low, planner=ScriptedPlanner([])))
        output = await agents_of(runtime).client("a.top").one_shot("Look.")
        events = await runtime.runs.events(output.run_id)
        direct = await runtime.call("a.lows.look", {})
    assert (output.status, output.text, output.stop) == ("completed", "I give up.", "failure_cap")
    (ended,) = [event for event in events if isinstance(event, ToolEnd)]
    assert ended.error is not None
    causes = ended.error.get("causes", [])
    first, second, third = causes
    assert first == "the run ended by its failure_cap, and its planner gave no final answer"
    assert second.startswith("look failed: the planner failed")
    assert third.startswith("the planner failed: the script of run 0 has 0 steps")
    assert direct.error is not None
    assert direct.error.cause is not None
    assert direct.error.cause.message.startswith("the planner failed")
