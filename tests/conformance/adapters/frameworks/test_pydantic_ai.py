"""What only pydantic-ai has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.conformance.adapters.provider import Provider
from tests.conformance.adapters.wire import Called, Said
from toolgen.adapters.pydantic_ai import SnapshotToolset, pydantic_ai_toolset
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.catalog.providers import declarations
from toolgen.contract.names import SESSION
from toolgen.runtime import Runtime

from .home import MIRA, Home


async def test_the_model_gets_the_schemas_and_the_instructions_as_they_are(home: Home) -> None:
    seen: list[AgentInfo] = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse(parts=[TextPart("done")])

    toolset: SnapshotToolset[object] = pydantic_ai_toolset(home.snapshot, MIRA)
    await Agent(FunctionModel(respond), toolsets=[toolset]).run("go")
    [info] = seen
    told = [
        {"name": one.name, "description": one.description, "parameters": one.parameters_json_schema}
        for one in info.function_tools
    ]
    assert told == home.snapshot.declarations()
    assert home.snapshot.instructions in str(info.instructions)


async def test_calls_that_wait_for_others_of_the_session_come_one_after_the_other() -> None:
    """Those that wait for others by an argument alone do not."""

    async def turn(lamp: str) -> str:
        """Turn a lamp."""
        return lamp

    seen: list[AgentInfo] = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse(parts=[TextPart("done")])

    runtime, name = Runtime(), "test.lamps"
    locks = {"any": "", "session": SESSION, "lamp": "lamp"}
    tools = [
        func_tool(turn, name=f"turn_{lock}", toolset=name, is_sequential=True, sequential_by=by)
        for lock, by in locks.items()
    ]
    runtime.tools.register(function_toolset(name, [*tools, turn]))
    toolset: SnapshotToolset[object] = pydantic_ai_toolset(await runtime.tools.snapshot(), MIRA)
    await Agent(FunctionModel(respond), toolsets=[toolset]).run("go")
    assert {tool.name: tool.sequential for tool in seen[0].function_tools} == {
        "turn_any": True, "turn_session": True, "turn_lamp": False, "turn": False,
    }  # fmt: skip


DIALECTS = {
    "openai_model": "openai-strict",
    "responses_model": "openai-responses-strict",
    "anthropic_model": "anthropic-strict",
    "gemini_model": "gemini-json",
}
SENT = {
    "openai_model": '{"site_id":"harbour","status":null,"kind":"light","limit":null,"cursor":null}',
    "responses_model": '{"site_id":"harbour","status":null,"kind":"light","limit":null,"cursor":null}',
    "anthropic_model": '{"site_id":"harbour","kind":"LIGHT"}',
    "gemini_model": '{"site_id":"harbour","kind":"light"}',
}


@pytest.fixture
def named_model(request: pytest.FixtureRequest, wire: str) -> Model:
    """The model of the fixture that the test names."""
    found: Model = request.getfixturevalue(wire)
    return found


@pytest.mark.parametrize("wire", DIALECTS)
async def test_a_known_wire_has_its_dialect_and_what_its_model_sends_is_decoded(
    wire: str, named_model: Model, provider: Provider, home: Home
) -> None:
    provider.answers(Said(calls=(Called("list_devices", SENT[wire]),)), Said(text="Ok."))
    toolset: SnapshotToolset[object] = pydantic_ai_toolset(home.snapshot, MIRA)
    run = await Agent(named_model, toolsets=[toolset]).run("go")
    tools = {
        one.get("function", one)["name"]: one.get("function", one)
        for tool in provider.sent[0]["tools"]
        for one in tool.get("functionDeclarations", [tool])
    }
    told = declarations(home.snapshot, DIALECTS[wire]).projections
    assert list(tools) == [one.name for one in told]
    if wire != "gemini_model":
        assert [name for name in tools if tools[name].get("strict")] == [
            one.name for one in told if one.is_strict
        ]
    for one in told:
        sent: Any = tools[one.name]
        keys = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
        schema = next(sent[key] for key in keys if key in sent)
        assert shape(schema) == shape(dict(one.schema)), one.name
    [returned] = [
        part for message in run.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    assert returned.outcome == "success", returned.content
    assert "Reading lamp" in str(returned.content)


def shape(schema: Any) -> Any:
    """Return the structure of a schema, on which codecs depend.

    Pydantic-ai leaves out the type beside values, and writes a constant as an enum.
    """
    if not isinstance(schema, dict):
        return schema
    kept = {key: schema[key] for key in ("type", "required", "additionalProperties") if key in schema}
    if {"enum", "const"} & schema.keys():
        return schema.get("enum", [schema.get("const")])
    for key in ("properties", "$defs"):
        kept[key] = {name: shape(part) for name, part in schema.get(key, {}).items()}
    kept["anyOf"] = [shape(part) for part in schema.get("anyOf", ())]
    return {**kept, "items": shape(schema.get("items"))}


async def test_an_answer_may_be_delivered_from_elsewhere(home: Home) -> None:
    toolset: SnapshotToolset[object] = pydantic_ai_toolset(home.snapshot, MIRA)
    meta = replace(MIRA, tool_call_id="call-1")
    asked = (await home.snapshot.call("factory_reset", {"device_id": "nope"}, meta)).suspension
    assert asked is not None
    failed = await toolset.deliver(asked.token, {"approved": True}, MIRA)
    assert isinstance(failed, ToolFailed)
    assert "no device 'nope'" in failed.message

    work = (
        await home.snapshot.call("update_firmware", {"device_id": "h09", "version": "2.4.0"}, meta)
    ).suspension
    assert work is not None
    done: Any = await toolset.deliver(work.token, {"version": "2.4.0"}, MIRA)
    assert done.return_value == '{"version":"2.4.0"}'


async def test_work_without_an_acknowledgement_is_deferred(home: Home) -> None:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("export", {}, "c0")])

    toolset: SnapshotToolset[object] = pydantic_ai_toolset(home.snapshot, MIRA)
    agent = Agent(FunctionModel(respond), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    run = await agent.run("go")
    requests = run.output
    assert isinstance(requests, DeferredToolRequests)
    assert requests.kind("c0") == "external"
    done = await toolset.deliver(requests.metadata["c0"]["token"], "books.csv", MIRA)
    results = DeferredToolResults(calls={"c0": done})
    run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
    assert '"books.csv"' in str(run.new_messages()[0].parts)
