"""Agents as tools and agents that take over: child runs, typed results, transfers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.agents.tools import (
    TOOLS,
    agent,
    calling,
    check_log,
    everything,
    first_answer,
    running,
    texts,
)
from toolgen.agents import (
    FinalResult,
    HandOver,
    PlanInput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.engines import InProcessEngine
from toolgen.events.records import AgentRunStarted
from toolgen.runtime import (
    Answer,
    CallMeta,
    Hook,
    Runtime,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolsetRegistration,
    Verdict,
)
from toolgen.shapes.design.model import ToolModel


class Finding(ToolModel):
    cause: str
    sure: bool = True


def diagnose(device: str) -> Finding:
    """Find out what is wrong."""
    return Finding(cause=device)


def exported(*, prompt: str = "", agent_id: str = "x.low") -> ToolsetRegistration:
    spec = func_tool(diagnose, toolset="x.checks").spec
    prompts = {spec.id: prompt} if prompt else {}
    route = AgentRoute(agent=agent_id, prompts=prompts)
    return ToolsetRegistration(name="x.checks", specs=[spec], executor=route)


DIAGNOSE = calling(("diagnose", {"device": "lamp"}))

DUST: dict[str, Any] = {"cause": "dust", "sure": False}


@asynccontextmanager
async def two(
    low: ScriptedPlanner, top: ScriptedPlanner, prompt: str = "", **options: Any
) -> AsyncIterator[Runtime]:
    """Yield a runtime with an agent and another one that it calls."""
    policy = options.pop("policy", None)
    agents = (agent("x.low", low), agent("x.top", top, exported(prompt=prompt), TOOLS, policy=policy))
    async with running(*agents, **options) as (runtime, _):
        yield runtime


async def test_a_child_is_a_run_of_its_own() -> None:
    low = ScriptedPlanner([FinalResult(result=DUST)])
    top = ScriptedPlanner([calling(("diagnose", {"device": "lamp"}), ("add", {"a": 1, "b": 1})), everything])
    async with two(low, top, "Look at {device}.") as runtime:
        output = await agents_of(runtime).client("x.top").run("Go.", session_id="s", labels={"user": "mira"})
        child = f"{output.run_id}/child:call_0_0"
        inner = await agents_of(runtime).snapshot(child)
        events = await runtime.runs.events(output.run_id)
        check_log(inner, await runtime.runs.events(child))
        (said,) = await agents_of(runtime).sessions.transcript("s")
    assert output.text == '{"cause":"dust","sure":false} | 2'
    assert (output.children_count, output.tool_calls) == (1, 2)
    assert (inner.agent, inner.status, inner.result, inner.session_id) == ("x.low", "completed", DUST, "s")
    (started,) = [event for event in events if event.type == "agent_run_started"]
    assert (started.child_run_id, started.agent, started.tool_call_id) == (child, "x.low", "call_0_0")
    (given,) = low.inputs
    assert (texts(given), given.labels) == ("[Look at lamp.]", {"user": "mira"})
    assert given.result_schema == func_tool(diagnose).spec.result.schema
    assert said.turn.run_id == output.run_id  # the child is no part of the conversation


async def test_without_a_prompt_a_child_reads_the_arguments() -> None:
    low = ScriptedPlanner([FinalResult(result=DUST)])
    async with two(low, ScriptedPlanner([DIAGNOSE, everything])) as runtime:
        await agents_of(runtime).client("x.top").one_shot("Go.")
    assert texts(low.inputs[0]) == '[{"device":"lamp"}]'


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (["It is dust.", FinalResult(result=DUST)], '{"cause":"dust","sure":false}'),
        (['{"cause": "dust", "sure": false}'], '{"cause":"dust","sure":false}'),
        ([FinalResult(result={"sure": 1}), FinalResult(result=DUST)], '{"cause":"dust","sure":false}'),
    ],
)
async def test_prose_is_repaired_once(said: list[Any], text: str) -> None:
    async with two(ScriptedPlanner(said), ScriptedPlanner([DIAGNOSE, everything])) as runtime:
        assert (await agents_of(runtime).client("x.top").one_shot("Go.")).text == text


async def test_prose_twice_is_a_malformed_response() -> None:
    low = ScriptedPlanner(["It is dust.", "Dust, I say."])
    top = ScriptedPlanner([DIAGNOSE, everything])
    async with two(low, top) as runtime:
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        direct = await runtime.call("diagnose", {"device": "lamp"}, CallMeta(tool_call_id="c1"))
    assert output.text.startswith('{"error":"diagnose failed: the final result does not fit: $ is not JSON')
    (hint,) = top.inputs[1].retry_hints
    assert hint.reason == "malformed_response"
    assert direct.status == "error"
    assert direct.error is not None  # another worker may have executed it, and the log has no cause
    assert "$ is not JSON" in direct.error.message
    assert direct.run_link is not None
    assert (direct.run_link.agent, direct.run_link.parent_tool_call_id) == ("x.low", "c1")


def test_a_direct_call_is_a_run_too_in_each_event_loop() -> None:
    low = ScriptedPlanner([FinalResult(result=DUST)])
    runtime = Runtime()
    agents_of(runtime).register(agent("x.low", low))
    runtime.tools.register(exported())
    for _ in range(2):
        result = asyncio.run(runtime.call("diagnose", {"device": "lamp"}))
        assert (result.status, result.children_count) == ("ok", 1)
        assert result.json == b'{"cause":"dust","sure":false}'
        assert isinstance(result.result, Finding)


async def test_what_a_child_waits_for_stands_in_its_parent() -> None:
    low = ScriptedPlanner([calling("ask"), lambda given: FinalResult(result={"cause": first_answer(given)})])
    top = ScriptedPlanner([DIAGNOSE, everything])
    async with two(low, top, engine=InProcessEngine()) as runtime:
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        output = await asyncio.wait_for(handle.settled(), 60)
        (asked,) = output.awaiting
        assert (output.status, asked.run_id) == ("waiting", f"{handle.run_id}/child:call_0_0")
        await runtime.suspensions.answer(asked.token, "Bo")
        assert (await handle.result()).text == '{"cause":"\\"hello Bo\\"","sure":true}'


async def test_a_canceled_parent_cancels_its_children() -> None:
    async with two(ScriptedPlanner([calling("hang")]), ScriptedPlanner([DIAGNOSE])) as runtime:
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        async for event in handle.events():
            if event.type == "agent_run_started":
                break
        await handle.cancel("enough")
        child = (
            await agents_of(runtime)
            .client("x.low")
            .handle(f"{handle.run_id}/child:call_0_0", session_id="s")
            .result()
        )
        output = await handle.result()
        check_log(output, await runtime.runs.events(handle.run_id))
    assert (output.status, child.status, child.error) == ("canceled", "canceled", "enough")


async def test_a_child_has_no_more_time_than_its_parent() -> None:
    low = ScriptedPlanner([calling("hang"), lambda given: FinalResult(result={"cause": given.closing})])
    top = ScriptedPlanner([DIAGNOSE, everything])
    async with two(low, top, policy=RunPolicy(time_budget=0.25)) as runtime:
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        output = await asyncio.wait_for(handle.result(), 60)
        child = await agents_of(runtime).snapshot(f"{handle.run_id}/child:call_0_0")
    assert child.stop == "time_budget"
    assert output.status == "completed"


async def test_agents_do_not_call_one_another_for_ever() -> None:
    def down(given: PlanInput) -> FinalResult:
        return FinalResult(result={"cause": "depth" if "too deep" in first_answer(given) else "above"})

    low = ScriptedPlanner([DIAGNOSE, down])
    async with running(agent("x.low", low, exported())) as (runtime, _):
        output = await agents_of(runtime).client("x.low").one_shot("Go.")
        deepest = output
        for _ in range(7):
            log = await runtime.runs.events(deepest.run_id)
            (below,) = [event.child_run_id for event in log if isinstance(event, AgentRunStarted)]
            deepest = await agents_of(runtime).snapshot(below)
    assert output.children_count == 7
    assert deepest.result == {"cause": "depth", "sure": True}


class Sees(Hook):
    """Notes what becomes of calls of agents' tools, and rewrites it."""

    seen: list[str]

    def __init__(self) -> None:
        self.seen = []

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        self.seen.append(f"{call.tool} {result.children_count}")
        return Answer(result=Finding(cause="rewritten"))


async def test_after_hooks_see_what_a_child_found() -> None:
    hook = Sees()
    low, top = ScriptedPlanner([FinalResult(result=DUST)]), ScriptedPlanner([DIAGNOSE, everything])
    async with two(low, top, hooks=[hook]) as runtime:
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
    assert hook.seen == ["x.checks.diagnose 1"]
    assert output.text == '{"cause":"rewritten","sure":true}'


@asynccontextmanager
async def pair(first: ScriptedPlanner, second: ScriptedPlanner) -> AsyncIterator[Runtime]:
    """Yield a runtime with two agents that may hand over to each other."""
    agents = (agent("x.a", first, transfers=("x.b",)), agent("x.b", second, transfers=("x.a",)))
    async with running(*agents) as (runtime, _):
        yield runtime


async def test_another_agent_takes_over_and_keeps_the_conversation() -> None:
    first = ScriptedPlanner([HandOver(agent="x.b")], ["never"])
    second = ScriptedPlanner([texts], [lambda given: f"b: {texts(given)}"])
    async with pair(first, second) as runtime:
        output = await agents_of(runtime).client("x.a").run("Hi.", session_id="s")
        assert (output.agent, output.stop, output.status) == ("x.b", "transferred", "completed")
        assert output.text == "[Hi.] [] [The conversation was handed over to you; continue it.]"
        assert (await agents_of(runtime).sessions.get("s")).agent == "x.b"
        after = await agents_of(runtime).client("x.a").run("And now?", session_id="s")
        assert after.agent == "x.b"
        assert after.text.endswith("[And now?]")
        turns = [said.turn for said in await agents_of(runtime).sessions.transcript("s")]
        assert [turn.agent for turn in turns] == ["x.a", "x.b", "x.b"]
        assert turns[0].id == turns[1].id != turns[2].id


async def test_a_tool_hands_over_and_another_gives_back() -> None:
    first = ScriptedPlanner([calling(("go", {"agent": "x.b"})), texts])
    second = ScriptedPlanner([calling("back")])
    async with pair(first, second) as runtime:
        output = await agents_of(runtime).client("x.a").run("Hi.", session_id="s")
        assert output.text.endswith('[x.b gave the conversation back. "giving back"]')
        assert (output.agent, output.children_count) == ("x.a", 1)
        assert (await agents_of(runtime).sessions.get("s")).agent == "x.a"


async def test_nobody_hands_over_to_whom_the_design_does_not_name() -> None:
    first = ScriptedPlanner([calling(("go", {"agent": "x.nobody"})), texts])
    async with pair(first, ScriptedPlanner([])) as runtime:
        output = await agents_of(runtime).client("x.a").run("Hi.", session_id="s")
    assert output.text.endswith("[the conversation cannot be handed over to x.nobody]")


async def test_a_circle_of_transfers_ends() -> None:
    first, second = (
        ScriptedPlanner([HandOver(agent="x.b"), "a"]),
        ScriptedPlanner([HandOver(agent="x.a"), "b"]),
    )
    async with pair(first, second) as runtime:
        output = await asyncio.wait_for(agents_of(runtime).client("x.a").run("Hi.", session_id="s"), 60)
    assert (output.status, output.children_count, output.text) == ("completed", 7, "b")


async def test_a_run_that_answers_a_call_hands_over_to_nobody() -> None:
    low = ScriptedPlanner([HandOver(agent="x.top"), FinalResult(result=DUST)])
    top = ScriptedPlanner([DIAGNOSE, everything])
    agents = (agent("x.low", low, transfers=("x.top",)), agent("x.top", top, exported()))
    async with running(*agents) as (runtime, _):
        assert (
            await agents_of(runtime).client("x.top").one_shot("Go.")
        ).text == '{"cause":"dust","sure":false}'
    assert texts(low.inputs[1]).endswith("[x.top cannot take over; no agent can]")
