"""The calls of a step: their order, arguments that do not fit, ids, and results that cannot be kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from tests.agents.tools import (
    TOOLS,
    Bench,
    agent,
    answers,
    calling,
    check_log,
    everything,
    first_answer,
    is_paired,
    ran,
    running,
    texts,
    work,
)
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    PlanInput,
    PlannedCall,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    ConfirmSpec,
    Pending,
    ReadonlyContext,
    Runtime,
    StaticToolset,
    ToolOutcome,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.runtime.views import filter_toolset


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


@pytest.mark.parametrize(
    ("by", "order"),
    [
        ("session", ["a begins", "a ends", "b begins", "b ends", "a begins", "a ends"]),
        ("name", ["a begins", "b begins", "a ends", "a begins", "b ends", "a ends"]),
    ],
)
async def test_sequential_calls_of_one_batch_take_turns_by_what_they_have_in_common(
    by: str, order: list[str]
) -> None:
    bench = Bench()
    alone = func_tool(bench.work, toolset="x.bench", is_sequential=True, sequential_by=by)
    toolset = StaticToolset(name="x.bench", bound=(alone,))
    planner = ScriptedPlanner([calling(work("a", 1), work("b", 1.5), work("a", 1)), "done"])
    await ran(planner, toolsets=(toolset,))
    assert bench.did == order


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


ADD = ("add", {"a": 1, "b": 2})


async def test_what_does_not_fit_is_repaired() -> None:
    broken = CallTools(
        calls=(
            PlannedCall(name="add", arguments="{"),
            PlannedCall.of("add", {"a": "1"}),
            PlannedCall.of("ad"),
            PlannedCall(name="boom", arguments=" "),
        )
    )
    planner = ScriptedPlanner([broken, calling(ADD), first_answer])
    found = await ran(planner)
    assert found.output.text == "3"
    told = [json.loads(text) for text in answers(planner.inputs[1])]
    assert told[0]["issues"][0]["constraint"] == "invalid_json"
    assert {issue["path"] for issue in told[1]["issues"]} == {"$.a", "$.b"}
    assert told[2]["error"] == "there is no tool 'ad'; similar names: add"
    assert told[3]["error"].startswith("boom failed with an internal error; the arguments were valid")
    assert "secret" not in str(found.events)
    hints = [(hint.reason, hint.missing_fields) for hint in planner.inputs[1].retry_hints]
    assert hints == [
        ("invalid_arguments", ()),
        ("invalid_arguments", ("$.b",)),
        ("tool_unavailable", ()),
    ]


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


async def big() -> str:
    """Say much."""
    return "x" * 5000


async def test_a_call_whose_result_the_engine_does_not_keep_has_run_all_the_same() -> None:
    planner = ScriptedPlanner([calling("big", ADD), everything])
    registration = agent("x.agent", planner, function_toolset("x.big", [big]), TOOLS)
    async with Runtime(engine=InProcessEngine(max_payload_bytes=8000)) as runtime:
        agents_of(runtime).register(registration)
        output = await agents_of(runtime).client("x.agent").one_shot("Go.")
        check_log(output, await runtime.runs.events(output.run_id))
    first, second = output.text.split(" | ")
    assert json.loads(first) == {"unknown": "its result was not kept; it may have run"}
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


async def test_what_a_model_writes_wrong_is_carried() -> None:
    calls = (
        PlannedCall(name="add", arguments='{"a": 1e999, "b": 1}', id="not an id!"),
        PlannedCall(name="no\ud800", arguments='{"half": "\ud800"}', id="x"),
        PlannedCall(name="add", arguments='{"a": 1, "b": 2}', id="x"),
        PlannedCall(name="x" * 500, arguments="[" * 5000),
        PlannedCall(name="add", arguments='{"a": 1, "a": 4, "b": 1}', id="call_0_0"),
    )
    planner = ScriptedPlanner([CallTools(calls=calls), calling(ADD), "\ud800"])
    found = await ran(planner)
    assert (found.output.status, found.output.text) == ("completed", "?")
    assert len({event.tool_call_id for event in found.of("tool_start")}) == 6
    assert answers(planner.inputs[1])[2] == "3"
    assert all(
        len(json.loads(text)["error"]) < 200 for text in answers(planner.inputs[1])[1::2] if "error" in text
    )


async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@pytest.mark.parametrize("bytes_", [1_500, 3_000, 6_000, 9_000, 12_000, 14_000])
async def test_a_call_that_is_larger_than_the_engine_keeps_does_not_wait(bytes_: int) -> None:
    """It says so, whatever else of the run is kept beside it; where it can wait it can be answered."""

    async def wipe(text: str) -> str:
        """Wipe."""
        return f"{len(text)} wiped"

    tool = func_tool(wipe, toolset="x.wipes", confirm=ConfirmSpec())
    planner = ScriptedPlanner([calling(("wipe", {"text": "x" * bytes_}), ADD), everything])
    registration = agent("x.agent", planner, function_toolset("x.wipes", [tool]), TOOLS)
    engine = InProcessEngine(max_payload_bytes=30_000)
    async with running(registration, engine=engine) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        output = await handle.settled()
        for asked in output.awaiting:
            await runtime.suspensions.answer(asked.token, {"approved": True})
        output = await handle.result()
        check_log(output, await runtime.runs.events(handle.run_id))
        assert await runtime.suspensions.list() == ()
    first, second = output.text.split(" | ")
    if bytes_ > 9_000:
        said = r"wipe cannot wait for an answer: it needs \d+ bytes of JSON, .* stores at most 30000"
        assert re.fullmatch(said, json.loads(first)["error"])
    else:
        assert json.loads(first) == f"{bytes_} wiped"
    assert second == "3"


async def test_work_that_is_larger_than_the_engine_keeps_is_not_pending() -> None:
    async def order(text: str) -> str | Pending[str | None]:
        """Order."""
        return ToolOutcome.pending("job-2", "ordered")

    late = LongRunningSpec(ack=func_tool(big).spec.result)
    toolset = function_toolset("x.orders", [func_tool(order, toolset="x.orders", long_running=late)])
    planner = ScriptedPlanner([calling(("order", {"text": "x" * 8_000}), ADD), everything])
    engine = InProcessEngine(max_payload_bytes=20_000)
    async with running(agent("x.agent", planner, toolset, TOOLS), engine=engine) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert await runtime.suspensions.list() == ()
    first, second = output.text.split(" | ")
    assert "the engine stores at most 20000" in json.loads(first)["error"]
    assert (second, output.pending) == ("3", ())


async def test_a_result_of_work_that_is_too_large_with_its_call_opens_a_turn_all_the_same() -> None:
    async def order(text: str) -> str | Pending[str | None]:
        """Order."""
        return ToolOutcome.pending("job-2", "ordered")

    late = LongRunningSpec(ack=func_tool(big).spec.result)
    toolset = function_toolset("x.orders", [func_tool(order, toolset="x.orders", long_running=late)])
    planner = ScriptedPlanner([calling(("order", {"text": "x" * 3_000})), "begun"], [texts])
    engine = InProcessEngine(max_payload_bytes=20_000)
    async with running(agent("x.agent", planner, toolset), engine=engine) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        (pending,) = output.pending
        assert (await runtime.suspensions.answer(pending.token, "y" * 9_000)).status == "ok"
        await engine.result(pending.run_id)
        handle = agents_of(runtime).client("x.agent").handle(f"{output.run_id}/done:call_0_0", session_id="s")
        text = (await handle.result()).text
    assert "its result was omitted" in text
    assert "the engine keeps 20000" in text
