"""What ends a turn: tools that say so, escalations, transfers, and what the next turn sees of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.tools import (
    TOOLS,
    Bench,
    Ran,
    agent,
    answers,
    calling,
    check_log,
    first_answer,
    is_paired,
    parked,
    ran,
    running,
    texts,
    work,
)
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    FinalResult,
    PlanInput,
    PlannedCall,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    ToolMessage,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.names import Hint
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    StaticToolset,
    SyncToolContext,
    ToolContext,
    ToolError,
    ToolOutcome,
)

ADD = ("add", {"a": 1, "b": 2})


async def test_a_tool_may_end_the_turn() -> None:
    found = await ran(ScriptedPlanner([calling(ADD, ("finish", {"text": "over"}))]))
    assert (found.output.text, found.output.result, found.output.stop) == (
        "It is over.",
        "over",
        "terminal_tool",
    )
    assert [event.text for event in found.of("assistant_reply")] == ["It is over."]


async def test_a_final_result_without_a_schema_is_kept() -> None:
    found: Ran = await ran(ScriptedPlanner([FinalResult(result={"n": 1})]))
    assert (found.output.text, found.output.result) == ('{"n":1}', {"n": 1})
    assert len(TOOLS.bound) == 7


def failing(ctx: SyncToolContext) -> str:
    """Ask for what a failed call does not get."""
    ctx.actions.transfer("x.other")
    ctx.actions.escalate()
    raise ToolError("it does not work")


@pytest.mark.asyncio(loop_factories=["real"])  # a tool runs in a thread
async def test_a_failed_call_asks_nothing_of_its_agent() -> None:
    toolset = function_toolset("x.failing", [failing])
    found = await ran(ScriptedPlanner([calling("failing"), texts]), toolsets=(toolset,))
    assert (found.output.stop, found.output.text) == ("final", "[Go.] [] [results]")


async def test_what_escalates_is_what_the_run_ends_with() -> None:
    found = await ran(ScriptedPlanner([calling("back", "boom")]))
    assert (found.output.status, found.output.stop) == ("completed", "escalated")
    assert (found.output.text, found.output.result) == ('"giving back"', "giving back")


async def over(text: str) -> str:
    """End the turn."""
    if text == "no":
        raise ToolError("not yet")
    return text


async def test_a_terminal_tool_ends_the_turn_if_it_succeeds() -> None:
    toolset = StaticToolset(name="local.functions", bound=(func_tool(over, is_terminal=True),))
    calls = calling(("over", {"text": "no"})), calling(("over", {"text": "a"}), ("over", {"text": "no"}))
    planner = ScriptedPlanner([*calls])
    found = await ran(planner, toolsets=(toolset,))
    assert (found.output.stop, found.output.text, found.output.result) == ("terminal_tool", '"a"', "a")
    assert len(planner.inputs) == 2
    ends = sorted(found.of("tool_end"), key=lambda end: end.tool_call_id)
    assert [event.is_final for event in ends] == [False, True, False]


async def test_the_next_turn_sees_how_a_terminal_tool_ended_the_one_before() -> None:
    async def again(runtime: Any, handle: Any) -> None:
        await handle.result()
        output = await agents_of(runtime).client("x.agent").run("And?", session_id="s")
        assert output.text == "[Go.] [] [results] [And?]"

    await ran(ScriptedPlanner([calling(("finish", {"text": "x"}))], [texts]), drive=again)


async def move(ctx: ToolContext) -> str:
    """Move, and fail."""
    ctx.actions.transfer("x.other")
    ctx.actions.escalate()
    raise ToolError("no way")


async def test_what_a_failed_call_asked_of_its_agent_is_not_done() -> None:
    planner = ScriptedPlanner([calling("move"), first_answer])
    found = await ran(planner, toolsets=(function_toolset("x.moves", [move]),))
    assert (found.output.stop, found.output.text) == ("final", '{"error":"no way"}')


async def test_a_transfer_to_nobody_is_told() -> None:
    planner = ScriptedPlanner([calling(("go", {"agent": "x.ghost"}), ("add", {"a": 1, "b": 1})), texts])
    found = await ran(planner)
    assert found.output.text == "[Go.] [] [results] [the conversation cannot be handed over to x.ghost]"
    assert answers(planner.inputs[1]) == ['"going"', "2"]


async def test_a_final_result_of_several_is_the_answer() -> None:
    async def over(text: str) -> ToolOutcome[str]:
        """End."""
        await asyncio.sleep(0.01 if text == "first" else 0)
        return ToolOutcome.final(text)

    planner = ScriptedPlanner([calling(("over", {"text": "first"}), ("over", {"text": "second"}))])
    found = await ran(planner, toolsets=(function_toolset("x.ends", [over]),))
    assert (found.output.result, found.output.stop) == ("second", "terminal_tool")


async def test_a_closing_turn_leaves_no_call_without_a_result() -> None:
    """The next turn sees neither calls that were not taken nor the provider's words for them."""
    useless = CallTools(calls=(PlannedCall.of("add", {"a": 1, "b": 1}),), text="Hm.", native={"calls": 1})
    planner = ScriptedPlanner([calling("boom"), useless], [texts])
    policy = RunPolicy(max_consecutive_failed_tool_calls=1)
    async with running(agent("x.agent", planner, policy=policy)) as (runtime, _):
        first = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        second = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
    assert (first.status, first.stop) == ("failed", "failure_cap")
    assert second.text == "[Go.] [] [results] [Hm.] [Again.]"
    assert is_paired(planner.inputs[-1])
    hm = planner.inputs[-1].messages[3]
    assert isinstance(hm, AssistantMessage)
    assert (hm.calls, hm.native) == ((), None)


async def test_what_a_planner_sees_is_what_was_kept() -> None:
    """However the steps went: after failures, refusals and repairs every call has its result."""
    seen: list[PlanInput] = []

    def look(given: PlanInput) -> str:
        seen.append(given)
        return "done"

    script: list[ScriptStep] = [
        calling("boom", "nope"),
        CallTools(calls=()),
        calling(("add", {"a": 1}), text="I try."),
        look,
    ]
    async with running(agent("x.agent", ScriptedPlanner(script))) as (runtime, engine):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        check_log(output, await runtime.runs.events(output.run_id))
        await engine.replay(output.run_id)
    (given,) = seen
    assert is_paired(given)
    assert [len(one.answers) for one in given.messages if isinstance(one, ToolMessage)] == [2, 1]
    assert TOOLS.name == "x.tools"


@pytest.mark.parametrize("is_idempotent", [True, False])
async def test_a_run_goes_on_where_its_engine_was_stopped(is_idempotent: bool) -> None:
    """What was done is not done again. What was not is begun again where it may be, and told once."""
    bench = Bench()
    hints: dict[Hint, bool] = {"idempotent": is_idempotent}
    bench.toolset = StaticToolset(
        name="x.bench",
        bound=tuple(
            replace(one, spec=replace(one.spec, annotations=hints)) if one.spec.name == "through" else one
            for one in bench.toolset.bound
        ),
    )
    batch = calling(work("a"), "through", ("ask", {"name": "q"}))
    planner = ScriptedPlanner([batch, lambda given: str(answers(given))])
    registration = agent("x.agent", planner, bench.toolset)
    async with running(registration, engine=InProcessEngine()) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await parked(handle)
        async for event in handle.events():  # the store may take its time
            if event.type == "tool_end" and event.tool_call_id == "call_0_0":
                break
        for _ in range(2):
            await engine.close()
            await engine.start()
        bench.gate.set()
        (asked,) = (await handle.settled()).awaiting
        await handle.answer(asked, "yes")
        output = await handle.result()
        check_log(output, await runtime.runs.events(handle.run_id))
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output
    unknown = '{"unknown":"its result was not kept; it may have run"}'
    through = '"through"' if is_idempotent else unknown
    assert output.text == str(['"a"', through, '"q: yes"'])
    assert [bench.did.count(one) for one in ("a begins", "q heard yes")] == [1, 1]
    assert bench.did.count("at the gate") in ((2, 3) if is_idempotent else (1,))
    assert len(planner.inputs) == 2
