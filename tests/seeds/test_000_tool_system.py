"""Schemas, results, confirmations, callbacks, agents as tools and loops do what the document says."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.agents.tools import agent, calling, running
from tests.runtime.typed_functions import called
from toolgen.agents import (
    CallTools,
    FinalResponse,
    PlanInput,
    PlannedCall,
    PlanResult,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Answer,
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    ReadonlyContext,
    Runtime,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolSpec,
    Unfinished,
    Verdict,
)
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.runtime.views import allow_tools, filter_toolset

META = CallMeta(run_id="r", session_id="s", tool_call_id="call-1", labels={"user": "ann"})
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city name", "minLength": 2}},
    "required": ["city"],
}


def get_weather(city: str) -> dict[str, Any]:
    """Gets weather for a city"""
    return {"temp": 72}


async def test_a_function_tool_answers_with_its_map() -> None:
    tool = func_tool(get_weather)
    assert (tool.spec.name, tool.spec.description) == ("get_weather", "Gets weather for a city")
    assert (await called(get_weather, {"city": "Ulm"})).json == b'{"temp":72}'


async def test_the_author_can_override_the_input_schema() -> None:
    tool = func_tool(get_weather, toolset="x.tools", input_schema=SCHEMA)
    assert tool.spec.payload.schema == {**SCHEMA, "additionalProperties": False}
    runtime = Runtime()
    runtime.tools.register(function_toolset("x.tools", [tool]))
    assert (await runtime.call("get_weather", {"city": "Ulm"})).json == b'{"temp":72}'
    refused = json.loads((await runtime.call("get_weather", {"city": "U"})).json)
    assert refused["issues"][0]["constraint"] == "invalid_length"


async def test_the_context_has_the_identity_of_the_call() -> None:
    def who(tool_context: ToolContext) -> list[str]:
        """Tell whose call it is."""
        meta = tool_context.meta
        return [meta.run_id, meta.session_id, meta.labels["user"], meta.tool_call_id, tool_context.tool]

    runtime = Runtime()
    runtime.tools.register(function_toolset("x.tools", [who]))
    assert (await runtime.call("who", {}, META)).result == ["r", "s", "ann", "call-1", "x.tools.who"]


async def test_a_toolset_shows_the_tools_of_a_list_or_of_a_predicate() -> None:
    """`StringPredicate` and `FilterToolset`."""

    def delete_city(city: str) -> None: ...

    def is_harmless(spec: ToolSpec, context: ReadonlyContext) -> bool:
        return not spec.name.startswith("delete")

    both = function_toolset("x.cities", [get_weather, delete_city])
    for filtered in (allow_tools(both, "get_weather"), filter_toolset(both, is_harmless)):
        async with Runtime() as runtime:
            runtime.tools.add_toolset(filtered)
            snapshot = await runtime.tools.snapshot(ReadonlyContext(meta=META))
            assert [spec.name for spec in snapshot.specs] == ["get_weather"]


async def test_a_panic_is_an_error_of_its_call_alone(caplog: pytest.LogCaptureFixture) -> None:
    """All calls of a batch have a result, in their order, and the log has the stack trace."""

    def panics() -> None:
        raise ZeroDivisionError("secret")

    runtime = Runtime()
    runtime.tools.register(function_toolset("x.tools", [get_weather, panics]))
    names = {"panics": b"{}", "get_weather": b'{"city":"Ulm"}'}
    with caplog.at_level(logging.ERROR):
        results = await runtime.call_all(
            [ToolCall(tool=tool, payload_json=text, meta=META) for tool, text in names.items()]
        )
    assert [result.status for result in results] == ["error", "ok"]
    assert b"secret" not in results[0].json
    assert "ZeroDivisionError: secret" in caplog.text


class Callbacks(Hook):
    """Skips a tool, changes a result, recovers from an error."""

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return Answer(result={"temp": 0}) if getattr(payload, "city", "") == "Pole" else Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return Answer(result={"temp": 22}) if result.result == {"temp": 72} else Continue()

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        return Answer(result={"temp": -1})


async def test_callbacks_skip_a_tool_and_replace_results_and_errors() -> None:
    def fails(city: str) -> dict[str, Any]:
        raise ToolError("no station")

    runtime = Runtime(hooks=[Callbacks()])
    runtime.tools.register(function_toolset("x.tools", [get_weather, fails]))
    asked = [("get_weather", "Pole"), ("get_weather", "Ulm"), ("fails", "Ulm")]
    results = [(await runtime.call(tool, {"city": city}, META)).result for tool, city in asked]
    assert results == [{"temp": 0}, {"temp": 22}, {"temp": -1}]


@pytest.mark.parametrize("approved", [True, False])
async def test_a_tool_waits_for_a_confirmation(approved: bool) -> None:
    """`RequireConfirmation`; a call that is rejected never runs."""
    ran: list[str] = []

    def delete_city(city: str) -> str:
        ran.append(city)
        return f"{city} is gone"

    tool = func_tool(delete_city, toolset="x.tools", confirm=ConfirmSpec(hint="Delete {city}?"))
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.tools", [tool]))
    async with runtime:
        asked = await runtime.call("delete_city", {"city": "Ulm"}, META)
        assert asked.suspension is not None
        assert (asked.suspension.question, ran) == ("Delete Ulm?", [])
        done = await runtime.suspensions.answer(
            asked.suspension.token, {"approved": approved}, session_id="s"
        )
    assert (done.status, ran) == (("ok", ["Ulm"]) if approved else ("denied", []))


async def test_a_confirmation_depends_on_the_arguments_or_on_the_tool_itself() -> None:
    """`RequireConfirmationProvider`, and `RequestConfirmation` within the tool."""

    def pay(amount: int, kind: str, tool_context: SyncToolContext) -> str | Unfinished:
        if amount > 100 and not tool_context.approved(f"Pay {amount}?"):
            return ToolOutcome.approval(f"Pay {amount}?")
        return f"paid {amount}"

    confirm = ConfirmSpec(hint="Pay abroad?", when={"kind": ("abroad",)})
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.tools", [func_tool(pay, toolset="x.tools", confirm=confirm)]))
    async with runtime:
        questions = []
        for amount, kind in ((5, "here"), (5, "abroad"), (500, "here")):
            result = await runtime.call("pay", {"amount": amount, "kind": kind}, META)
            questions.append(result.suspension.question if result.suspension else result.result)
            if result.suspension:
                token = result.suspension.token
                result = await runtime.suspensions.answer(token, {"approved": True}, session_id="s")
                assert result.result == f"paid {amount}"
    assert questions == ["paid 5", "Pay abroad?", "Pay 500?"]


def draft(request: str) -> str:
    """Write a draft."""
    raise AssertionError("an agent answers it")


def exported(name: str, agent_id: str) -> ToolsetRegistration:
    """Return the tool of an agent, with the one parameter of an agent without a schema."""
    spec = func_tool(draft, name=name, toolset=f"x.{name}").spec
    return ToolsetRegistration(name=f"x.{name}", specs=[spec], executor=AgentRoute(agent=agent_id))


class Loop:
    """Calls the steps in turn, at most so many rounds, until one does not answer."""

    def __init__(self, *steps: str, rounds: int) -> None:
        self.steps, self.most = steps, rounds * len(steps)

    def call(self, number: int, text: str) -> PlanResult:
        step = self.steps[number % len(self.steps)]
        return CallTools(calls=(PlannedCall.of(step, {"request": text}),))

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        opened: Any = plan_input.messages[-1]
        return self.call(0, opened.text)

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        batch: Any = plan_input.messages[-1]
        (answer,) = batch.answers
        if answer.status != "ok" or plan_input.step == self.most:
            return FinalResponse(text=answer.text)
        return self.call(plan_input.step, json.loads(answer.text))


def exit_loop(tool_context) -> dict[str, str]:  # type: ignore[no-untyped-def]
    """Leave the loop."""
    tool_context.actions.escalate()
    return {}


@pytest.mark.parametrize(
    ("rounds", "text", "calls"),
    [(5, '{"error":"x.critic escalated the call. {}"}', 4), (1, '"better"', 2)],
    ids=["left", "ended"],
)
async def test_a_loop_of_agents_ends_with_exit_loop_or_its_rounds(rounds: int, text: str, calls: int) -> None:
    writer = ScriptedPlanner(['"a draft"'], ['"a second draft"'])
    critic = ScriptedPlanner(['"better"'], [calling("exit_loop")])
    loop = Loop("write", "review", rounds=rounds)
    agents = (
        agent("x.writer", writer),
        agent("x.critic", critic, function_toolset("x.loops", [exit_loop])),
        agent("x.loop", loop, exported("write", "x.writer"), exported("review", "x.critic")),
    )
    async with running(*agents) as (runtime, _):
        output = await agents_of(runtime).client("x.loop").run("Write.", session_id="s")
    assert (output.text, output.children_count) == (text, calls)
    assert len(writer.inputs) == calls // 2


async def test_exit_loop_ends_the_run_of_the_agent_that_calls_it() -> None:
    """`escalate` and `skip_summarization` at once: the model is not asked again."""
    planner = ScriptedPlanner([calling("exit_loop"), "never said"])
    async with running(agent("x.agent", planner, function_toolset("x.loops", [exit_loop]))) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    assert (output.stop, output.text, len(planner.inputs)) == ("escalated", "{}", 1)
