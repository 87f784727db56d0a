"""The beginning of a log, whenever a run is canceled, and the time that a run took."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agents.tools import agent, calling, exported, running
from tests.selection import first
from toolgen.agents import (
    Agents,
    Await,
    FinalResult,
    PlanInput,
    PlannerError,
    RunHandle,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine, PayloadTooLargeError
from toolgen.events.hub import Events
from toolgen.events.records import RunStarted, ToolEnd
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime


async def test_the_log_of_a_run_that_is_canceled_at_once_is_whole() -> None:
    hub = Events()
    subscription = hub.subscribe()
    async with running(agent("x.agent", ScriptedPlanner(["done"])), events=hub) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await handle.cancel("never mind")
        log = await runtime.runs.events(handle.run_id)
        followed = [event async for event in handle.events()]
    types = [event.type for event in log]
    assert (types[0], types[-2:]) == ("run_started", ["run_completed", "run_stream_end"])
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    first = log[0]
    assert isinstance(first, RunStarted)
    assert (first.agent, first.session_id, first.time > 0) == ("x.agent", "s", True)
    hub.close()
    assert [event async for event in subscription] == followed == list(log)


async def test_a_child_that_is_canceled_at_once_names_the_run_above_it() -> None:
    """As soon as its parent says that there is one."""

    async def begun(handle: RunHandle) -> str:
        async for event in handle.events():
            if event.type == "agent_run_started":
                return event.child_run_id
        raise AssertionError("there is no child")

    top, low = ScriptedPlanner([calling("look"), "done"]), ScriptedPlanner([FinalResult(result="seen")])
    agents = agent("x.low", low), agent("x.top", top, exported("x.lows", "x.low"))
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        child = await begun(handle)
        await handle.cancel("never mind")
        (first, *_, last) = await runtime.runs.events(child)
    assert isinstance(first, RunStarted)
    assert (first.agent, first.parent_run_id) == ("x.low", handle.run_id)
    assert last.type == "run_stream_end"


async def test_a_call_that_waited_is_told_once_beside_agents() -> None:
    hub = Events()
    subscription = hub.subscribe(types=["tool_end", "run_stream_end"])
    async with running(agent("x.agent", ScriptedPlanner([])), events=hub) as (runtime, _):
        waiting = (await runtime.call("ask", {}, CallMeta(run_id="r"))).suspension
        assert waiting is not None
        assert (await runtime.suspensions.answer(waiting.token, "Ada")).status == "ok"
    hub.close()
    told = [(event.type, event.run_id, getattr(event, "status", "")) async for event in subscription]
    assert told == [("tool_end", "r", "suspended"), ("tool_end", "r", "ok")]


async def test_the_run_that_answers_a_call_that_waited_is_told_once() -> None:
    low = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), FinalResult(result="seen")])
    answered = exported("x.lows", "x.low")
    asked = replace(answered, specs=[replace(spec, confirm=ConfirmSpec()) for spec in answered.specs])
    hub = Events()
    subscription = hub.subscribe(types=["tool_end"])
    agents = agent("x.low", low), agent("x.top", ScriptedPlanner([]), asked)
    async with running(*agents, events=hub) as (runtime, _):
        waiting = (await runtime.call("look", {})).suspension
        assert waiting is not None
        assert (await runtime.suspensions.answer(waiting.token, {"approved": True})).status == "ok"
    hub.close()
    told = [(event.tool, event.status) async for event in subscription if isinstance(event, ToolEnd)]
    assert told == [("x.lows.look", "suspended"), ("x.tools.add", "ok"), ("x.lows.look", "ok")]


class Name(str):
    """A text that can be watched."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_large", first([False, True]))
async def test_who_executes_no_run_keeps_nothing_of_it(tmp_path: Path, is_large: bool) -> None:
    engine = InProcessEngine(tmp_path / "runs.db", worker=is_large, max_payload_bytes=5_000)
    runtime = Runtime(engine=engine)
    agents = Agents(runtime, sessions=SqliteSessionStore(tmp_path / "sessions.db"))
    agents.register(agent("x.agent", ScriptedPlanner(["done"])))
    async with runtime:
        name = Name("ada")
        kept = weakref.ref(name)
        client = agents_of(runtime).client("x.agent")
        try:
            await client.start("Go." * (2_000 if is_large else 1), session_id="s", requested_by=name)
            assert not is_large
        except PayloadTooLargeError:
            assert is_large
        del name
        gc.collect()
        assert kept() is None


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def after(self, seconds: float, answer: str) -> ScriptStep:
        """Return a step that takes so long."""

        def step(given: PlanInput) -> str:
            self.now += seconds
            return answer

        return step


async def test_a_run_says_how_long_it_took() -> None:
    clock = Clock()
    planner = ScriptedPlanner(
        [Await(kind="clarification", question="Which?"), clock.after(2.5, "done")],
        ["at once"],
    )
    engine = InProcessEngine(clock=clock)
    async with Runtime(engine=engine) as runtime:
        agents_of(runtime).register(agent("x.agent", planner))
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        waiting = await handle.settled()
        assert waiting.telemetry.duration_s == 0.0, "it goes on"
        clock.now += 60
        await handle.answer(waiting.awaiting[0], "that")
        output = await handle.result()
        assert output.telemetry.duration_s == 62.5
        clock.now += 60
        assert (await handle.result()).telemetry.duration_s == 62.5
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output
        assert (
            await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        ).telemetry.duration_s == 0.0


async def test_a_run_that_failed_says_so_too() -> None:
    clock = Clock()

    def fails(given: PlanInput) -> str:
        clock.now += 3
        raise PlannerError("no")

    engine = InProcessEngine(clock=clock)
    async with Runtime(engine=engine) as runtime:
        agents_of(runtime).register(agent("x.agent", ScriptedPlanner([fails])))
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    assert (output.status, output.telemetry.duration_s) == ("failed", 3.0)


@pytest.mark.parametrize("run_id", [f"call_{0:032x}", "r/work:c"])
async def test_a_run_is_told_whatever_its_id_looks_like(run_id: str) -> None:
    """Also with one that the runtime would give to the run of a call that waits."""
    hub = Events()
    subscription = hub.subscribe()
    async with running(agent("x.agent", ScriptedPlanner(["done"])), events=hub) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s", run_id=run_id)
        await handle.result()
        log = await runtime.runs.events(run_id)
    hub.close()
    assert [event async for event in subscription if event.seq] == list(log)
