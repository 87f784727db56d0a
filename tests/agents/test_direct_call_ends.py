"""The end of direct calls of agents' tools: taken back, canceled, or left by their caller."""

from __future__ import annotations

import asyncio

import pytest

from tests.agents.asking_agents import META, YES, answered, call, desk, result_of
from tests.agents.tools import calling
from toolgen.agents import Await, FinalResult, PlanInput, ScriptedPlanner
from toolgen.calls.call import CallName
from toolgen.engines import RunState
from toolgen.runtime import Runtime
from toolgen.waiting.errors import LateAnswerError
from toolgen.waiting.resolving import unknown_ends


async def test_to_take_a_planners_question_back_ends_its_run() -> None:
    asks = Await(kind="clarification", question="Which house?")
    async with desk(ScriptedPlanner([asks])) as runtime:
        result = await call(runtime)
        (asked,) = result.suspensions
        ended = await runtime.suspensions.cancel(asked.token, "nobody is here")
    assert (ended.status, ended.json[:22]) == ("error", b'{"error":"look failed:')


async def test_to_cancel_a_question_ends_that_call_alone() -> None:
    both = calling(("burn", {"id": "a"}), ("burn", {"id": "b"}))
    async with desk(ScriptedPlanner([both, result_of])) as runtime:
        result = await call(runtime)
        first = min(result.suspensions, key=lambda one: str(one.arguments["id"]))
        result = await runtime.suspensions.cancel(first.token, "not that one")
        assert [asked.arguments["id"] for asked in result.suspensions] == ["b"]
        ended = await answered(runtime, result, YES)
    assert ended.result == '{"error":"not that one","code":"canceled"} | "b is ash"'


async def test_a_caller_that_is_cancelled_cancels_the_run_and_its_questions() -> None:
    async with desk(ScriptedPlanner([calling("hang", ("burn", {"id": "a"}))])) as runtime:
        task = asyncio.create_task(runtime.call("look", {}, META))
        async with asyncio.timeout(20):
            while not (waiting := await runtime.suspensions.list("s")):  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiting[0].outer is not None
        assert await states(runtime, waiting[0].outer.run_id, waiting[0].run_id) == ["canceled", "canceled"]
        with pytest.raises(LateAnswerError):
            await runtime.suspensions.answer(waiting[0].token, YES)


async def test_to_cancel_the_run_of_the_call_ends_all_below_it() -> None:
    async with desk(ScriptedPlanner([calling(("burn", {"id": "a"}))])) as runtime:
        (asked,) = (await call(runtime)).suspensions
        assert asked.outer is not None
        await runtime.runs.cancel(asked.outer.run_id, "enough")
        assert await states(runtime, asked.outer.run_id, asked.run_id) == ["canceled", "canceled"]
        assert runtime.engine is not None
        log = [event async for _, event in runtime.engine.events(asked.outer.run_id, follow=False)]
        known = "unknown" if runtime.engine.caps.has_many_workers else "error"  # by the log of the run below
        assert [event["status"] for event in log if event["type"] == "tool_end"] == [known]
        assert await unknown_ends(runtime.engine, asked.outer.run_id) == []


async def states(runtime: Runtime, *runs: str) -> list[RunState]:
    assert runtime.engine is not None
    return [(await runtime.engine.status(run_id)).state for run_id in runs]


@pytest.mark.parametrize("is_detached", [True, False])
async def test_the_run_of_an_agent_goes_on_without_the_caller_of_a_detached_call(is_detached: bool) -> None:
    """As that of any call whose peer asks for the result later, under the name that it has given it."""
    gate, planning = asyncio.Event(), asyncio.Event()

    async def plan(given: PlanInput) -> FinalResult:
        planning.set()
        await gate.wait()
        return FinalResult(result="seen")

    name = CallName(interface="test", call_id="c1", is_detached=is_detached)
    async with desk(ScriptedPlanner([plan])) as runtime:
        call = asyncio.ensure_future(runtime.call_once(name, "look", {}, META))
        await planning.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        gate.set()
        again = await runtime.call_once(name, "look", {}, META)
        assert (again.status == "ok", again.json == b'"seen"') == (is_detached, is_detached)
