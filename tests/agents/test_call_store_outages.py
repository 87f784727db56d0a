"""Stores that are away while a call runs: what it changed is stored once, in the time of its run."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.store_outages import AWAY, EVER, LOCKED, UNKNOWN, Artifacts, Outage, States, turn
from tests.agents.test_artifacts import PAINTER, painting
from tests.agents.tools import calling, first_answer
from toolgen.agents import RunPolicy, ScriptedPlanner
from toolgen.agents.activities.batches import Batches
from toolgen.agents.planner.messages import ToolAnswer
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.state import Scope
from toolgen.calls.steps.dispatch import dispatch
from toolgen.calls.steps.frame import Frame
from toolgen.capabilities import ArtifactsCapability, Change, MemoryStateStore, StateCapability
from toolgen.engines import ActivityInfo
from toolgen.runtime import CallMeta, Runtime, StaticToolset, ToolContext, Values
from toolgen.stores import StoreError
from toolgen.stores.outages import StoreRetry


class Tools:
    """Tools that use the state, and how often they were executed."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    @property
    def toolset(self) -> StaticToolset:
        bound = tuple(func_tool(one, toolset="x.state") for one in (self.count, self.look))
        return StaticToolset(name="x.state", bound=bound)

    async def count(self, ctx: ToolContext) -> str:
        """Count a visit."""
        self.calls["count"] += 1
        state: Any = ctx.state
        state.add("visits", 1)
        return "counted"

    async def look(self, ctx: ToolContext) -> str:
        """Look how many visits there were."""
        self.calls["look"] += 1
        state: Any = ctx.state
        return str(await state.get("visits"))


@pytest.mark.parametrize("error", [AWAY, LOCKED, UNKNOWN])
async def test_a_change_of_state_is_stored_once(error: StoreError) -> None:
    tools, states = Tools(), States(Outage(error, apply=6))
    planner = ScriptedPlanner([calling("count"), first_answer])
    found = await turn(planner, MemorySessionStore(), tools.toolset, capabilities=[StateCapability(states)])
    assert (found.output.text, tools.calls["count"]) == ('"counted"', 1)
    assert await states.load("session", "s") == {"visits": 1}


async def test_a_tool_whose_own_read_fails_has_failed_and_is_not_executed_again() -> None:
    tools, states = Tools(), States(Outage(load=1))
    planner = ScriptedPlanner([calling("look"), first_answer])
    found = await turn(planner, MemorySessionStore(), tools.toolset, capabilities=[StateCapability(states)])
    assert json.loads(found.output.text)["error"].startswith("look failed with an internal error")
    assert tools.calls["look"] == 1


@pytest.mark.parametrize("error", [AWAY, LOCKED, UNKNOWN])
async def test_an_artifact_of_a_result_is_stored_once(error: StoreError) -> None:
    store = Artifacts(Outage(error, save=6))
    planner = ScriptedPlanner([calling(painting("x", 20_000)), first_answer])
    found = await turn(planner, MemorySessionStore(), PAINTER, capabilities=[ArtifactsCapability(store)])
    (artifact,) = found.output.artifacts
    assert (artifact.not_stored_reason, artifact.uri.endswith("?version=1")) == ("", True)


async def test_a_result_that_is_too_large_is_stored_when_the_store_is_there_again() -> None:
    async def write_much() -> str:
        """Write much."""
        return "x" * 2_000

    tool = func_tool(write_much)
    tool = replace(tool, spec=replace(tool.spec, max_result_bytes=500))
    toolset = StaticToolset(name="local.functions", bound=(tool,))
    store = Artifacts(Outage(save=6))
    planner = ScriptedPlanner([calling("write_much"), first_answer])
    await turn(planner, MemorySessionStore(), toolset, capabilities=[ArtifactsCapability(store)])
    assert [one.name for one in await store.listed("session/s")] == ["write_much call_0_0.json"]


async def test_the_result_of_a_call_comes_within_the_time_of_its_run() -> None:
    tools, states = Tools(), States(Outage(apply=EVER))
    planner = ScriptedPlanner([calling("count"), first_answer])
    found = await turn(
        planner,
        MemorySessionStore(),
        tools.toolset,
        policy=RunPolicy(time_budget=32.0),
        capabilities=[StateCapability(states)],
    )
    assert (found.output.text, found.output.stop) == ('"counted"', "final")


class Suspending(MemoryStateStore):
    """State in memory, which suspends before it is stored, as every server does."""

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        await asyncio.sleep(0)
        await super().apply(scope, owner, changes)


async def test_a_change_is_stored_in_the_time_of_its_own_call() -> None:
    """Another call of its batch began earlier, and its time is over."""
    states, batches = Suspending(), Batches()
    runtime = Runtime(capabilities=[StateCapability(states)])
    runtime.tools.register(Tools().toolset)
    tool = (await runtime.tools.snapshot()).directory.by_name.get("count")
    assert tool is not None
    services = runtime._services
    late = replace(services, retry_step=StoreRetry(ends_at=asyncio.get_running_loop().time() - 1).run)
    info = ActivityInfo(run_id="r", op="tool:c", attempt=1, emit=lambda _: None)
    with (
        batches.enter(info, 0, 1, late, Values()) as batch,
        batches.enter(info, 0, 0, services, Values()),
    ):
        frame = Frame(tool, b"{}", CallMeta(session_id="s"), batch.batch, services)
        result = await dispatch(frame)
        batch.leave(1)
        assert (await batch.result(frame.context, result)).status == "ok"
    assert await states.load("session", "s") == {"visits": 1}


class Silent(MemorySessionStore):
    """Sessions whose server never says that it has the result of a call."""

    async def answer(self, run_id: str, answer: ToolAnswer) -> None:
        await asyncio.Event().wait()


async def test_a_session_that_never_takes_a_result_keeps_it_from_no_run() -> None:
    tools = Tools()
    found = await turn(
        ScriptedPlanner([calling("count"), first_answer]),
        Silent(),
        tools.toolset,
        policy=RunPolicy(time_budget=32.0),
        capabilities=[StateCapability(MemoryStateStore())],
    )
    assert (found.output.text, tools.calls["count"]) == ('"counted"', 1)
