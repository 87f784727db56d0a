"""What only OpenAI's Agents SDK has."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import pytest
from agents import Agent, RunConfig, RunContextWrapper, Runner, RunState, ToolCallOutputItem, Usage
from agents.exceptions import UserError
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext

from toolgen.adapters.openai_agents import openai_agents_question, openai_agents_tools
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.catalog.entry import tool_entry
from toolgen.catalog.providers import declarations
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, ToolModel

from .home import MIRA, Home

CONFIG = RunConfig(tracing_disabled=True)
RESET: Mapping[str, Json] = {"device_id": "h09"}


def agent_of(home: Home, *answers: list[Any]) -> Agent[None]:
    return Agent(
        "fake", model=ScriptedModel(list(answers)), tools=list(openai_agents_tools(home.snapshot, MIRA))
    )


async def test_the_tools_are_those_of_the_strict_dialect_and_no_schema_is_rewritten(home: Home) -> None:
    tools = openai_agents_tools(home.snapshot, MIRA)
    told = [
        {
            "type": "function",
            "name": one.name,
            "description": one.description,
            "parameters": one.params_json_schema,
            "strict": one.strict_json_schema,
        }
        for one in tools
    ]
    described = [
        {**tool_entry(spec.record()), "description": own["description"]}
        for spec, own in zip(home.snapshot.specs, home.snapshot.declarations(), strict=True)
    ]
    assert told == declarations(described, "openai-responses-strict").fragment
    assert all(one.strict_json_schema for one in tools)


async def test_what_the_model_sends_is_decoded_before_it_asks_and_before_it_runs(home: Home) -> None:
    labels: list[dict[str, str]] = []

    async def label(site: str, names: dict[str, str], note: str = "none") -> str:
        """Label."""
        labels.append(names)
        return f"{site} {note}"

    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("test.labels", [func_tool(label, confirm=ConfirmSpec())]))
    snapshot = await runtime.tools.snapshot()
    sent = {"site": "harbour", "names": [{"key": "a", "value": "b"}], "note": None}
    call = function_call("label", sent, call_id="c1")
    model = ScriptedModel([[call], [assistant_message("done")]])
    agent = Agent[None]("fake", model=model, tools=list(openai_agents_tools(snapshot, MIRA)))
    run = await Runner.run(agent, "go", run_config=CONFIG)
    state = run.to_state()
    [item] = state.get_interruptions()
    asked = await openai_agents_question(snapshot, item, MIRA)
    assert asked is not None
    assert asked.arguments == {"site": "harbour", "names": {"a": "b"}, "note": "none"}
    state.approve(item)
    run = await Runner.run(agent, state, run_config=CONFIG)
    [output] = [one for one in run.new_items if isinstance(one, ToolCallOutputItem)]
    assert (output.output, labels) == ('"harbour none"', [{"a": "b"}])


async def test_an_approval_for_ever_is_none_of_a_later_call(home: Home) -> None:
    first, second = (function_call("factory_reset", dict(RESET), call_id=id_) for id_ in ("c1", "c2"))
    agent = agent_of(home, [first], [second], [assistant_message("done")])
    run = await Runner.run(agent, "go", run_config=CONFIG)
    state = run.to_state()
    [item] = state.get_interruptions()
    state.approve(item, always_approve=True)
    run = await Runner.run(agent, state, run_config=CONFIG)
    outputs = [json.loads(one.output) for one in run.new_items if isinstance(one, ToolCallOutputItem)]
    assert outputs[0]["name"] == "Reading lamp"
    assert outputs[1]["code"] == "canceled"
    assert await home.runtime.suspensions.list() == ()


async def test_a_run_that_was_kept_as_json_goes_on(home: Home) -> None:
    call = function_call("factory_reset", dict(RESET), call_id="c1")
    agent = agent_of(home, [call], [assistant_message("done")])
    run = await Runner.run(agent, "go", run_config=CONFIG)
    kept = run.to_state().to_string()
    [waiting] = await home.runtime.suspensions.list("s-mira")
    assert waiting.token not in kept

    state: Any = await RunState.from_string(agent, kept)
    [item] = state.get_interruptions()
    state.approve(item)
    run = await Runner.run(agent, state, run_config=CONFIG)
    [output] = [one for one in run.new_items if isinstance(one, ToolCallOutputItem)]
    assert json.loads(output.output)["name"] == "Reading lamp"


async def test_arguments_that_are_no_json_have_no_question(home: Home) -> None:
    call = function_call("factory_reset", '{"device_id":', call_id="c1")
    agent = agent_of(home, [call], [assistant_message("done")])
    run = await Runner.run(agent, "go", run_config=CONFIG)
    state = run.to_state()
    [item] = state.get_interruptions()
    assert await openai_agents_question(home.snapshot, item, MIRA) is None
    state.approve(item)
    run = await Runner.run(agent, state, run_config=CONFIG)
    [output] = [one for one in run.new_items if isinstance(one, ToolCallOutputItem)]
    assert "issues" in json.loads(output.output)


async def test_a_tool_that_may_not_ask_is_denied_when_it_does(home: Home) -> None:
    agent = agent_of(home, [function_call("post", {}, call_id="c1")], [assistant_message("done")])
    run = await Runner.run(agent, "go", run_config=CONFIG)
    [output] = [one for one in run.new_items if isinstance(one, ToolCallOutputItem)]
    assert output.custom_data is not None
    assert output.custom_data["toolgen"]["status"] == "denied"
    assert await home.runtime.suspensions.list() == ()


async def test_a_call_that_may_ask_and_does_not_runs_once() -> None:
    counted: list[int] = []

    async def count(n: int) -> int:
        """Count."""
        counted.append(n)
        return n

    runtime = Runtime()
    runtime.tools.register(function_toolset("test.counting", [count]))
    tools = openai_agents_tools(await runtime.tools.snapshot(), MIRA, may_ask={"test.counting.count"})
    made = [function_call("count", {"n": n}, call_id=f"c{n}") for n in range(3)]
    agent = Agent("fake", model=ScriptedModel([made, [assistant_message("done")]]), tools=list(tools))
    run = await Runner.run(agent, "go", run_config=CONFIG)
    assert sorted(counted) == [0, 1, 2]
    assert [one.output for one in run.new_items if isinstance(one, ToolCallOutputItem)] == ["0", "1", "2"]


class Counted(ToolModel):
    """What was counted."""

    n: int


class Counter:
    """Counts, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.results: WeakSet[Counted] = WeakSet()

    async def count(self, n: int) -> Counted:
        """Count."""
        self.given.append(n)
        counted = Counted(n=n)
        self.results.add(counted)
        return counted

    async def tool(self) -> Any:
        """Return the tool, whose calls may wait for a person and do not."""
        runtime = Runtime()
        runtime.tools.register(function_toolset("test.counting", [self.count]))
        [tool] = openai_agents_tools(await runtime.tools.snapshot(), MIRA, may_ask={"test.counting.count"})
        return tool


async def test_a_call_that_is_asked_about_again_runs_once() -> None:
    counter = Counter()
    tool = await counter.tool()
    context = ToolContext(None, Usage(), "count", "c0", '{"n": 0}')
    for _ in range(2):
        assert not await tool.needs_approval(context, {"n": 0}, "c0")
    assert await tool.on_invoke_tool(context, '{"n": 0}') == '{"n":0}'
    assert counter.given == [0]


async def test_calls_of_runs_that_were_left_displace_no_result_and_are_forgotten() -> None:
    counter = Counter()
    tool = await counter.tool()
    usage = Usage()
    context = ToolContext(None, usage, "count", "c0", '{"n": 0}')
    assert not await tool.needs_approval(context, {"n": 0}, "c0")
    for n in range(1, 1_101):
        assert not await tool.needs_approval(RunContextWrapper(None), {"n": n}, "c0")
    gc.collect()
    assert len(counter.results) == 1
    assert await tool.on_invoke_tool(context, '{"n": 0}') == '{"n":0}'
    assert counter.given == list(range(1_101))


async def test_calls_of_one_run_beyond_what_is_kept_run_once() -> None:
    counter = Counter()
    tool = await counter.tool()
    usage = Usage()
    calls = [ToolContext(None, usage, "count", f"c{n}", json.dumps({"n": n})) for n in range(1_010)]
    for n, context in enumerate(calls):
        assert not await tool.needs_approval(context, {"n": n}, f"c{n}")
    assert len(counter.given) == 1_000
    for n, context in enumerate(calls):
        assert await tool.on_invoke_tool(context, json.dumps({"n": n})) == json.dumps({"n": n}).replace(
            " ", ""
        )
    assert counter.given == list(range(1_010))


async def test_tools_whose_calls_need_a_turn_are_not_built_without_one(home: Home) -> None:
    with pytest.raises(ToolgenError, match="has no turn_id"):
        openai_agents_tools(home.snapshot, CallMeta(session_id="s-mira"))
    tools = openai_agents_tools(home.snapshot, lambda _: CallMeta(session_id="s-mira"))
    call = function_call("factory_reset", dict(RESET), call_id="c1")
    agent = Agent[None]("fake", model=ScriptedModel([[call]]), tools=list(tools))
    with pytest.raises(UserError, match="has no turn_id"):
        await Runner.run(agent, "go", run_config=CONFIG)
