"""What becomes of the calls of a run: order, repair, endings, and what of them is told to whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime.run_tools import (
    TOOLS,
    Resetting,
    Users,
    agent,
    answers,
    calling,
    check_log,
    first_answer,
    ran,
    resetting,
    running,
    texts,
)
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    FinalResult,
    PlanInput,
    PlannedCall,
    ScriptedPlanner,
    agents_of,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    Limits,
    ReadonlyContext,
    Runtime,
    StaticToolset,
    SyncToolContext,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolsetRegistration,
    filter_toolset,
)
from toolgen.runtime.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime.specs import ArtifactSpec
from toolgen.runtime.toolsets.agent_route import AgentRoute
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.type_codec import TypeCodec
from toolgen.shapes.design.model import ToolModel

CALL = "call_0_0"
ADD = ("add", {"a": 1, "b": 2})


def everything(given: PlanInput) -> str:
    return " | ".join(answers(given))


async def slow(text: str) -> str:
    """Be slow."""
    await asyncio.sleep(0.03)
    return text


async def test_each_call_ends_on_its_own_and_the_model_sees_them_in_order() -> None:
    toolset = function_toolset("x.slow", [slow])
    planner = ScriptedPlanner([calling(("slow", {"text": "a"}), ADD, ("slow", {"text": "b"})), everything])
    found = await ran(planner, toolsets=(toolset, TOOLS))
    assert found.output.text == '"a" | 3 | "b"'
    order = [(event.type, event.tool_call_id[-1]) for event in found.of("tool_start", "tool_end")]
    assert order[:4] == [("tool_start", "0"), ("tool_start", "1"), ("tool_start", "2"), ("tool_end", "1")]
    times = [event.time for event in found.of("tool_end")]
    assert times == sorted(times)
    assert times[-1] > times[0]


@pytest.mark.parametrize(
    ("arguments", "constraint", "reason"),
    [
        ("", "missing_field", "missing_fields"),
        ("  \n", "missing_field", "missing_fields"),
        ("{", "invalid_json", "invalid_arguments"),
        ('{"a": NaN, "b": 1}', "invalid_type", "invalid_arguments"),
        ("null", "invalid_type", "invalid_arguments"),
        ("[1, 2]", "invalid_type", "invalid_arguments"),
        ('{"a": 1, "b": 2, "c": 3}', "unknown_field", "invalid_arguments"),
        ('{"a": "\ud800", "b": 2}', "invalid_json", "invalid_arguments"),  # it is not the text of anything
    ],
)
async def test_arguments_that_do_not_fit_are_repaired(arguments: str, constraint: str, reason: str) -> None:
    wrong = CallTools(calls=(PlannedCall(name="add", arguments=arguments),))
    planner = ScriptedPlanner([wrong, calling(ADD), first_answer])
    found = await ran(planner)
    assert (found.output.status, found.output.text) == ("completed", "3")
    told = json.loads(first_answer(planner.inputs[1]))
    assert told["issues"][0]["constraint"] == constraint
    (hint,) = planner.inputs[1].retry_hints
    assert (hint.reason, hint.tool, hint.restrict_to_tool) == (reason, "x.tools.add", True)
    assert planner.inputs[2].retry_hints == ()
    assert [event.status for event in found.of("tool_end")] == ["error", "ok"]


def failing(ctx: SyncToolContext) -> str:
    """Ask for what a failed call does not get."""
    ctx.actions.transfer("x.other")
    ctx.actions.escalate()
    raise ToolError("it does not work")


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
    assert [event.is_final for event in found.of("tool_end")] == [False, True, False]


async def test_the_next_turn_sees_how_a_terminal_tool_ended_the_one_before() -> None:
    async def again(runtime: Any, handle: Any) -> None:
        await handle.result()
        output = await agents_of(runtime).client("x.agent").run("And?", session_id="s")
        assert output.text == "[Go.] [] [results] [And?]"

    await ran(ScriptedPlanner([calling(("finish", {"text": "x"}))], [texts]), drive=again)


async def count(by: int, ctx: ToolContext) -> int:
    """Count and append."""
    await asyncio.sleep(0.02 if by == 1 else 0)
    ctx.state.append("session:seen", by)
    ctx.state.set("session:last", by)
    return by


async def look(ctx: ToolContext) -> str:
    """Look at the state."""
    return f"{await ctx.state.get('session:seen')} {await ctx.state.get('session:last')}"


async def test_state_is_merged_in_the_order_of_the_calls() -> None:
    toolset = function_toolset("x.state", [count, look])
    calls = calling(*[("count", {"by": by}) for by in (1, 2, 3)])
    planner = ScriptedPlanner([calls, calling("look"), first_answer])
    capabilities = [StateCapability(MemoryStateStore())]
    found = await ran(planner, toolsets=(toolset,), options={"capabilities": capabilities})
    assert found.output.text == '"[1, 2, 3] 3"'
    (conflict,) = found.of("state_conflict")
    assert conflict.tool_call_ids == ("call_0_0", "call_0_1", "call_0_2")
    assert conflict.kept == "call_0_2"


class Photo(ToolModel):
    pixels: str


PHOTO: ArtifactSpec[Photo] = ArtifactSpec(kind="photo", codec=TypeCodec(Photo, "Photo"))


async def paint(ctx: ToolContext) -> ToolOutcome[str]:
    """Paint."""
    return ToolOutcome.of("painted", artifacts=[PHOTO.of(Photo(pixels="0123"))])


async def test_artifacts_are_for_the_client_alone() -> None:
    tool = func_tool(paint)
    spec = replace(tool.spec, artifacts={"photo": PHOTO})
    toolset = StaticToolset(name="local.functions", bound=(replace(tool, spec=spec),))
    planner = ScriptedPlanner([calling("paint"), first_answer])
    found = await ran(planner, toolsets=(toolset,))
    assert found.output.text == '"painted"'
    (artifact,) = found.output.artifacts
    assert (artifact.kind, artifact.tool, artifact.tool_call_id) == (
        "photo",
        "local.functions.paint",
        "call_0_0",
    )
    assert artifact.json == '{"pixels":"0123"}'
    (ended,) = found.of("tool_end")
    assert [ref.kind for ref in ended.artifacts] == ["photo"]
    assert "0123" not in str(planner.inputs[1].messages) + str(found.events)


async def test_injected_values_stand_nowhere() -> None:
    executor = Resetting()
    with_own = {"device_id": "d1", "user_id": "u-forged"}
    calls = calling(("factory_reset", {"device_id": "d1"}), ("factory_reset", with_own))
    planner = ScriptedPlanner([calls, everything])
    found = await ran(
        planner, toolsets=(resetting(executor, confirm=None),), options={"interceptors": [Users()]}
    )
    assert executor.asked == ["d1 for u-secret"]
    told = f"{found.events} {planner.inputs[1].messages} {found.output}"
    assert "u-secret" not in told
    assert "user_id" not in planner.inputs[0].tools[0].payload.schema_json
    assert [event.status for event in found.of("tool_end")] == ["ok", "error"]


class Flaky:
    """A toolset of the host that cannot always list its tools."""

    name = "x.flaky"
    on_error = "drop"

    def __init__(self) -> None:
        self.is_there = True

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        if not self.is_there:
            raise OSError("host db-7 is down")
        return TOOLS.bound[:1]


async def test_a_toolset_that_is_left_out_is_told() -> None:
    flaky = Flaky()

    def breaks(given: PlanInput) -> CallTools:
        flaky.is_there = False
        return calling(ADD)

    def without(given: PlanInput) -> CallTools:
        assert given.tools == ()
        assert given.instructions == "The tools of x.flaky are not available now."
        return calling(ADD)

    nothing = StaticToolset(name="x.nothing", bound=())
    planner = ScriptedPlanner([breaks, without, first_answer])
    view = filter_toolset(flaky, lambda spec, context: True)
    found = await ran(planner, toolsets=(nothing,), dynamic=(view,))
    assert json.loads(found.output.text) == {"error": "the tool 'add' is no longer available"}
    assert [event.status for event in found.of("tool_end")] == ["ok", "error"]
    dropped = found.of("toolset_dropped")
    assert [(event.toolset, event.reason) for event in dropped] == [
        ("x.flaky", "it cannot list its tools (OSError)")
    ] * 2
    assert "db-7" not in str(found.events)


def exporting(name: str) -> ToolsetRegistration:
    """Return a toolset that the agent `x.low` implements."""

    def look(at: str) -> str:
        """Look."""
        return at

    spec = func_tool(look, toolset=name).spec
    return ToolsetRegistration(name=name, specs=[spec], executor=AgentRoute(agent="x.low"), format=1)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_tool_that_is_gone_when_its_agent_has_answered(elsewhere: bool) -> None:
    gone: list[bool] = []
    exported = exporting("x.checks")
    view = filter_toolset(exported, lambda spec, context: not gone)
    top = ScriptedPlanner([calling(("look", {"at": "lamp"})), first_answer])

    def answer(given: PlanInput) -> FinalResult:
        gone.append(True)
        if elsewhere:  # as in a process that did not plan, and asks the toolset itself
            agents_of(runtime)._host._snapshots.clear()
        return FinalResult(result="dust")

    agents = (
        agent("x.low", ScriptedPlanner([answer])),
        agent("x.top", top, StaticToolset(name="x.nothing", bound=()), dynamic=(view,)),
    )
    async with running(*agents) as (runtime, engine):
        runtime.register(exported)
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        check_log(output, await agents_of(runtime).events(output.run_id))
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    assert output.text == ('{"error":"there is no tool \'look\'"}' if elsewhere else '"dust"')


async def test_results_of_agents_are_cut_like_all_others() -> None:
    low = ScriptedPlanner([FinalResult(result="all is well " * 100)])
    top = ScriptedPlanner([calling(("look", {"at": "lamps"})), first_answer])
    agents = agent("x.low", low), agent("x.top", top, exporting("x.checks"))
    async with running(*agents, limits=Limits(result_bytes=100)) as (runtime, engine):
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        events = await agents_of(runtime).events(output.run_id)
        direct = await runtime.call("x.checks.look", {"at": "lamps"})
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    check_log(output, events)
    told = json.loads(output.text)
    assert (told["bytes"], told["beginning"][:5]) == (1202, '"all ')
    assert len(output.text) <= 100
    assert direct.json.decode() == output.text
    (ended,) = [event for event in events if event.type == "tool_end"]
    assert ended.result == told


async def big() -> str:
    """Say much."""
    return "x" * 5000


async def test_a_result_that_the_engine_does_not_keep_fails_its_call() -> None:
    planner = ScriptedPlanner([calling("big", ADD), everything])
    registration = agent("x.agent", planner, function_toolset("x.big", [big]), TOOLS)
    async with Runtime(engine=InProcessEngine(max_payload_bytes=8000)) as runtime:
        agents_of(runtime).register(registration)
        output = await agents_of(runtime).client("x.agent").one_shot("Go.")
        check_log(output, await agents_of(runtime).events(output.run_id))
    first, second = output.text.split(" | ")
    assert json.loads(first)["error"].startswith("big gave no result: the result of tool for the operation")
    assert second == "3"


async def test_a_conversation_keeps_arguments_that_every_provider_takes() -> None:
    written = ('{"a": NaN, "b": 1}', "[1]", '{"a": "\ud800"}', '{"a": 1, "b": 2}', "")
    calls = tuple(PlannedCall(name="add", arguments=one) for one in written)
    native = {"writer": "somebody", "args": float("nan"), "said": "\ud800"}
    planner = ScriptedPlanner([CallTools(calls=calls, native=native), "done"])
    await ran(planner)
    (kept,) = [message for message in planner.inputs[1].messages if isinstance(message, AssistantMessage)]
    assert [json.loads(call.arguments) for call in kept.calls] == [
        {"invalid_arguments": written[0]},
        {"invalid_arguments": "[1]"},
        {"invalid_arguments": '{"a": "\\ud800"}'},
        {"a": 1, "b": 2},
        {},
    ]
    assert kept.native == {"writer": "somebody", "args": None, "said": "?"}
