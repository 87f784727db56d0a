"""Calls that agents answer, and that are cut off with the runs of these agents."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from toolgen.agents import FinalResponse, ScriptedPlanner, agents_of
from toolgen.contract.json_value import Json
from toolgen.runtime import ConfirmSpec, Continue, Hook, Suspended, ToolCall, ToolContext, ToolResult, Verdict
from toolgen.waiting.resolving import unknown_ends

from .test_outcomes import Payments
from .tools import agent, calling, exported, running

YES: Json = {"approved": True}
CASES = [
    ("run", "pay", 2),
    ("direct call", "pay", 2),
    ("approved call", "pay", 1),
    ("run", "look", 2),
    ("direct call", "pay_asked", 2),
    ("approved call", "look", 1),
]


def _asks_to_pay(waiting: tuple[Suspended, ...]) -> bool:
    return any("pay" in one.tool for one in waiting)


@pytest.mark.parametrize(("by", "tool", "depth"), CASES)
async def test_a_call_that_is_ended_with_its_agent_is_unknown_where_that_leaves_one(
    by: str, tool: str, depth: int
) -> None:
    """What only reads may be made again, and what waits for a person was not made."""
    payments, is_lost = Payments(), tool == "pay"
    agents = [agent("x.low", ScriptedPlanner([calling(tool)]), payments.toolset)]
    if depth == 2:
        agents.append(agent("x.middle", ScriptedPlanner([calling("look")]), exported("x.lows", "x.low")))
    high = exported("x.highs", agents[-1].spec.id)
    if by == "approved call":
        high.specs[0] = replace(high.specs[0], confirm=ConfirmSpec(hint="Look?"))
    agents.append(agent("x.agent", ScriptedPlanner([calling("look")]), high))
    async with running(*agents) as (runtime, engine):

        async def make() -> Any:
            if by == "run":
                return await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
            result = await runtime.call("x.highs.look", {})
            if by == "direct call":
                return result
            assert result.suspension is not None
            return await runtime.suspensions.answer(result.suspension.token, YES, by="jo")

        made = asyncio.ensure_future(make())
        while not (payments.began or _asks_to_pay(await runtime.suspensions.list())):  # noqa: ASYNC110  # of another task
            await asyncio.sleep(0.01)
        (run,) = [one.run_id for one in await engine.list_runs() if "/" not in one.run_id]
        await runtime.runs.cancel(run, "enough")
        await engine.result(run)
        *_, end = [e async for _, e in engine.events(run, follow=False) if e["type"] == "tool_end"]
        why = "the run ended before this call did; work that its agent had started may have been done"
        if is_lost or engine.caps.has_many_workers:  # those do not know what the runs below left
            assert (end["status"], end["result"]) == ("unknown", {"unknown": why})
        else:
            assert (end["status"], end["result"]) == ("error", {"error": why})
        assert len(await unknown_ends(engine, run)) == is_lost
        assert (await made).status in (end["status"], "suspended", "canceled")


class _Slow(Hook):
    """Never ends after a tool."""

    def __init__(self) -> None:
        self.held = asyncio.Event()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        self.held.set()
        await asyncio.Event().wait()
        return Continue()


@pytest.mark.parametrize("by", ["run", "direct call"])
async def test_a_call_that_is_ended_after_its_agent_is_unknown_where_that_left_one(by: str) -> None:
    """The run of the agent was over, and had left none."""
    low = agent("x.low", ScriptedPlanner([FinalResponse(text="so")]))
    high = agent("x.agent", ScriptedPlanner([calling("look")]), exported("x.highs", "x.low"))
    hook = _Slow()
    async with running(low, high, hooks=[hook]) as (runtime, engine):

        async def make() -> Any:
            if by == "run":
                return await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
            return await runtime.call("x.highs.look", {})

        made = asyncio.ensure_future(make())
        await hook.held.wait()
        (run,) = [one.run_id for one in await engine.list_runs() if "/" not in one.run_id]
        await runtime.runs.cancel(run, "enough")
        await engine.result(run)
        *_, end = [e async for _, e in engine.events(run, follow=False) if e["type"] == "tool_end"]
        assert end["status"] == ("unknown" if engine.caps.has_many_workers else "error")
        assert await unknown_ends(engine, run) == []
        assert (await made).status in (end["status"], "canceled")
