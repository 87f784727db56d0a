"""Tools, agents and one-line runs for the tests of agents; nothing here stands in for our own code."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from gen.assistant.toolsets import maintenance
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    PlanInput,
    PlannedCall,
    Planner,
    PlannerRetry,
    RunHandle,
    RunOutput,
    RunPolicy,
    SessionStore,
    ToolMessage,
    agents_of,
)
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Runtime,
    StaticToolset,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolsetRegistration,
    Unfinished,
)
from toolgen.runtime.events.records import Event
from toolgen.runtime.toolsets.dynamic import DynamicToolset
from toolgen.runtime.toolsets.functions import function_toolset


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def hang() -> str:
    """Never end."""
    await asyncio.sleep(30)
    return ""


async def boom() -> str:
    """Fail."""
    raise RuntimeError("the secret of the house")


async def ask(ctx: ToolContext) -> str | Unfinished:
    """Ask a person for a name, and greet."""
    return f"hello {ctx.answer}" if ctx.answer else ToolOutcome.ask("Which name?")


async def finish(text: str) -> ToolOutcome[str]:
    """End the turn."""
    return ToolOutcome.final(text, display=f"It is {text}.")


async def go(agent: str, ctx: ToolContext) -> str:
    """Hand the conversation over."""
    ctx.actions.transfer(agent)
    return "going"


async def back(ctx: ToolContext) -> str:
    """Give the conversation back."""
    ctx.actions.escalate()
    return "giving back"


IMPATIENT = PlannerRetry(initial_s=0.001)
TOOLS = function_toolset("x.tools", [add, hang, boom, ask, finish, go, back])


def calling(*calls: str | tuple[str, Mapping[str, Json]], text: str = "") -> CallTools:
    """Return the step that makes these calls at once."""
    planned = [PlannedCall.of(call) if isinstance(call, str) else PlannedCall.of(*call) for call in calls]
    return CallTools(calls=tuple(planned), text=text)


def answers(given: PlanInput) -> list[str]:
    """Return the newest results, as the model sees them."""
    newest = [message for message in given.messages if isinstance(message, ToolMessage)][-1]
    return [answer.text for answer in newest.answers]


def first_answer(given: PlanInput) -> str:
    return answers(given)[0]


def texts(given: PlanInput) -> str:
    """Return what was said, each in its brackets."""
    return " ".join(f"[{getattr(message, 'text', 'results')}]" for message in given.messages)


def agent(
    id_: str,
    planner: Planner,
    *toolsets: StaticToolset | ToolsetRegistration,
    policy: RunPolicy | None = None,
    transfers: tuple[str, ...] = (),
    dynamic: tuple[DynamicToolset, ...] = (),
) -> AgentRegistration:
    """Return an agent that may call every tool of the toolsets; by default those of this file."""
    given = toolsets or (TOOLS,)
    specs = [
        spec
        for one in given
        for spec in ([tool.spec for tool in one.bound] if isinstance(one, StaticToolset) else one.specs)
    ]
    spec = AgentSpec(
        id=id_,
        description=f"The agent {id_}.",
        tools=tuple(AgentTool(id=spec.id, name=spec.name) for spec in specs),
        policy=policy or RunPolicy(),
        transfers=transfers,
    )
    return AgentRegistration(spec=spec, planner=planner, toolsets=given, dynamic=dynamic, format=1)


@asynccontextmanager
async def running(
    *agents: AgentRegistration,
    sessions: SessionStore | None = None,
    planner_retry: PlannerRetry = IMPATIENT,
    **options: Any,
) -> AsyncIterator[tuple[Runtime, InProcessEngine]]:
    """Yield an open runtime with these agents, and its engine; it hardly pauses before it asks again."""
    engine = InProcessEngine(clock=now)
    async with Runtime(engine=engine, **options) as runtime:
        made = Agents(runtime, sessions=sessions, planner_retry=planner_retry)
        for one in agents:
            made.register(one)
        yield runtime, engine


class Users:
    """Fills the field that no model sets."""

    fills = frozenset({"user_id"})

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        payload.set_user_id("u-secret")


def resetting(executor: Resetting, **facts: Any) -> ToolsetRegistration:
    """Return the toolset of a tool that asks before it runs, with other facts."""
    spec = replace(maintenance.FACTORY_RESET, **facts)
    return ToolsetRegistration(name="assistant.maintenance", specs=[spec], executor=executor, format=1)


class Resetting:
    """Resets, and knows who asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def factory_reset(self, payload: Any, ctx: ToolContext) -> Any:
        self.asked.append(f"{payload.device_id} for {payload.user_id}")
        return maintenance.FACTORY_RESET.result.decode({"name": payload.device_id, "lost": {}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run that has settled."""

    output: RunOutput
    events: tuple[Event, ...]

    def of(self, *types: str) -> list[Any]:
        return [event for event in self.events if event.type in types]


Drive = Callable[[Runtime, RunHandle], Awaitable[None]]


async def ran(
    planner: Planner,
    policy: RunPolicy | None = None,
    *,
    drive: Drive | None = None,
    options: Mapping[str, Any] | None = None,
    toolsets: tuple[StaticToolset | ToolsetRegistration, ...] = (),
    dynamic: tuple[DynamicToolset, ...] = (),
    **start: Any,
) -> Ran:
    """Return a run of one agent when it has settled; what holds for every run is checked on the way."""
    registration = agent("x.agent", planner, *toolsets, policy=policy, dynamic=dynamic)
    async with running(registration, **(options or {})) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", **{"session_id": "s", **start})
        if drive is not None:
            await drive(runtime, handle)
        output = await asyncio.wait_for(handle.settled(), 10)
        events = await agents_of(runtime).events(handle.run_id)
        check_log(output, events)
        status = await engine.status(handle.run_id)
        if status.state == "completed":
            assert await engine.replay(handle.run_id) == status.output
        return Ran(output=output, events=events)


def check_log(output: RunOutput, events: tuple[Event, ...]) -> None:
    """Check what holds for the log of every run."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[0].type == "run_started"
    if output.status in ("running", "waiting"):
        return
    assert [event.type for event in events[-2:]] == ["run_completed", "run_stream_end"]
    starts = Counter(event.tool_call_id for event in events if event.type == "tool_start")
    ends = Counter(
        event.tool_call_id for event in events if event.type == "tool_end" and event.status != "suspended"
    )
    assert starts == ends
    assert set(starts.values()) <= {1}
