"""Direct calls of agents' tools: where the run of the agent asks somebody, the call waits like any other."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.asking_agents import ASKING, META, NO, YES, answered, burn, call, desk, result_of
from tests.agents.tools import TOOLS, agent, calling, engine_of, exported, running
from toolgen.agents import Await, FinalResult, PlanInput, RunPolicy, ScriptedPlanner, agents_of
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.events.hub import Events
from toolgen.events.records import Event
from toolgen.runtime import (
    ConfirmSpec,
    Continue,
    Hook,
    Runtime,
    Scheduling,
    ToolCall,
    ToolContext,
    ToolResult,
)
from toolgen.waiting.asking import question_order
from toolgen.waiting.errors import NotAllowedAnswerError
from toolgen.waiting.options import WaitOptions, requester_may_not_approve


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "answer", "told"),
    [
        ("burn", {"id": "p1"}, "confirmation", YES, '"p1 is ash"'),
        ("burn", {"id": "p1"}, "confirmation", NO, '{"error":"no","code":"denied"}'),
        ("ask", {}, "input", "Bo", '"hello Bo"'),
        ("sign_in", {}, "credential", {"available": True}, '"inside"'),
        ("update", {}, "pending", "2.4.0", '"2.4.0"'),
    ],
)  # fmt: skip
async def test_what_the_run_of_an_agent_asks_suspends_the_call(
    tool: str, arguments: Any, kind: str, answer: Json, told: str
) -> None:
    async with desk(ScriptedPlanner([calling((tool, arguments)), result_of])) as runtime:
        result = await call(runtime)
        (asked,) = result.suspensions
        assert (result.tool, result.tool_call_id, asked.kind) == ("x.lows.look", "c", kind)
        assert asked.tool == f"{'x.tools' if tool == 'ask' else 'x.asking'}.{tool}"
        assert asked.outer is not None
        assert (asked.outer.tool, asked.outer.tool_call_id) == ("x.lows.look", "c")
        assert asked.run_id == f"{asked.outer.run_id}/child:1"
        assert await runtime.suspensions.list("s") == (asked,)
        assert await runtime.suspensions.show(asked.token) == asked
        ended = await answered(runtime, result, answer)
        again = await answered(runtime, result, answer)
        assert await runtime.suspensions.list("s") == ()
    assert (ended.status, ended.result, ended.children_count) == ("ok", told, 1)
    assert ended.run_link is not None
    assert (ended.run_link.run_id, ended.run_link.agent) == (asked.run_id, "x.low")
    assert (again.status, again.json, again.run_link) == ("ok", ended.json, ended.run_link)


async def test_two_questions_at_once_are_answered_in_any_order() -> None:
    for first in (0, 1):
        both = calling(("burn", {"id": "a"}), ("burn", {"id": "b"}))
        async with desk(ScriptedPlanner([both, result_of])) as runtime:
            result = await call(runtime)
            asked = {str(one.arguments["id"]): one for one in result.suspensions}
            assert sorted(asked) == ["a", "b"]
            left = await runtime.suspensions.answer(asked["ab"[first]].token, YES)
            assert left.status == "suspended"
            assert left.suspensions == (asked["ba"[first]],)
            ended = await answered(runtime, left, NO)
        parts = ['"a is ash"', '"b is ash"']
        parts[1 - first] = '{"error":"no","code":"denied"}'
        assert ended.result == " | ".join(parts)


async def test_a_planner_asks_through_the_call() -> None:
    asks = Await(kind="clarification", question="Which house?")

    def end(given: PlanInput) -> FinalResult:
        return FinalResult(result=given.messages[-1].text)  # type: ignore[union-attr]  # a person's

    async with desk(ScriptedPlanner([asks, end])) as runtime:
        result = await call(runtime)
        (asked,) = result.suspensions
        assert (asked.kind, asked.tool, asked.question) == ("input", "x.lows.look", "Which house?")
        assert (asked.requested_by, asked.expires_at) == ("mira", 0)
        assert await runtime.suspensions.list("s") == (asked,)
        assert await runtime.suspensions.show(asked.token) == asked
        assert (await answered(runtime, result, "the red one")).result == "the red one"


async def test_agents_two_deep_ask_through_the_call() -> None:
    top = ScriptedPlanner([calling("look", ("burn", {"id": "top"})), result_of])
    low = ScriptedPlanner([calling(("burn", {"id": "low"})), result_of])
    agents = (
        agent("x.low", low, ASKING),
        agent("x.top", top, exported("x.lows", "x.low"), ASKING),
    )
    async with running(*agents) as (runtime, _):
        runtime.tools.register(exported("x.tops", "x.top"))
        async with asyncio.timeout(60):
            result = await runtime.call("x.tops.look", {}, META)
        assert [asked.arguments["id"] for asked in result.suspensions] == ["top", "low"]
        assert {asked.outer for asked in result.suspensions} == {result.suspensions[0].outer}
        assert {asked.requested_by for asked in result.suspensions} == {"mira"}
        result = await runtime.suspensions.answer(result.suspensions[1].token, YES)
        ended = await answered(runtime, result, YES)
    assert ended.result == '"\\"low is ash\\"" | "top is ash"'
    assert ended.children_count == 2


async def test_the_requester_may_not_approve_what_the_agent_does() -> None:
    options = WaitOptions(rule=requester_may_not_approve)
    async with desk(ScriptedPlanner([calling(("burn", {"id": "a"})), result_of]), waiting=options) as runtime:
        result = await call(runtime)
        with pytest.raises(NotAllowedAnswerError):
            await answered(runtime, result, YES, by="mira")
        assert (await answered(runtime, result, YES, by="ann")).result == '"a is ash"'


async def test_a_batch_has_the_results_of_the_others_while_an_agent_asks() -> None:
    async with desk(ScriptedPlanner([calling(("burn", {"id": "a"})), result_of])) as runtime:
        runtime.tools.register(function_toolset("x.sums", [func_tool(burn, toolset="x.sums", name="sum")]))
        calls = [
            ToolCall(tool="x.sums.sum", payload_json=b'{"id":"z"}', meta=META),
            ToolCall(tool="look", payload_json=b"{}", meta=META),
        ]
        async with asyncio.timeout(60):
            done, waits = await runtime.call_all(calls)
        assert (done.status, waits.status) == ("ok", "suspended")
        assert (await answered(runtime, waits, YES)).result == '"a is ash"'


async def test_each_event_of_the_call_is_told_once() -> None:
    told: list[Event] = []
    hub = Events()
    async with (
        hub.on(told.append),
        desk(ScriptedPlanner([calling(("burn", {"id": "a"})), result_of]), events=hub) as runtime,
    ):
        result = await call(runtime)
        await answered(runtime, result, YES)
    own = Counter(event.type for event in told if event.tool_call_id == "c")
    assert own == {"tool_start": 1, "agent_run_started": 1, "tool_end": 1}
    (end,) = [event for event in told if event.type == "tool_end" and event.tool_call_id == "c"]
    assert (end.status, end.tool) == ("ok", "x.lows.look")


async def test_hooks_stand_around_the_call_once() -> None:
    class Counting(Hook):
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Continue:
            self.seen.append(f"before {call.tool}")
            return Continue()

        async def after_tool(self, call: Any, result: ToolResult, ctx: ToolContext) -> Any:
            self.seen.append(f"after {result.tool} {result.status}")
            return Continue()

    hook = Counting()
    async with desk(ScriptedPlanner([FinalResult(result="so")]), hooks=[hook]) as runtime:
        assert (await call(runtime)).result == "so"
    assert hook.seen == ["before x.lows.look", "after x.lows.look ok"]


async def test_nobody_is_asked_without_an_engine() -> None:
    asks = Await(kind="clarification", question="Which house?")
    low = ScriptedPlanner([calling(("burn", {"id": "a"})), asks, first_answer_of_all])
    runtime = Runtime()
    agents_of(runtime).register(agent("x.low", low, TOOLS, ASKING))
    runtime.tools.register(exported("x.lows", "x.low"))
    async with runtime:
        result = await call(runtime)
    assert result.status == "ok", result
    assert "this runtime is not interactive or has no engine" in str(result.result)


def first_answer_of_all(given: PlanInput) -> FinalResult:
    assert "no person can be asked" in given.messages[-1].text  # type: ignore[union-attr]  # the runtime's
    answers_ = [message for message in given.messages if message.type == "tools"]
    return FinalResult(result=answers_[-1].answers[0].text)


async def test_an_approved_call_is_answered_by_an_agent_that_asks_too() -> None:
    """The approval starts the run of the agent; who gave it gets what the run asks, and so on."""
    route = exported("x.lows", "x.low")
    confirmed = replace(route, specs=[replace(route.specs[0], confirm=ConfirmSpec(hint="Look?"))])
    low = agent("x.low", ScriptedPlanner([calling(("burn", {"id": "a"})), result_of]), ASKING)
    async with running(low) as (runtime, engine):
        runtime.tools.register(confirmed)
        result = await call(runtime)
        (own,) = result.suspensions
        assert (own.question, own.outer) == ("Look?", None)
        result = await answered(runtime, result, YES)
        (below,) = result.suspensions
        assert below.outer is not None
        assert (below.question, below.outer.run_id) == ("Burn a?", own.run_id)
        ended = await answered(runtime, result, YES)
        again = [await runtime.suspensions.answer(token, YES) for token in (own.token, below.token)]
        log = [event async for _, event in engine.events(own.run_id, follow=False)]
        status = await engine.status(own.run_id)
        assert await engine.replay(own.run_id) == status.output if hasattr(engine, "replay") else True
    assert (ended.status, ended.result) == ("ok", '"a is ash"')
    assert {(one.status, one.json) for one in again} == {("ok", ended.json)}
    assert [event["status"] for event in log if event["type"] == "tool_end"] == ["ok"]


async def test_a_denied_call_starts_no_agent() -> None:
    route = exported("x.lows", "x.low")
    confirmed = replace(route, specs=[replace(route.specs[0], confirm=ConfirmSpec(hint="Look?"))])
    async with running(agent("x.low", ScriptedPlanner([]), ASKING)) as (runtime, _):
        runtime.tools.register(confirmed)
        result = await answered(runtime, await call(runtime), NO)
    assert (result.status, result.json) == ("denied", b'{"error":"no","code":"denied"}')


async def test_the_time_of_the_agent_does_not_pass_while_it_waits() -> None:
    async with desk(
        ScriptedPlanner([calling(("burn", {"id": "a"})), result_of]),
        scheduling=Scheduling(tool_timeout_s=5.0),
    ) as runtime:
        agents_of(runtime).override_policy("x.low", RunPolicy(time_budget=5.0))
        result = await call(runtime)
        assert result.status == "suspended"
        assert (await answered(runtime, result, YES)).result == '"a is ash"'


async def test_a_run_that_is_paused_is_waited_for() -> None:
    """Nobody can answer it by a token; the client that paused it lets it go on."""
    policy = RunPolicy(interrupts_allowed=True)
    low = agent("x.low", ScriptedPlanner([calling("hang"), FinalResult(result="so")]), TOOLS, policy=policy)
    async with running(low) as (runtime, engine):
        runtime.tools.register(exported("x.lows", "x.low"))
        task = asyncio.create_task(call(runtime))
        async with asyncio.timeout(20):
            while not (runs := [one for one in await engine.list_runs() if "/" in one.run_id]):  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0.01)
        handle = agents_of(runtime).client("x.low").handle(runs[0].run_id, session_id="s")
        await handle.pause()
        while (await handle.output()).status != "waiting":  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(1)
        assert not task.done()
        await handle.resume()
        assert (await task).result == "so"


async def test_what_a_person_has_to_answer_comes_before_work_and_in_the_order_of_the_calls() -> None:
    batch = calling("update", "look", ("burn", {"id": "top"}))
    top = agent("x.top", ScriptedPlanner([batch, result_of]), exported("x.lows", "x.low"), ASKING)
    low = agent("x.low", ScriptedPlanner([calling(("burn", {"id": "low"})), result_of]), ASKING)
    async with running(low, top) as (runtime, _):
        runtime.tools.register(exported("x.tops", "x.top"))
        result = await runtime.call("x.tops.look", {}, META)
        assert [asked.kind for asked in result.suspensions] == ["confirmation", "confirmation", "pending"]
        assert [asked.arguments.get("id") for asked in result.suspensions] == ["top", "low", None]
        assert sorted(await runtime.suspensions.list("s"), key=question_order) == list(result.suspensions)


async def test_work_that_is_acknowledged_in_the_run_is_in_the_result_of_the_call() -> None:
    """With its token, and also where the call is made again, until somebody has delivered its result."""
    name = CallName(interface="test", call_id="c1")
    async with desk(ScriptedPlanner([calling("order"), result_of])) as runtime:
        results = [await runtime.call_once(name, "look", {}, META) for _ in range(2)]
        (work,) = await runtime.suspensions.list("s")
        assert (work.tool, work.kind, work.handle) == ("x.asking.order", "pending", "job-2")
        for result in results:
            assert (result.status, result.result, result.suspensions) == ("ok", '"ordered"', ())
            assert result.run_link is not None
            assert result.run_link.pending == (work,)
        kept = [one.output for one in await engine_of(runtime).list_runs()]
        assert work.token not in json.dumps(kept)
        ended = await runtime.suspensions.answer(work.token, "here")
        assert (ended.status, ended.result) == ("ok", "here")
        again = await runtime.call_once(name, "look", {}, META)
        assert again.run_link is not None
        assert again.run_link.pending == ()


async def test_a_call_is_not_made_again_whose_agent_has_begun() -> None:
    """A run of an agent that was cancelled may have had effects."""
    planning = asyncio.Event()

    async def plan(given: PlanInput) -> FinalResult:
        planning.set()
        await asyncio.Event().wait()
        raise AssertionError("it is cancelled")

    async with desk(ScriptedPlanner([plan], ["again"])) as runtime:
        call = asyncio.ensure_future(
            runtime.call_once(CallName(interface="test", call_id="c1"), "look", {}, META)
        )
        await planning.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        again = await runtime.call_once(CallName(interface="test", call_id="c1"), "look", {}, META)
        assert again.status in ("error", "unknown")
        assert b"reference" not in again.json
