"""What a run does with the calls of its planner, whatever the model writes and however long a call takes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.runtime.agent_tools import Bench, Devices, exported, is_paired, parked
from tests.runtime.run_tools import (
    TOOLS,
    agent,
    answers,
    calling,
    check_log,
    first_answer,
    ran,
    running,
    texts,
)
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    PlanInput,
    PlannedCall,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    ToolMessage,
    agents_of,
)
from toolgen.runtime import StaticToolset, ToolContext, ToolError, ToolOutcome, ToolsetRegistration
from toolgen.runtime.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime.events.records import StateConflict, ToolEnd, as_json
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.suspension import MemorySuspensionStore


def work(name: str, seconds: float = 0.0) -> tuple[str, dict[str, Any]]:
    return "work", {"name": name, "seconds": seconds}


async def test_calls_go_on_side_by_side_and_each_ends_in_its_time() -> None:
    bench = Bench()
    planner = ScriptedPlanner([calling(work("slow", 0.08), work("quick")), lambda given: str(answers(given))])
    found = await ran(planner, toolsets=(bench.toolset,))
    assert found.output.text == "['\"slow\"', '\"quick\"']"
    assert bench.did == ["slow begins", "quick begins", "quick ends", "slow ends"]
    log = [(event.type, event.tool_call_id) for event in found.of("tool_start", "tool_end")]
    assert log == [
        ("tool_start", "call_0_0"),
        ("tool_start", "call_0_1"),
        ("tool_end", "call_0_1"),
        ("tool_end", "call_0_0"),
    ]
    times = {(event.type, event.tool_call_id): event.time for event in found.of("tool_start", "tool_end")}
    assert times["tool_end", "call_0_0"] - times["tool_start", "call_0_0"] >= 0.07


async def test_sequential_tools_of_one_batch_run_alone() -> None:
    bench = Bench()
    alone = func_tool(bench.work, toolset="x.bench", is_sequential=True)
    toolset = StaticToolset(name="x.bench", bound=(alone,))
    planner = ScriptedPlanner([calling(work("a", 0.01), work("b", 0.01)), "done"])
    await ran(planner, toolsets=(toolset,))
    assert bench.did == ["a begins", "a ends", "b begins", "b ends"]


ODD = [
    PlannedCall(name="add", arguments='{"a": 1e400, "b": 1}'),
    PlannedCall(name="add", arguments='{"a": ' + "9" * 5000 + ', "b": 1}'),
    PlannedCall(name="add", arguments='{"a": "\ud800", "b": 1}'),
    PlannedCall(name="add", arguments='{"a": "\\ud800", "b": 1}'),
    PlannedCall(name="add", arguments="[" * 2000),
    PlannedCall(name="add", arguments="null"),
    PlannedCall(name="add", arguments="\x00"),
    PlannedCall(name="add", arguments='{"a": NaN, "b": 1}'),
    PlannedCall(name="", arguments="{}"),
    PlannedCall(name="x" * 5000),
    PlannedCall(name="ad\ud800d", arguments="{}"),
    PlannedCall(name="add\x00", arguments="{}"),
    PlannedCall(name="x.tools.add", arguments='{"a": 1, "b": 1, "ctx": {}}'),
]


async def test_no_words_of_a_model_end_a_run() -> None:
    planner = ScriptedPlanner([CallTools(calls=tuple(ODD)), "still here"])
    found = await ran(planner)
    assert (found.output.status, found.output.text) == ("completed", "still here")
    told = [json.loads(text) for text in answers(planner.inputs[1])]
    assert len(told) == len(ODD)
    assert all("error" in one for one in told)
    assert {event.status for event in found.of("tool_end")} == {"error"}


async def test_arguments_may_be_left_out_where_there_are_none() -> None:
    async def ping() -> str:
        """Ping."""
        return "pong"

    empty = ("", "  ", "{}", "\n")
    calls = tuple(PlannedCall(name="ping", arguments=text) for text in empty)
    planner = ScriptedPlanner([CallTools(calls=calls), "done"])
    await ran(planner, toolsets=(function_toolset("x.pings", [ping]),))
    assert answers(planner.inputs[1]) == ['"pong"'] * len(empty)


@pytest.mark.parametrize(
    "ids",
    [
        ("same", "same", "same"),
        ("", "call_0_0", "call_0_2"),
        ("call_0_1", "", "call_0_0"),
        ("not an id", "wäre", "x" * 65),
        ("call_1_0", "call_1_1", "call_1_2"),
    ],
)
async def test_ids_are_unique_whatever_the_model_gives(ids: tuple[str, ...]) -> None:
    batch = CallTools(calls=tuple(PlannedCall.of("add", {"a": 1, "b": 1}, id=id_) for id_ in ids))
    unnamed = calling(("add", {"a": 2, "b": 2}), ("add", {"a": 3, "b": 3}))
    planner = ScriptedPlanner([batch, unnamed, batch, "done"])
    found = await ran(planner)
    assert (found.output.status, found.output.tool_calls) == ("completed", 8)
    assert is_paired(planner.inputs[3])
    starts = [event.tool_call_id for event in found.of("tool_start")]
    assert len(set(starts)) == 8
    if ids[0] == "call_1_0":
        assert tuple(starts[:3]) == ids


async def test_ids_are_unique_in_a_session() -> None:
    planner = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), "done"])
    async with running(agent("x.agent", planner)) as (runtime, _):
        for _ in range(3):
            await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    messages = planner.inputs[-1].messages
    calls = [
        call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
    ]
    assert len(set(calls)) == 3
    assert is_paired(planner.inputs[-1])


def generated(executor: Devices) -> ToolsetRegistration:
    from gen.assistant.toolsets import devices

    return devices.registration(executor)


async def test_injected_fields_are_seen_by_nobody() -> None:
    executor = Devices()
    batch = calling(
        ("list_devices", {"site_id": "s1"}), ("list_devices", {"site_id": "s1", "session_id": "mine"})
    )
    planner = ScriptedPlanner([batch, texts])
    found = await ran(planner, toolsets=(generated(executor),), session_id="the-session")
    assert executor.sessions == ["the-session"]
    refused = json.loads(answers(planner.inputs[1])[1])
    assert [issue["path"] for issue in refused["issues"]] == ["$.session_id"]
    for event in found.events:
        shown = {key: value for key, value in as_json(event).items() if key != "session_id"}
        assert "the-session" not in json.dumps(shown)
    assert "the-session" not in str(planner.inputs[1].messages)


async def test_labels_reach_tools_and_planners() -> None:
    bench = Bench()
    bench.gate.set()
    planner = ScriptedPlanner([calling("through"), "done"])
    await ran(planner, toolsets=(bench.toolset,), labels={"user": "ann"}, run_id="r1")
    (meta,) = bench.metas
    assert (meta.labels, meta.run_id, meta.session_id, meta.tool_call_id) == (
        {"user": "ann"},
        "r1",
        "s",
        "call_0_0",
    )
    assert meta.turn_id == planner.inputs[0].turn_id
    assert [given.labels for given in planner.inputs] == [{"user": "ann"}] * 2


# Control.


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
    assert found.output.text == "[Go.] [] [results] [the conversation cannot go to x.ghost]"
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


async def test_calls_of_a_child_name_the_call_that_they_answer() -> None:
    top = ScriptedPlanner([calling("look"), "done"])
    low = ScriptedPlanner([calling(("add", {"a": 1, "b": 1})), '"seen"'])
    async with running(agent("x.low", low), agent("x.top", top, exported("x.lows", "x.low"))) as (runtime, _):
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        child = await agents_of(runtime).events(f"{output.run_id}/child:call_0_0")
    (start,) = [event for event in child if event.type == "tool_start"]
    assert start.parent_tool_call_id == "call_0_0"
    assert output.text == "done"


# State.


async def keep(name: str, ctx: ToolContext, seconds: float = 0.0) -> str:
    """Keep a name."""
    state: Any = ctx.state
    state.append("names", name)
    state.set("last", name)
    await asyncio.sleep(seconds)
    return name


async def idle(seconds: float = 0.0) -> str:
    """Do nothing."""
    await asyncio.sleep(seconds)
    return ""


def keeps(name: str, seconds: float) -> tuple[str, dict[str, Any]]:
    return "keep", {"name": name, "seconds": seconds}


async def test_writes_are_merged_in_the_order_of_the_calls() -> None:
    store = MemoryStateStore()
    late = func_tool(idle, toolset="x.state", timeout=0.03)
    toolset = StaticToolset(name="x.state", bound=(func_tool(keep, toolset="x.state"), late))
    batch = calling("idle", keeps("a", 0.04), keeps("b", 0.0), ("idle", {"seconds": 9}), keeps("c", 0.02))
    planner = ScriptedPlanner([batch, "done"])
    found = await ran(planner, toolsets=(toolset,), options={"capabilities": [StateCapability(store)]})
    assert await store.load("session", "s") == {"names": ["a", "b", "c"], "last": "c"}
    assert [event.status for event in found.of("tool_end")].count("ok") == 4
    (conflict,) = [event for event in found.events if isinstance(event, StateConflict)]
    assert (conflict.key, conflict.kept) == ("last", "call_0_4")


async def test_a_call_whose_time_is_over_holds_up_nobody() -> None:
    """One that hangs to the end of the run's time, and one whose sibling it is."""
    store = MemoryStateStore()
    toolset = function_toolset("x.state", [keep, idle])
    planner = ScriptedPlanner(
        [calling(keeps("a", 0.0), ("idle", {"seconds": 9})), lambda given: given.closing]
    )
    options = {"capabilities": [StateCapability(store)]}
    found = await asyncio.wait_for(
        ran(planner, RunPolicy(time_budget=0.1), toolsets=(toolset,), options=options), 2
    )
    assert found.output.text == "time_budget"
    ends = [event for event in found.events if isinstance(event, ToolEnd)]
    assert {event.tool_call_id for event in ends} == {"call_0_0", "call_0_1"}


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
        check_log(output, await agents_of(runtime).events(output.run_id))
        await engine.replay(output.run_id)
    (given,) = seen
    assert is_paired(given)
    assert [len(one.answers) for one in given.messages if isinstance(one, ToolMessage)] == [2, 1]
    assert TOOLS.name == "x.tools"


async def test_a_run_goes_on_where_its_engine_was_stopped() -> None:
    """What was done is not done again; what was not is begun again, and told once."""
    bench = Bench()
    batch = calling(work("a"), "through", ("ask", {"name": "q"}))
    planner = ScriptedPlanner([batch, lambda given: str(answers(given))])
    registration = agent("x.agent", planner, bench.toolset)
    async with running(registration, suspensions=MemorySuspensionStore()) as (runtime, engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await parked(handle)
        for _ in range(2):
            await engine.close()
            await engine.start()
        bench.gate.set()
        (asked,) = (await handle.settled()).awaiting
        await handle.answer(asked, "yes")
        output = await handle.result()
        check_log(output, await agents_of(runtime).events(handle.run_id))
        assert await engine.replay(handle.run_id) == (await engine.status(handle.run_id)).output
    assert output.text == "['\"a\"', '\"through\"', '\"q: yes\"']"
    assert [bench.did.count(one) for one in ("a begins", "q heard yes")] == [1, 1]
    assert 1 < bench.did.count("at the gate") <= 3
    assert len(planner.inputs) == 2
