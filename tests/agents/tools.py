"""Tools, agents and one-line runs for the tests of agents; nothing here stands in for our own code."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from gen.assistant.toolsets import devices, maintenance
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    AssistantMessage,
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
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.toolsets.dynamic import DynamicToolset
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.json_value import Json
from toolgen.engines import Engine, InProcessEngine
from toolgen.events.records import Event, RunPhase
from toolgen.runtime import (
    Runtime,
    StaticToolset,
    Suspended,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolsetRegistration,
    Unfinished,
)
from toolgen.waiting.options import WaitOptions


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
    planner: Planner | str | None,
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
    return AgentRegistration(spec=spec, planner=planner, toolsets=given, dynamic=dynamic)


SECRET: Final = b"the same in all processes, always"


def new_engine() -> InProcessEngine:
    """Return the engine of a test that has none of its own; conftest.py gives one in a file too."""
    return InProcessEngine(clock=now)


@asynccontextmanager
async def running(
    *agents: AgentRegistration,
    sessions: SessionStore | None = None,
    planner_retry: PlannerRetry = IMPATIENT,
    engine: InProcessEngine | None = None,
    **options: Any,
) -> AsyncIterator[tuple[Runtime, InProcessEngine]]:
    """Yield an open runtime with these agents, and its engine; it hardly pauses before it asks again."""
    engine = engine or new_engine()
    waiting = WaitOptions(clock=now)
    if engine.caps.has_many_workers:
        options = {"secret": SECRET, **options}
    runtime = Runtime(**{"engine": engine, "waiting": waiting, **options})
    made = Agents(runtime, sessions=sessions, planner_retry=planner_retry)
    for one in agents:
        made.register(one)
    async with runtime:
        yield runtime, engine


def engine_of(runtime: Runtime) -> Engine:
    """Return where the runs of a runtime are executed."""
    assert runtime.engine is not None
    return runtime.engine


class Users:
    """Fills the field that no model sets."""

    fills = frozenset({"user_id"})

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        payload.set_user_id("u-secret")


def resetting(executor: Resetting, **facts: Any) -> ToolsetRegistration:
    """Return the toolset of a tool that asks before it runs, with other facts."""
    spec = replace(maintenance.FACTORY_RESET, **facts)
    return ToolsetRegistration(name="assistant.maintenance", specs=[spec], executor=executor)


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
    planner: Planner | str | None,
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
        following = asyncio.ensure_future(all_events(handle))
        if drive is not None:
            await drive(runtime, handle)
        output = await asyncio.wait_for(handle.settled(), 3600)
        events = await runtime.runs.events(handle.run_id)
        check_log(output, events)
        if output.status not in ("running", "waiting"):
            events = await following
            check_log(output, tuple(event for event in events if event.seq))
        following.cancel()
        status = await engine.status(handle.run_id)
        if status.state == "completed":
            assert await engine.replay(handle.run_id) == status.output
        return Ran(output=output, events=events)


async def all_events(handle: RunHandle) -> tuple[Event, ...]:
    """Return the events of a run, with what was reported on its way, when it is over."""
    return tuple([event async for event in handle.events()])


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


def keeping(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask."""
    return dict(more)


async def waiting(handle: RunHandle) -> Suspended:
    """Return the one thing that a run waits for."""
    output = await asyncio.wait_for(handle.settled(), 60)
    assert output.status == "waiting"
    (awaiting,) = output.awaiting
    return awaiting


def everything(given: PlanInput) -> str:
    """Return all results of the last batch."""
    return " | ".join(answers(given))


def work(name: str, seconds: float = 0.0) -> tuple[str, dict[str, Any]]:
    """Return a call of `Bench.work`."""
    return "work", {"name": name, "seconds": seconds}


class Bench:
    """Tools of one test, and what they did."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.metas: list[Any] = []
        self.gate = asyncio.Event()
        """Opened by the test."""
        self.toolset = function_toolset("x.bench", [self.work, self.ask, self.through])

    async def work(self, name: str, seconds: float = 0.0) -> str:
        """Work for a while."""
        self.did.append(f"{name} begins")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.did.append(f"{name} cancelled")
            raise
        self.did.append(f"{name} ends")
        return name

    async def ask(self, name: str, ctx: ToolContext, seconds: float = 0.0) -> str | Unfinished:
        """Work for a while, then ask a person."""
        self.metas.append(ctx.meta)
        if ctx.answer is None:
            await asyncio.sleep(seconds)
            return ToolOutcome.ask(f"{name}?")
        self.did.append(f"{name} heard {ctx.answer}")
        return f"{name}: {ctx.answer}"

    async def through(self, ctx: ToolContext) -> str:
        """Wait for the gate."""
        self.metas.append(ctx.meta)
        self.did.append("at the gate")
        await self.gate.wait()
        return "through"


class Devices:
    """An executor of the generated devices toolset."""

    def __init__(self) -> None:
        self.sessions: list[str] = []

    async def list_devices(self, payload: devices.ListDevicesPayload, ctx: ToolContext) -> Any:
        self.sessions.append(payload.session_id)
        return devices.LIST_DEVICES.result.decode({"devices": [], "returned": 0, "truncated": False})

    async def get_time_series(self, payload: devices.GetTimeSeriesPayload, ctx: ToolContext) -> Any:
        raise AssertionError(payload)

    async def set_state(self, payload: devices.SetStatePayload, ctx: ToolContext) -> Any:
        raise AssertionError(payload)


def exported(toolset: str, agent: str, *, returns: Callable[..., object] | None = None) -> Any:
    """Return the toolset of one tool, `look`, that an agent answers."""

    def look() -> str:
        """Look."""
        return ""

    spec = func_tool(returns or look, toolset=toolset, name="look").spec
    return ToolsetRegistration(name=toolset, specs=[spec], executor=AgentRoute(agent=agent))


async def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something holds; at most so many seconds by the clock of the event loop.

    Raises:
        TimeoutError: it never came to be.
    """
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # the condition is any function
            await asyncio.sleep(0.002)


async def parked(handle: RunHandle) -> None:
    """Wait until a part of the run waits, whatever the others do."""
    async for event in handle.events():
        if isinstance(event, RunPhase) and event.phase == "waiting":
            return


def is_paired(given: PlanInput) -> bool:
    """Return whether every call that a planner sees has its result right behind it."""
    for message, following in zip(given.messages, [*given.messages[1:], None], strict=True):
        if isinstance(message, AssistantMessage) and message.calls:
            if not isinstance(following, ToolMessage):
                return False
            if [one.id for one in following.answers] != [call.id for call in message.calls]:
                return False
    return True


async def cancelled_while(condition: Callable[[], object], handle: RunHandle) -> None:
    """Cancel a run as soon as something holds."""
    await until(condition)
    await handle.cancel("enough")
