"""Tools of agents that make calls and start runs themselves, in more runs than calls may run at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.agents.tools import agent, calling, everything, exported, running
from tests.selection import diagonal, first
from toolgen.agents import FinalResult, RunOutput, ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool
from toolgen.events.records import AssistantReply
from toolgen.runtime import Runtime, Scheduling, StaticToolset, ToolCall

HOUR = 3600.0
RUNS = 40
DEFAULT = Scheduling()


class Nested:
    """Tools that make calls through the runtime, and start runs."""

    def __init__(self) -> None:
        self.now = self.most = self.started = 0
        self._runtime: Runtime | None = None

    @property
    def runtime(self) -> Runtime:
        assert self._runtime is not None
        return self._runtime

    async def inner(self) -> str:
        """Do it."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return "done"

    async def outer(self) -> str:
        """Make calls at once."""
        await asyncio.sleep(0.01)
        calls = [ToolCall(tool="inner", payload_json=b"{}")] * 3
        return " ".join([result.result for result in await self.runtime.call_all(calls)])

    async def hand(self) -> str:
        """Ask an agent, and wait for its run."""
        return (await agents_of(self.runtime).client("x.low").one_shot("Go.")).text

    async def later(self) -> str:
        """Start a run of an agent, and wait for it when its calls wait for this one."""
        self.started += 1
        client = agents_of(self.runtime).client("x.low")
        handle = await client.start("Go.", session_id=f"low {self.started}")
        await asyncio.sleep(60)
        return (await handle.result()).text

    async def follow(self) -> str:
        """Start a run of an agent, and follow its events."""
        self.started += 1
        stream = agents_of(self.runtime).client("x.low").stream("Go.", session_id=f"low {self.started}")
        return " ".join([event.text async for event in stream if isinstance(event, AssistantReply)])

    async def call_agent(self) -> str:
        """Call the tool of an agent."""
        result = await self.runtime.call("look", {})
        return str(result.result)

    @asynccontextmanager
    async def serving(
        self, *calls: str, sequential: str, limits: Scheduling = DEFAULT
    ) -> AsyncIterator[Runtime]:
        """Yield a runtime whose agent `x.top` makes these calls at once; `x.low` makes the last of them."""
        tools = [
            func_tool(one, toolset="x.nested", is_sequential=one.__name__ in sequential)
            for one in (self.inner, self.outer, self.hand, self.later, self.follow, self.call_agent)
        ]
        nested = StaticToolset(name="x.nested", bound=tuple(tools))
        top = agent("x.top", ScriptedPlanner([calling(*calls), everything]), nested)
        low = agent("x.low", ScriptedPlanner([calling("inner", calls[-1]), everything]), nested)
        said = ScriptedPlanner([calling("inner"), FinalResult(result="seen")])
        looking = agent("x.looking", said, nested, exported("x.looks", "x.looking"))
        async with running(top, low, looking, scheduling=limits) as (self._runtime, _):
            yield self._runtime
            assert self._runtime._services.scheduler.is_idle


async def outputs(runtime: Runtime, count: int = RUNS) -> set[str]:
    """Return what the runs said, so many at once."""
    client = agents_of(runtime).client("x.top")
    async with asyncio.timeout(HOUR):
        ended: list[RunOutput] = await asyncio.gather(*(client.one_shot("Go.") for _ in range(count)))
    return {output.text for output in ended}


@pytest.mark.parametrize("sequential", first(["", "outer", "inner outer"]))
async def test_runs_end_whose_tools_make_calls_at_once(sequential: str) -> None:
    nested = Nested()
    async with nested.serving("outer", "inner", sequential=sequential) as runtime:
        assert await outputs(runtime) == {'"done done done" | "done"'}
    if "inner" in sequential:
        assert nested.most == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tool", "sequential"), diagonal(["hand", "follow"], ["", "hand follow", "inner outer hand follow"])
)
async def test_runs_end_whose_tools_wait_for_runs(tool: str, sequential: str) -> None:
    """A sequential tool lets the calls of the run in that it waits for, or whose events it follows."""
    nested = Nested()
    limits = Scheduling(max_calls=1)
    async with nested.serving(tool, "outer", sequential=sequential, limits=limits) as runtime:
        said = await outputs(runtime, 5)
    assert said == {'"\\"done\\" | \\"done done done\\"" | "done done done"'}


@pytest.mark.parametrize(
    ("tool", "sequential"), diagonal(["later", "call_agent"], ["", "inner outer later call_agent"])
)
async def test_runs_end_that_are_waited_for_later_or_answer_a_call(tool: str, sequential: str) -> None:
    """A call of the run that waits already enters beside the one that begins to wait for the run."""
    nested = Nested()
    async with nested.serving(tool, "outer", sequential=sequential) as runtime:
        said = await outputs(runtime, 3)
    done = '"\\"done\\" | \\"done done done\\""' if tool == "later" else '"seen"'
    assert said == {f'{done} | "done done done"'}


@pytest.mark.exhaustive
async def test_the_calls_of_one_run_do_not_limit_those_of_another() -> None:
    nested = Nested()
    async with nested.serving("inner", "inner", sequential="") as runtime:
        assert await outputs(runtime) == {'"done" | "done"'}
    assert nested.most == 2 * RUNS
