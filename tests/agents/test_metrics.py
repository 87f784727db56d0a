"""Metrics of runs, of their calls and of the questions of planners, with OpenTelemetry's own SDK."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.agents.tools import calling, first_answer, running, waiting
from tests.metered import Collected
from tests.virtual_time import now
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    Await,
    PlanInput,
    PlannerUnavailableError,
    ScriptedPlanner,
    agents_of,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.functions.tools import function_toolset
from toolgen.calls.toolsets.dynamic import DynamicToolset
from toolgen.engines import InProcessEngine
from toolgen.runtime.views import with_confirmation

AGENT = {"gen_ai.agent.id": "x.agent", "gen_ai.agent.name": "agent"}
ADD = {"gen_ai.tool.name": "add", "toolgen.tool": "x.sums.add"}


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    await asyncio.sleep(2)
    return a + b


def adding(planner: ScriptedPlanner, *, is_confirmed: bool = False) -> AgentRegistration:
    toolset: DynamicToolset = function_toolset("x.sums", [add])
    if is_confirmed:
        toolset = with_confirmation(toolset, hint="Add {a} and {b}?")
    spec = AgentSpec(id="x.agent", description="Adds.")
    return AgentRegistration(spec=spec, planner=planner, dynamic=(toolset,))


async def test_runs_are_counted_and_timed_with_their_calls() -> None:
    collected = Collected()
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3}), ("made_up", {})), first_answer], [])
    async with running(adding(planner), metrics=collected.metrics) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        assert (await client.run("Go.", session_id="s")).text == "5"
        assert (await client.run("Go.", session_id="s")).status == "failed"
        points = collected.points()
    completed, failed = {**AGENT, "toolgen.status": "completed"}, {**AGENT, "toolgen.status": "failed"}
    operation = {"gen_ai.operation.name": "invoke_agent"}
    assert points["toolgen.runs.started"] == [(AGENT, 2)]
    assert points["toolgen.runs.ended"] == [(completed, 1), (failed, 1)]
    assert points["toolgen.runs.open"] == [(AGENT, 0)]
    assert points["gen_ai.invoke_agent.duration"] == [
        ({**operation, **completed}, 1),
        ({**operation, **failed, "error.type": "_OTHER"}, 1),
    ]
    assert collected.sums("gen_ai.invoke_agent.duration")[0] == pytest.approx(2, abs=0.1)
    other = {"gen_ai.tool.name": "_OTHER", "toolgen.tool": "_OTHER", "toolgen.status": "error"}
    calls = sorted(points["toolgen.calls.ended"], key=lambda point: point[0]["toolgen.tool"])
    assert calls == [
        ({**other, "error.type": "tool_error"}, 1),
        ({**ADD, "toolgen.status": "ok"}, 1),
    ]
    (measured,) = points["gen_ai.execute_tool.duration"]
    assert (measured[0]["toolgen.tool"], measured[1]) == ("x.sums.add", 1)


async def test_a_run_that_waits_is_open_and_its_approval_is_a_wait() -> None:
    collected = Collected()
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer], [])
    one = adding(planner, is_confirmed=True)
    async with running(one, metrics=collected.metrics) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        assert collected.points()["toolgen.runs.open"] == [(AGENT, 1)]
        assert "toolgen.calls.ended" not in collected.points()
        await asyncio.sleep(60)
        await runtime.suspensions.answer(asked.token, {"approved": True}, by="jo")
        await handle.result()
        points = collected.points()
    answered = {"toolgen.kind": "confirmation", "toolgen.outcome": "answered"}
    assert points["toolgen.runs.open"] == [(AGENT, 0)]
    assert points["toolgen.suspensions.opened"] == [({"toolgen.kind": "confirmation"}, 1)]
    assert points["toolgen.suspensions.ended"] == [(answered, 1)]
    assert collected.sums("toolgen.suspensions.duration") == pytest.approx([60], abs=1)
    assert points["toolgen.calls.ended"] == [({**ADD, "toolgen.status": "ok"}, 1)]


async def test_a_question_of_a_planner_is_a_wait() -> None:
    collected = Collected()
    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), lambda given: "done"], [])
    async with running(adding(planner), metrics=collected.metrics) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        asked = await waiting(handle)
        await asyncio.sleep(60)
        await handle.answer(asked, "this one")
        await handle.result()
        points = collected.points()
    answered = {"toolgen.kind": "clarification", "toolgen.outcome": "answered"}
    assert points["toolgen.suspensions.opened"] == [({"toolgen.kind": "clarification"}, 1)]
    assert points["toolgen.suspensions.ended"] == [(answered, 1)]
    assert collected.sums("toolgen.suspensions.duration") == pytest.approx([60], abs=1)


async def test_a_planning_that_is_tried_again_is_counted() -> None:
    collected = Collected()
    tried: list[int] = []

    def plan(given: PlanInput) -> str:
        tried.append(1)
        if len(tried) == 1:
            raise PlannerUnavailableError("busy")
        return "done"

    async with running(adding(ScriptedPlanner([plan])), metrics=collected.metrics) as (runtime, _):
        assert (await agents_of(runtime).client("x.agent").run("Go.", session_id="s")).text == "done"
    retried = {"toolgen.kind": "planning", "gen_ai.agent.id": "x.agent"}
    assert collected.points()["toolgen.retries"] == [(retried, 1)]


async def test_a_run_that_goes_on_in_another_process_is_open_there_until_it_ends(tmp_path: Path) -> None:
    sessions = SqliteSessionStore(tmp_path / "sessions.db")
    metrics = [Collected(), Collected()]
    token = ""
    for collected in metrics:
        engine = InProcessEngine(tmp_path / "runs.db", clock=now)
        planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer])
        one, kept = adding(planner, is_confirmed=True), collected.metrics
        async with running(one, engine=engine, sessions=sessions, metrics=kept) as (runtime, _):
            client = agents_of(runtime).client("x.agent")
            if not token:
                token = (await waiting(await client.start("Go.", run_id="r", session_id="s"))).token
                continue
            await runtime.suspensions.answer(token, {"approved": True}, by="jo")
            await client.handle("r", session_id="s").result()
    before, after = (one.points() for one in metrics)
    assert before["toolgen.runs.open"] == [(AGENT, 1)]
    assert after["toolgen.runs.open"] == [(AGENT, 0)]
    assert after["toolgen.runs.ended"] == [({**AGENT, "toolgen.status": "completed"}, 1)]
    assert "toolgen.runs.started" not in after
    assert "gen_ai.invoke_agent.duration" not in after


async def test_a_run_that_is_canceled_has_ended() -> None:
    collected = Collected()
    planner = ScriptedPlanner([calling(("add", {"a": 2, "b": 3})), first_answer], [])
    async with running(adding(planner, is_confirmed=True), metrics=collected.metrics) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await waiting(handle)
        await runtime.runs.cancel(handle.run_id, "enough")
        points = collected.points()
    assert points["toolgen.runs.ended"] == [({**AGENT, "toolgen.status": "canceled"}, 1)]
    assert points["toolgen.runs.open"] == [(AGENT, 0)]
