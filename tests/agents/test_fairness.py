"""A run that makes hundreds of calls at once: what others notice of it, and what becomes of its batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.tools import agent, answers, calling, ran, running
from tests.selection import first
from tests.virtual_time import now
from toolgen.agents import PlanInput, RunPolicy, ScriptedPlanner, ToolMessage, agents_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import CallScope
from toolgen.engines import InProcessEngine
from toolgen.engines.in_process.live_run import AT_ONCE
from toolgen.events.records import ToolEnd, ToolStart
from toolgen.runtime import ToolContext


@pytest.mark.exhaustive
async def test_a_small_run_goes_on_beside_a_large_batch() -> None:
    made: list[int] = []
    first = asyncio.Event()

    async def count(upto: int) -> int:
        """Count, without an await."""
        if upto >= 0:
            made.append(upto)
            first.set()
        return upto

    toolset, many = function_toolset("x.count", [count]), 800
    large = ScriptedPlanner([calling(*(("count", {"upto": n}) for n in range(many))), results])
    one = calling(("count", {"upto": -1}))
    small = ScriptedPlanner([one, one, "done"])
    engine = InProcessEngine(clock=now)
    allowed = RunPolicy(max_tool_calls=many)
    agents = agent("x.large", large, toolset, policy=allowed), agent("x.small", small, toolset)
    async with running(*agents, engine=engine) as (runtime, _):
        clients = agents_of(runtime)
        handle = await clients.client("x.large").start("Go.", session_id="s")
        await first.wait()
        before, turns = len(made), 0
        assert before <= 2 * AT_ONCE
        task = asyncio.ensure_future(clients.client("x.small").one_shot("Go."))
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert task.result().text == "done"
        assert turns < 60
        assert len(made) - before <= turns + AT_ONCE
        assert (await handle.result()).text == f"{list(range(many))}"
        events = await runtime.runs.events(handle.run_id)
    ids = [f"call_0_{number}" for number in range(many)]
    assert [event.tool_call_id for event in events if isinstance(event, ToolStart)] == ids
    assert [event.tool_call_id for event in events if isinstance(event, ToolEnd)] == ids


def results(given: PlanInput) -> str:
    return f"[{', '.join(answers(given))}]"


class Ledger:
    """A capability that keeps what calls entered, and how many were closed together."""

    name = "ledger"

    def __init__(self) -> None:
        self.closed: list[list[int]] = []

    def open(self, call: CallScope) -> list[int]:
        return []

    async def close(self, opened: Sequence[tuple[Any, bool]]) -> None:
        self.closed.append([number for entered, _ in opened for number in entered])


@pytest.mark.exhaustive
@pytest.mark.parametrize("turns", first([0, 1, 5]))
async def test_changes_of_a_large_batch_are_merged_at_once(turns: int) -> None:
    async def enter(number: int, ctx: ToolContext) -> int:
        """Enter a number."""
        ledger: list[int] = ctx.ledger  # type: ignore[attr-defined]  # a capability of this test
        ledger.append(number)
        for _ in range(turns):
            await asyncio.sleep(0)
        return number

    ledger, many = Ledger(), 300
    planner = ScriptedPlanner([calling(*(("enter", {"number": n}) for n in range(many))), results])
    toolset = function_toolset("x.ledger", [enter])
    allowed = RunPolicy(max_tool_calls=many)
    found = await ran(planner, allowed, toolsets=(toolset,), options={"capabilities": [ledger]})
    assert ledger.closed == [list(range(many))]
    assert found.output.text == f"{list(range(many))}"


@pytest.mark.exhaustive
async def test_a_batch_stays_one_where_many_of_its_calls_are_refused() -> None:
    async def enter(number: int, ctx: ToolContext) -> int:
        """Enter a number."""
        ledger: list[int] = ctx.ledger  # type: ignore[attr-defined]  # a capability of this test
        ledger.append(number)
        return number

    ledger = Ledger()
    batch = calling(("enter", {"number": 1}), *["nothing"] * 300, ("enter", {"number": 2}))
    planner = ScriptedPlanner([batch, "done"])
    toolset = function_toolset("x.ledger", [enter])
    allowed = RunPolicy(max_tool_calls=400)
    await ran(planner, allowed, toolsets=(toolset,), options={"capabilities": [ledger]})
    assert ledger.closed == [[1, 2]]


async def test_calls_that_were_not_started_when_their_run_was_canceled_were_not_run() -> None:
    made: list[int] = []

    async def count(upto: int) -> int:
        """Count."""
        made.append(upto)
        return upto

    many = 300
    planner = ScriptedPlanner([calling(*(("count", {"upto": n}) for n in range(many)))], ["again"])

    engine = InProcessEngine(clock=now)
    toolset = function_toolset("x.count", [count])
    policy = RunPolicy(max_tool_calls=many)
    async with running(agent("x.agent", planner, toolset, policy=policy), engine=engine) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        async for event in handle.events():
            if isinstance(event, ToolStart):
                break
        await handle.cancel("enough")
        events = await runtime.runs.events(handle.run_id)
        started = sum(isinstance(event, ToolStart) for event in events)
        await client.run("Again.", session_id="s")
    assert made == []
    assert 0 < started < many
    (heard,) = [message for message in planner.inputs[1].messages if isinstance(message, ToolMessage)]
    assert [answer.status for answer in heard.answers] == ["error"] * many
    assert heard.answers[-1].text == '{"error":"count was not run: the run ended before"}'
