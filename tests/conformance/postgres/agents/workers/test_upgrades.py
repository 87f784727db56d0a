"""Workers of an older version, which lack an agent or a tool, beside those of a newer one."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from tests.agents.tools import add, agent, calling, exported, first_answer
from tests.many_workers import SECRET, Cluster
from toolgen.agents import (
    AgentRegistration,
    Agents,
    FinalResponse,
    FinalResult,
    PlanInput,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.calls.functions.tools import function_toolset
from toolgen.runtime import Runtime

SUM = calling(("add", {"a": 2, "b": 3}))


async def negative(a: int) -> int:
    """Return the negative."""
    return -a


NEW = agent("x.agent", ScriptedPlanner([SUM, first_answer]), function_toolset("x.sums", [add]))
OLD = {
    "agent": agent("y.agent", ScriptedPlanner([SUM, first_answer])),
    "tool": agent(
        "x.agent",
        ScriptedPlanner([FinalResponse(text="it cannot add"), first_answer]),
        function_toolset("x.sums", [negative]),
    ),
}


@pytest.mark.parametrize("lacks", OLD)
async def test_no_run_fails_by_a_worker_that_lacks_something(lacks: str) -> None:
    """Of the tool they hear where a worker has planned that has it."""
    cluster, sessions = Cluster(7), MemorySessionStore()

    def made(registration: AgentRegistration) -> Runtime:
        runtime = Runtime(engine=cluster.worker(), secret=SECRET)
        Agents(runtime, sessions=sessions).register(registration)
        return runtime

    async with AsyncExitStack() as stack:
        runtimes = [await stack.enter_async_context(made(one)) for one in (NEW, OLD[lacks])]
        client = agents_of(runtimes[0]).client("x.agent")
        handles = [await client.start("Add.", session_id=f"s{number}") for number in range(12)]
        texts = {(await handle.result()).text for handle in handles}
    assert texts == ({"5"} if lacks == "agent" else {"5", "it cannot add"})


CHECK = calling(("look", {}))


def low(given: PlanInput) -> FinalResult | FinalResponse:
    """Return the result that the call wants; text where it is not said that it wants one."""
    return FinalResponse(text="It is dust.") if given.result_schema is None else FinalResult(result="dust")


async def test_a_call_of_an_agent_has_its_result_beside_workers_that_lack_the_tool() -> None:
    cluster, sessions = Cluster(7), MemorySessionStore()
    ends = ScriptedPlanner([CHECK, first_answer])
    new = agent("x.top", ends, exported("x.checks", "x.low"))
    old = agent("x.top", ScriptedPlanner([FinalResponse(text="it cannot look"), first_answer]))

    def made(registration: AgentRegistration) -> Runtime:
        runtime = Runtime(engine=cluster.worker(), secret=SECRET)
        agents = Agents(runtime, sessions=sessions)
        agents.register(registration)
        agents.register(agent("x.low", ScriptedPlanner([low], [low])))
        return runtime

    async with AsyncExitStack() as stack:
        runtimes = [await stack.enter_async_context(made(one)) for one in (new, old)]
        client = agents_of(runtimes[0]).client("x.top")
        handles = [await client.start("Look.", session_id=f"s{number}") for number in range(24)]
        texts = {(await handle.result()).text for handle in handles}
    assert texts == {'"dust"', "it cannot look"}
