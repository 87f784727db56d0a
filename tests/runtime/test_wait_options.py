"""What a host says of calls that wait: for how long, and how many."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.agents.tools import agent, answers, calling, running
from tests.runtime.tools import EMPTY, META, SITE, TOOL, Listing, nothing, options, runtime, spec, waiting
from tests.virtual_time import now
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, ToolContext, ToolOutcome, ToolResult, Unfinished
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import LateAnswerError, NoEngineError

CONFIRMED = spec(confirm=ConfirmSpec())
YES: dict[str, Any] = {"approved": True}
in_virtual_time = pytest.mark.asyncio(loop_factories=["virtual"])


# For how long.


@in_virtual_time
async def test_an_answer_is_taken_until_its_time_is_over(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, waiting=options(expires_s=60))
    early, late = [waiting(await made.call(TOOL, SITE, META)) for _ in range(2)]
    assert early.expires_at == now() + 60
    await asyncio.sleep(59)
    assert (await made.suspensions.answer(early.token, YES)).status == "ok"
    await asyncio.sleep(2)
    with pytest.raises(LateAnswerError):
        await made.suspensions.answer(late.token, YES)
    assert (await made.suspensions.list(), len(executor.calls)) == ((), 1)
    output: Any = (await engine.result(late.run_id)).output
    assert (output["status"], output["result"]) == ("denied", {"error": "nobody answered in time"})
    log = [event async for _, event in engine.events(late.run_id)]
    assert [event["type"] for event in log] == ["tool_end", "run_stream_end"]
    assert (log[0]["status"], log[0]["tool_call_id"]) == ("denied", "c1")


@in_virtual_time
async def test_the_outcome_is_known_after_the_time_to_answer(engine: InProcessEngine) -> None:
    made = runtime(Listing(), CONFIRMED, engine=engine, waiting=options(expires_s=60))
    asked = waiting(await made.call(TOOL, SITE, META))
    first = await made.suspensions.answer(asked.token, YES)
    await asyncio.sleep(1000)
    assert (await made.suspensions.answer(asked.token, YES)).json == first.json


@in_virtual_time
async def test_each_question_has_its_own_time(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return nothing() if isinstance(ctx.answer, str) else ToolOutcome.ask("Why?")

    made = runtime(Listing(asks), CONFIRMED, engine=engine, waiting=options(expires_s=60))
    first = waiting(await made.call(TOOL, SITE, META))
    await asyncio.sleep(50)
    second = waiting(await made.suspensions.answer(first.token, YES))
    await asyncio.sleep(50)
    assert (await made.suspensions.answer(second.token, "because")).status == "ok"


@in_virtual_time
async def test_a_run_of_an_agent_goes_on_without_the_answer() -> None:
    async def add(a: int) -> int:
        """Add."""
        raise AssertionError(a)

    tool = func_tool(add, toolset="x.sums", confirm=ConfirmSpec())
    planner = ScriptedPlanner([calling(("add", {"a": 2})), lambda given: answers(given)[0]])
    registration = agent("x.agent", planner, function_toolset("x.sums", [tool]))
    async with running(registration, waiting=options(expires_s=60)) as (made, _):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s")
        (awaiting,) = (await handle.settled()).awaiting
        began = now()
        assert (await handle.result()).text == '{"error":"add was not run: nobody answered in time"}'
        assert now() - began == 60
        with pytest.raises(LateAnswerError):
            await made.suspensions.answer(awaiting.token, YES)


# How many.


async def test_a_session_has_a_number_of_calls_that_wait(engine: InProcessEngine) -> None:
    executor = Listing()
    made = runtime(executor, CONFIRMED, engine=engine, waiting=options(max_per_session=2))
    first, second, third = [await made.call(TOOL, SITE, META) for _ in range(3)]
    assert [first.status, second.status, third.status] == ["suspended", "suspended", "denied"]
    assert json.loads(third.json) == {
        "error": "list_devices needs approval, but too many calls already wait for an answer; "
        "answer one of them first",
        "code": "approval_unavailable",
    }
    assert (await made.call(TOOL, SITE, CallMeta(session_id="other"))).status == "suspended"
    await made.suspensions.answer(waiting(first).token, YES)
    assert (await made.call(TOOL, SITE, META)).status == "suspended"


async def test_questions_of_tools_count_too_and_work_that_goes_on_is_let_in(engine: InProcessEngine) -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        if payload.site_id == "works":
            return ToolOutcome.pending("job-7")
        return ToolOutcome.ask("Why?")

    long = spec(long_running=LongRunningSpec())
    made = runtime(Listing(asks), long, engine=engine, waiting=options(max_per_session=1))
    assert (await made.call(TOOL, SITE, META)).status == "suspended"
    refused = await made.call(TOOL, SITE, META)
    assert (refused.status, json.loads(refused.json)["code"]) == ("denied", "approval_unavailable")
    assert (await made.call(TOOL, {"site_id": "works"}, META)).status == "suspended", "its work has begun"


@in_virtual_time
async def test_a_run_has_a_number_of_calls_that_wait() -> None:
    """Those that ask first; and the loop does the same when it runs again from its journal."""

    async def ask(name: str, seconds: float) -> str | Unfinished:
        """Ask."""
        await asyncio.sleep(seconds)
        return ToolOutcome.ask(f"{name}?")

    def asking(name: str, seconds: float) -> tuple[str, dict[str, Json]]:
        return "ask", {"name": name, "seconds": seconds}

    batch = calling(asking("a", 3), asking("b", 2), asking("c", 1))
    planner = ScriptedPlanner([batch, lambda given: " ".join(answers(given))])
    registration = agent("x.agent", planner, function_toolset("x.tools", [ask]))
    async with running(registration, waiting=options(max_per_run=2)) as (made, engine):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s")
        awaiting = (await handle.settled()).awaiting
        assert [one.question for one in awaiting] == ["c?", "b?"]
        for one in awaiting:
            await made.suspensions.cancel(one.token, "no")
        text = (await handle.result()).text
        assert text.startswith('{"error":"too many calls of this run are already waiting for an answer"}')
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output


async def test_a_call_that_is_over_makes_room_for_another_one_of_its_run() -> None:
    async def ask(ctx: ToolContext) -> str | Unfinished:
        """Ask twice."""
        if ctx.answered(str, "First?") is None:
            return ToolOutcome.ask("First?")
        return ctx.answered(str, "Second?") or ToolOutcome.ask("Second?")

    planner = ScriptedPlanner([calling("ask"), calling("ask"), lambda given: answers(given)[0]])
    registration = agent("x.agent", planner, function_toolset("x.tools", [ask]))
    async with running(registration, waiting=options(max_per_run=1)) as (made, _):
        handle = await agents_of(made).client("x.agent").start("Go.", session_id="s")
        for answer in "abcd":
            (awaiting,) = (await handle.settled()).awaiting
            await handle.answer(awaiting, answer)
        assert (await handle.result()).text == '"d"'


# Nobody.


async def failed(tool: Any, executor: Listing) -> ToolResult:
    made = runtime(executor, tool)
    return await made.call(TOOL, SITE, META)


async def test_without_an_engine_nobody_can_be_asked() -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.ask("Why?")

    for tool, executor in ((CONFIRMED, Listing()), (spec(), Listing(asks))):
        result = await failed(tool, executor)
        assert (result.status, json.loads(result.json)["code"]) == ("denied", "approval_unavailable")
    for call in (
        Runtime().suspensions.answer("s_x", YES),
        Runtime().suspensions.list(),
        Runtime().suspensions.show("s_x"),
    ):
        with pytest.raises(NoEngineError, match=r"Runtime\(engine=InProcessEngine\(\)\)"):
            await call


# For how long who answers waits.


@in_virtual_time
async def test_who_answers_does_not_wait_for_ever(engine: InProcessEngine) -> None:
    async def hangs(payload: Any, ctx: Any) -> Any:
        await asyncio.sleep(10)
        return nothing()

    executor = Listing(hangs)
    made = runtime(executor, CONFIRMED, engine=engine, waiting=options())
    asked = waiting(await made.call(TOOL, SITE, META))
    began = now()
    result = await made.suspensions.answer(asked.token, YES, wait_s=0.1)
    assert now() - began == pytest.approx(0.1)
    assert (result.status, result.json, result.tool_call_id) == ("running", b"", "c1")
    assert result.suspension is None
    assert await made.suspensions.list() == (), "it is answered"
    done = await made.suspensions.answer(asked.token, YES)
    assert now() - began == pytest.approx(10)
    assert (done.status, json.loads(done.json), len(executor.calls)) == ("ok", EMPTY, 1)
    later = await made.suspensions.answer(asked.token, YES, wait_s=0)
    assert (later.status, later.json) == (done.status, done.json)


@in_virtual_time
async def test_who_answers_may_wait_as_long_as_it_takes(engine: InProcessEngine) -> None:
    async def hangs(payload: Any, ctx: Any) -> Any:
        await asyncio.sleep(1_000)
        return nothing()

    made = runtime(Listing(hangs), CONFIRMED, engine=engine, waiting=options())
    asked = waiting(await made.call(TOOL, SITE, META))
    assert (await made.suspensions.answer(asked.token, YES, wait_s=None)).status == "ok"
