"""A run that is canceled: its tools hear of it, and each of its calls has its one end in the log."""

from __future__ import annotations

import asyncio

from tests.runtime.raising import leaving_nothing
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlanInput,
    PlannedCall,
    RunOutput,
    ScriptedPlanner,
    agents_of,
)
from toolgen.runtime import Runtime, ToolContext, ToolOutcome, Unfinished
from toolgen.runtime.events.records import Event, RunCompleted, ToolEnd
from toolgen.runtime.toolsets.functions import function_toolset
from toolgen.runtime.waiting.suspension import MemorySuspensionStore

CANCELED: list[str] = []


async def hang() -> str:
    """Hang."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        CANCELED.append("hang")
        raise
    return ""


async def ask(ctx: ToolContext) -> str | Unfinished:
    """Ask."""
    return str(ctx.answer) if ctx.answer else ToolOutcome.ask("Who?")


async def quick() -> str:
    """Be quick."""
    return "done"


TOOLSET = function_toolset("x.tools", [hang, ask, quick])
SPEC = AgentSpec(
    id="x.agent",
    description="Calls.",
    tools=tuple(AgentTool(id=tool.spec.id, name=tool.spec.name) for tool in TOOLSET.bound),
)


def calling(*names: str) -> CallTools:
    return CallTools(calls=tuple(PlannedCall.of(name) for name in names))


def seen(given: PlanInput) -> str:
    return " ".join(message.type for message in given.messages)


async def canceled(planner: ScriptedPlanner) -> tuple[RunOutput, tuple[Event, ...], RunOutput]:
    """Return the output and the events of a run that is canceled, and the output of the next turn."""
    async with Runtime(suspensions=MemorySuspensionStore()) as runtime:
        agents_of(runtime).register(
            AgentRegistration(spec=SPEC, planner=planner, toolsets=(TOOLSET,), format=1)
        )
        handle = await agents_of(runtime).client(SPEC.id).start("Go.", session_id="s")
        async for event in handle.events():
            if isinstance(event, ToolEnd) and event.status == "suspended":
                break
        await handle.cancel("enough")
        output = await handle.result()
        events = await agents_of(runtime).events(handle.run_id)
        return output, events, await agents_of(runtime).client(SPEC.id).run("Again.", session_id="s")


async def test_every_call_has_one_end() -> None:
    CANCELED.clear()
    output, events, after = await canceled(ScriptedPlanner([calling("hang", "quick", "ask")], [seen]))
    assert (output.status, output.error) == ("canceled", "enough")
    assert CANCELED == ["hang"]
    ends = [event for event in events if isinstance(event, ToolEnd) and event.status != "suspended"]
    assert sorted((event.tool_call_id, event.status) for event in ends) == [
        ("call_0_0", "error"),
        ("call_0_1", "ok"),
        ("call_0_2", "error"),
    ]
    completed, last = events[-2:]
    assert isinstance(completed, RunCompleted)
    assert (completed.status, completed.error, last.type) == ("canceled", "enough", "run_stream_end")
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.session_id for event in events} == {"s"}
    assert after.text == "user assistant tools user"  # the next turn has a result for every call


async def test_a_tool_cleans_up_before_a_runtime_is_closed_in_which_its_run_was_canceled() -> None:
    """Closing cancels once more what is being canceled; the tool has its time to end all the same."""
    begun, ending, ended = asyncio.Event(), asyncio.Event(), []

    async def hold() -> str:
        """Hold something that has to be given back."""
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            ending.set()
            for _ in range(20):
                await asyncio.sleep(0)
            ended.append("given back")
        return ""

    toolset = function_toolset("x.tools", [hold])
    spec = AgentSpec(id="x.agent", description="Holds.", tools=(AgentTool(id="x.tools.hold", name="hold"),))
    planner = ScriptedPlanner([calling("hold")])
    async with leaving_nothing(), Runtime() as runtime:
        agents_of(runtime).register(
            AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,), format=1)
        )
        handle = await agents_of(runtime).client(spec.id).start("Go.", session_id="s")
        await begun.wait()
        await handle.cancel("enough")
        await ending.wait()
    assert ended == ["given back"]
