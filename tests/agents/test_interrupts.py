"""What people say into a run, pauses, and the list of runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    Users,
    agent,
    calling,
    engine_of,
    is_paired,
    parked,
    ran,
    running,
    texts,
    until,
    waiting,
)
from toolgen.agents import (
    Await,
    HandOver,
    InterruptsNotAllowedError,
    PlanInput,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.runtime import (
    Runtime,
    Suspended,
)
from toolgen.waiting.errors import (
    BadAnswerError,
    ConflictingAnswerError,
)


async def test_clients_speak_into_a_run_and_pause_it() -> None:
    planning, go_on = asyncio.Event(), asyncio.Event()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await planning.wait()
        await handle.pause()
        go_on.set()
        assert (await waiting(handle)).kind == "pause"
        await handle.interrupt("Be quick.")
        await handle.resume("Now.")

    async def later(given: PlanInput) -> Any:
        planning.set()
        await go_on.wait()
        return calling(("add", {"a": 1, "b": 1}))

    planner = ScriptedPlanner([later, texts])
    found = await ran(planner, RunPolicy(interrupts_allowed=True), drive=drive)
    assert found.output.text == "[Go.] [] [results] [Be quick.] [Now.]"

    async def refused(runtime: Runtime, handle: RunHandle) -> None:
        for interrupt in (handle.interrupt("Hey."), handle.pause(), handle.resume()):
            with pytest.raises(InterruptsNotAllowedError, match="does not accept interrupts"):
                await interrupt

    await ran(ScriptedPlanner(["done"]), drive=refused)


async def test_what_is_said_into_a_run_joins_its_next_planning() -> None:
    bench = Bench()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: "at the gate" in bench.did)
        await handle.interrupt("One.")
        await handle.interrupt("Two.")
        await handle.resume("Three.")
        await handle.pause()
        bench.gate.set()
        await parked(handle)
        await handle.interrupt("Four.")
        await handle.pause()
        await handle.resume()

    planner = ScriptedPlanner([calling("through"), texts])
    policy = RunPolicy(interrupts_allowed=True, time_budget=5)
    found = await ran(planner, policy, toolsets=(bench.toolset,), drive=drive)
    assert found.output.text == "[Go.] [] [results] [One.] [Two.] [Three.] [Four.]"
    assert is_paired(planner.inputs[1])


@pytest.mark.parametrize(
    "payload",
    [None, "go", [], {}, {"kind": "pause"}, {"kind": 1, "text": ""}, {"kind": "message", "text": 1}],
)
async def test_a_malformed_interrupt_changes_nothing(payload: Any) -> None:
    bench = Bench()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: "at the gate" in bench.did)
        await engine_of(runtime).signal(handle.run_id, "interrupt", payload, signal_id="1")
        await handle.interrupt("One.")
        bench.gate.set()

    planner = ScriptedPlanner([calling("through"), texts])
    policy = RunPolicy(interrupts_allowed=True, time_budget=5)
    found = await ran(planner, policy, toolsets=(bench.toolset,), drive=drive)
    assert found.output.text == "[Go.] [] [results] [One.]"


def asking(**more: Any) -> dict[str, Any]:
    """Return options of a runtime that can ask, and that knows who calls."""
    return {"interceptors": [Users()], **more}


async def all_waiting(handle: RunHandle) -> tuple[Suspended, ...]:
    output = await asyncio.wait_for(handle.settled(), 60)
    assert output.status == "waiting"
    return output.awaiting


def boom() -> str:
    """Fail."""
    raise RuntimeError("no")


async def test_words_and_pauses_wait_while_a_person_is_asked() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        await handle.interrupt("One.")
        await handle.pause()
        await handle.interrupt("Two.")
        await handle.answer(asked, "Bo")
        (paused,) = await all_waiting(handle)
        assert paused.kind == "pause"
        await handle.resume()

    planner = ScriptedPlanner([calling("ask"), texts])
    policy = RunPolicy(interrupts_allowed=True, time_budget=5)
    found = await ran(planner, policy, drive=drive, options=asking())
    assert found.output.text == "[Go.] [] [results] [One.] [Two.]"


async def test_a_paused_run_is_canceled() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = await all_waiting(handle)
        await handle.pause()
        await handle.answer(asked, "Bo")
        assert [one.kind for one in await all_waiting(handle)] == ["pause"]
        await handle.cancel()
        await handle.answer(asked, "Bo")  # as it was already
        with pytest.raises(ConflictingAnswerError):
            await handle.answer(asked, "Cy")

    planner = ScriptedPlanner([Await(kind="clarification", question="Which?"), texts])
    found = await ran(planner, RunPolicy(interrupts_allowed=True), drive=drive)
    assert found.output.status == "canceled"
    assert len(planner.inputs) == 1


async def test_what_says_nothing_to_anybody_is_refused() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await handle.pause()
        (paused,) = await all_waiting(handle)
        with pytest.raises(BadAnswerError, match="paused without a question"):
            await handle.answer(paused, "on")
        await handle.resume()
        await handle.result()
        for late in (handle.interrupt("late"), handle.pause(), handle.resume()):
            with pytest.raises(InterruptsNotAllowedError, match="is over"):
                await late

    async def soon(given: PlanInput) -> Any:
        await asyncio.sleep(0.01)
        return calling("boom")

    policy = RunPolicy(interrupts_allowed=True)
    await ran(ScriptedPlanner([soon, "done"]), policy, drive=drive)


async def test_runs_are_listed_by_how_they_ended() -> None:
    planner = ScriptedPlanner(["done"], [Await(kind="clarification", question="?")], [])
    async with running(agent("x.agent", planner)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        outputs = [await client.run("Go.", session_id=f"s{number}") for number in range(5)]
        for state in ("completed", "waiting", "failed"):
            listed = await agents_of(runtime).list_runs(state=state)
            expected = [output for output in reversed(outputs) if output.status == state]
            assert [output.run_id for output in listed] == [output.run_id for output in expected]
        assert [one.run_id for one in await agents_of(runtime).list_runs(state="completed", limit=1)] == [
            outputs[0].run_id
        ]


async def test_interrupts_reach_the_agent_that_took_over() -> None:
    async def slowly(given: PlanInput) -> Any:
        await asyncio.sleep(1)
        return calling(("add", {"a": 1, "b": 1}))

    policy = RunPolicy(interrupts_allowed=True)
    first = ScriptedPlanner([HandOver(agent="x.b", message="Yours."), slowly, texts])
    second = ScriptedPlanner([slowly, texts])
    agents = (
        agent("x.a", first, transfers=("x.b",), policy=policy),
        agent("x.b", second, policy=policy),
    )
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.a").start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.pause()
        assert (await waiting(handle)).run_id != handle.run_id
        await handle.interrupt("Louder.")
        await handle.resume("Now.")
        output = await handle.result()
    assert output.agent == "x.b"
    assert output.text == "[Go.] [Yours.] [Yours.] [] [results] [Louder.] [Now.]"


async def test_interrupts_reach_the_agent_that_has_the_conversation_back() -> None:
    async def slowly(given: PlanInput) -> Any:
        await asyncio.sleep(1)
        return calling(("add", {"a": 1, "b": 1}))

    policy = RunPolicy(interrupts_allowed=True)
    first = ScriptedPlanner([HandOver(agent="x.b", message="Yours."), slowly, texts])
    agents = (
        agent("x.a", first, transfers=("x.b",), policy=policy),
        agent("x.b", ScriptedPlanner([calling("back")])),
    )
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.a").start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        await handle.interrupt("Still there?")
        output = await handle.result()
    assert output.text.endswith("[results] [Still there?]")


async def test_an_agent_that_took_over_may_take_no_interrupts() -> None:
    async def slowly(given: PlanInput) -> Any:
        await asyncio.sleep(1)
        return "done"

    policy = RunPolicy(interrupts_allowed=True)
    first = ScriptedPlanner([HandOver(agent="x.b", message="Yours.")])
    agents = (
        agent("x.a", first, transfers=("x.b",), policy=policy),
        agent("x.b", ScriptedPlanner([slowly])),
    )
    async with running(*agents) as (runtime, _):
        handle = await agents_of(runtime).client("x.a").start("Go.", session_id="s")
        await asyncio.sleep(0.5)
        with pytest.raises(InterruptsNotAllowedError, match="does not accept interrupts"):
            await handle.interrupt("Hey.")
        await handle.result()
