"""One payment that a person approves, in each framework: asked about, and resumed from what that keeps."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agents import Agent as OpenAIAgent
from agents import RunConfig, Runner, RunState, ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call
from fastmcp import Client, FastMCP
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types
from langchain_core.messages import ToolCall
from langgraph.checkpoint.memory import InMemorySaver
from mcp_types import TextContent
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from toolgen.adapters.adk import adk_tools
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.adapters.framework_calls import NamedAnswer
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.openai_agents import openai_agents_tools
from toolgen.adapters.pydantic_ai import SnapshotToolset, pydantic_ai_toolset
from toolgen.runtime import CallMeta, Snapshot, Suspended

from .bank import META
from .with_adk import ScriptedLlm, asked_by
from .with_langgraph import answered, begin, interruptions, one_task, payments, results, resumed

ID: Final = "functions.pay:0"
"""The id that the model gives each of its calls, in every turn."""
Resume = Callable[[], Awaitable[str]]
"""Goes on after the approval, from what the framework has kept, and returns what the model reads."""
Begin = Callable[[Snapshot, Mapping[str, Any]], Awaitable[Resume]]
"""Makes the payment and returns once somebody has to approve it; each time it is another turn."""

_TURNS = itertools.count()


def _turn() -> CallMeta:
    return CallMeta(session_id=META.session_id, turn_id=f"turn {next(_TURNS)}")


async def in_langgraph(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
    message = payments((arguments["to"], arguments["amount"]))
    message.tool_calls[0]["id"] = ID
    graph = one_task(snapshot, InMemorySaver(), message)
    state = await begin(graph)
    values = {one.id: answered(one.value, {"approved": True}) for one in interruptions(state)}

    async def resume() -> str:
        state = await resumed(graph, values) if values else await begin(graph)
        return results(state["messages"])[ID]

    return resume


async def in_langchain(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
    async def ask(question: Suspended) -> NamedAnswer:
        return {"id": question.id, "answer": {"approved": True}}

    [pay, *_] = langchain_tools(snapshot, _turn(), ask=ask)
    call = ToolCall(name="pay", args=dict(arguments), id=ID, type="tool_call")

    async def resume() -> str:
        return str((await pay.ainvoke(call)).content)

    return resume


async def in_agents_sdk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
    def agent() -> OpenAIAgent[Any]:
        call = function_call("pay", dict(arguments), call_id=ID)
        model = ScriptedModel(
            [[call], [assistant_message("done")]] if is_new else [[assistant_message("done")]]
        )
        return OpenAIAgent("fake", model=model, tools=list(openai_agents_tools(snapshot, turn)))

    turn, is_new = _turn(), True
    config = RunConfig(tracing_disabled=True)
    run = await Runner.run(agent(), "go", run_config=config)
    kept, is_new = run.to_state().to_string(), False

    async def resume() -> str:
        state: Any = await RunState.from_string(agent(), kept)
        for item in state.get_interruptions():
            state.approve(item)
        done = await Runner.run(agent(), state, run_config=config)
        [output] = [one for one in done.new_items if isinstance(one, ToolCallOutputItem)]
        return str(output.output)

    return resume


async def in_pydantic_ai(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("pay", dict(arguments), ID)])

    toolset: SnapshotToolset[object] = pydantic_ai_toolset(snapshot, META)
    agent = Agent(FunctionModel(respond), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    kept = (await agent.run("go")).all_messages_json()

    async def resume() -> str:
        messages = ModelMessagesTypeAdapter.validate_json(kept)
        approvals = DeferredToolResults(approvals={ID: True})
        run = await agent.run(message_history=messages, deferred_tool_results=approvals)
        return " ".join(
            str(part.content)
            for message in run.all_messages()
            for part in message.parts
            if isinstance(part, ToolReturnPart | RetryPromptPart)
        )

    return resume


async def in_adk(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
    call = types.FunctionCall(id=ID, name="pay", args=dict(arguments))
    model = ScriptedLlm(model="scripted", calls=[types.Part(function_call=call)])
    agent = LlmAgent(name="fake", model=model, tools=list(adk_tools(snapshot, META)))
    runner = InMemoryRunner(agent=agent, app_name="test")
    session = f"s {next(_TURNS)}"
    await runner.session_service.create_session(app_name="test", user_id="mira", session_id=session)

    async def say(part: types.Part) -> list[Any]:
        message = types.Content(role="user", parts=[part])
        said = runner.run_async(user_id="mira", session_id=session, new_message=message)
        return [event async for event in said]

    events = await say(types.Part(text="go"))
    confirmations = [id_ for _, (id_, _) in asked_by(events)]

    async def resume() -> str:
        for id_ in confirmations:
            yes = types.FunctionResponse(
                id=id_, name="adk_request_confirmation", response={"confirmed": True}
            )
            events.extend(await say(types.Part(function_response=yes)))
        responses = [one for event in events for one in event.get_function_responses() if one.id == ID]
        return str(responses[-1].response)

    return resume


def in_fastmcp(mode: Any) -> Begin:
    async def begin(snapshot: Snapshot, arguments: Mapping[str, Any]) -> Resume:
        async def approve(message: str, *_: Any) -> dict[str, Any]:
            return {"approved": True}

        provider = fastmcp_provider(snapshot, META, approvals="elicitation")
        server = FastMCP("bank", providers=[provider])

        async def resume() -> str:
            async with Client(server, elicitation_handler=approve, mode=mode) as client:
                result = await client.call_tool_mcp("pay", dict(arguments))
            [block] = [one for one in result.content if isinstance(one, TextContent)]
            return block.text

        return resume

    return begin


FRAMEWORKS: Final[Mapping[str, Begin]] = {
    "LangGraph": in_langgraph,
    "LangChain": in_langchain,
    "Agents SDK": in_agents_sdk,
    "pydantic-ai": in_pydantic_ai,
    "ADK": in_adk,
    "FastMCP, legacy": in_fastmcp("legacy"),
    "FastMCP, 2026-07-28": in_fastmcp("2026-07-28"),
}
