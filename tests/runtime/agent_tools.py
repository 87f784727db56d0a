"""More tools for the tests of agents: they count, wait for one another, and use what a host provides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from gen.assistant.toolsets import devices
from toolgen.agents import AssistantMessage, PlanInput, RunHandle, ToolMessage
from toolgen.runtime import ToolContext, ToolOutcome, ToolsetRegistration, Unfinished
from toolgen.runtime.events.records import RunPhase
from toolgen.runtime.toolsets.agent_route import AgentRoute
from toolgen.runtime.toolsets.functions import func_tool, function_toolset


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
    return ToolsetRegistration(name=toolset, specs=[spec], executor=AgentRoute(agent=agent), format=1)


async def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
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
