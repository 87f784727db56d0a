"""What only pydantic-ai has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from toolgen.adapters.pydantic_ai import SnapshotToolset, pydantic_ai_toolset

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
