"""Runs by chance: whatever a planner wants and people say, log, transcript and replay are whole."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from tests.runtime.agent_tools import exported, is_paired
from tests.runtime.run_tools import TOOLS, agent, calling, check_log, running
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolContext, ToolOutcome, Unfinished
from toolgen.runtime.agents import (
    Await,
    CallTools,
    FinalResponse,
    HandOver,
    PlanInput,
    PlanResult,
    RunHandle,
    RunPolicy,
)
from toolgen.runtime.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime.functions import function_toolset
from toolgen.runtime.suspension import MemorySuspensionStore
from toolgen.runtime.suspension_errors import SuspensionError

SEEDS = 40


async def keep(name: str, seconds: float, ctx: ToolContext) -> str:
    """Keep a name."""
    state: Any = ctx.state
    state.append("names", name)
    await asyncio.sleep(seconds)
    return name


async def twice(name: str, seconds: float, ctx: ToolContext) -> str | Unfinished:
    """Ask for two things, one after the other."""
    state: Any = ctx.state
    state.append("names", name)
    await asyncio.sleep(seconds)
    return name if ctx.answer == "yes" else ToolOutcome.ask("Yes?")


EXTRA = function_toolset("x.extra", [keep, twice])
CHOICES: list[Any] = ["nope", "boom", "ask", "back", ("add", {"a": 1}), ("add", {"a": 1, "b": 2})]
RARE: list[Any] = [
    "hang",
    ("finish", {"text": "over"}),
    ("go", {"agent": "x.low"}),
    ("go", {"agent": "x.no"}),
]


class Erratic:
    """A planner that wants anything."""

    def __init__(self, chance: Random, *own: str) -> None:
        self._chance, self._own = chance, own
        self.is_whole = True
        """Every call that it saw had its result."""

    async def plan_start(self, given: PlanInput) -> PlanResult:
        chance = self._chance
        self.is_whole = self.is_whole and is_paired(given)
        await asyncio.sleep(chance.choice([0, 0, 0.002]))
        kind = chance.random()
        if kind < 0.55:
            return calling(*(self._call() for _ in range(chance.randrange(1, 6))))
        if kind < 0.65:
            return Await(kind="clarification", question="?", restrict_to_tool=chance.choice(["", "add"]))
        if kind < 0.7:
            return CallTools(calls=())
        if kind < 0.73:
            return HandOver(agent="x.low")
        return FinalResponse(text="done")

    plan_resume = plan_start

    def _call(self) -> Any:
        chance = self._chance
        if chance.random() < 0.1:
            return chance.choice(RARE)
        timed = {"name": "n", "seconds": chance.choice([0, 0, 0.002, 0.005])}
        return chance.choice([*CHOICES, *self._own, ("keep", timed), ("twice", timed)])


def limits(chance: Random) -> RunPolicy:
    return RunPolicy(
        max_tool_calls=chance.choice([None, 5, 12]),
        max_consecutive_failed_tool_calls=chance.choice([None, 2]),
        time_budget=chance.choice([None, 0.03, 0.1]),
        tool_timeout=0.02,
        interrupts_allowed=True,
        on_missing_fields=chance.choice(["resume", "await_clarification", "finalize"]),
    )


async def driven(chance: Random, handle: RunHandle) -> None:
    """Bring a run to its end: answer, speak, pause and cancel by chance."""
    cancels = chance.random() < 0.25
    while (output := await asyncio.wait_for(handle.settled(), 5)).status == "waiting":
        if cancels and chance.random() < 0.4:
            await handle.cancel("enough")
            continue
        if chance.random() < 0.2:
            await handle.interrupt("Hey.")
        asked = chance.choice(output.awaiting)
        if asked.kind == "pause":
            await handle.resume()
        elif chance.random() < 0.1:
            await handle.pause()
        with suppress(SuspensionError):
            await asyncio.wait_for(handle.answer(asked, chance.choice(["yes", "no"])), 5)


async def check(runtime: Runtime, engine: InProcessEngine, run_id: str) -> None:
    """Check a run that is over, and its children."""
    status = await engine.status(run_id)
    check_log(await runtime.run_snapshot(run_id), await runtime.list_run_events(run_id))
    assert status.state != "failed", status.error
    if status.state == "completed":
        assert await engine.replay(run_id) == status.output
    for child in status.children:
        await check(runtime, engine, child)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_runs_are_whole_whatever_happens(seed: int) -> None:
    chance = Random(seed)
    low, top = Erratic(chance), Erratic(chance, "look")
    async with running(
        agent("x.low", low, TOOLS, EXTRA, policy=limits(chance)),
        agent(
            "x.top",
            top,
            TOOLS,
            EXTRA,
            exported("x.lows", "x.low"),
            policy=limits(chance),
            transfers=("x.low",) if chance.random() < 0.3 else (),
        ),
        suspensions=MemorySuspensionStore(),
        capabilities=[StateCapability(MemoryStateStore())],
        max_parallel=chance.choice([1, 2, 16]),
    ) as (runtime, engine):
        for _ in range(2):
            handle = await runtime.agent("x.top").start("Go.", session_id="s")
            await driven(chance, handle)
            await check(runtime, engine, handle.run_id)
    assert low.is_whole
    assert top.is_whole
