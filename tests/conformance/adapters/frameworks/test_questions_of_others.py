"""Questions that an application asks by a framework's own means, beside those of toolgen's calls."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import Agent as OpenAIAgent
from agents import RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools.base import InputRequiredToolResult
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from langgraph.types import interrupt
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import ApprovalRequiredToolset

from toolgen.adapters.adk import adk_tools
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.openai_agents import openai_agents_tools
from toolgen.adapters.pydantic_ai import pydantic_ai_toolset
from toolgen.calls.call import CallName
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, Suspended

from .bank import META, Bank
from .own_interrupts import Desk, plain
from .with_adk import ScriptedLlm
from .with_langgraph import CONFIG

PAID = {"to": "baker", "amount": 3}
TURN = CallMeta(session_id="s", turn_id="t")
both_ways = pytest.mark.parametrize(("pays", "wipes"), list(itertools.product((True, False), repeat=2)))


class Disks:
    """The disks of an application, which a tool of its own wipes."""

    def __init__(self) -> None:
        self.wiped: list[str] = []

    def wipe(self, disk: str) -> str:
        """Wipe a disk."""
        self.wiped.append(disk)
        return "wiped"


# pydantic-ai


def two_calls(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Pay, and wipe where there is such a tool; say that it is done to the results."""
    if any(isinstance(message, ModelResponse) for message in messages):
        return ModelResponse(parts=[TextPart("done")])
    calls: list[tuple[str, Any, str]] = [("pay", PAID, "c0"), ("wipe", {"disk": "sda"}, "c1")]
    has = {tool.name for tool in info.function_tools}
    return ModelResponse(
        parts=[ToolCallPart(name, dict(args), id_) for name, args, id_ in calls if name in has]
    )


@both_ways
async def test_pydantic_ai_beside_a_tool_of_its_own_that_needs_approval(pays: bool, wipes: bool) -> None:
    bank, disks = Bank(), Disks()
    async with Runtime(engine=InProcessEngine()) as runtime:
        agent = Agent(
            FunctionModel(two_calls),
            tools=[Tool(disks.wipe, requires_approval=True)],
            toolsets=[pydantic_ai_toolset(await bank.offered(runtime), META)],
            output_type=[str, DeferredToolRequests],
        )
        run = await agent.run("go")
        assert isinstance(run.output, DeferredToolRequests)
        assert {one.tool_call_id for one in run.output.approvals} == {"c0", "c1"}
        said: Any = {"c0": pays or ToolDenied("no"), "c1": wipes or ToolDenied("no")}
        results = DeferredToolResults(approvals=said)
        run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
        assert run.output == "done"
    assert (bank.paid, disks.wiped) == ([("baker", 3)] if pays else [], ["sda"] if wipes else [])


async def test_an_approval_of_a_toolset_around_is_none_of_the_question_inside() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        inner = pydantic_ai_toolset(await bank.offered(runtime), META)
        agent = Agent(
            FunctionModel(two_calls),
            toolsets=[ApprovalRequiredToolset(inner)],
            output_type=[str, DeferredToolRequests],
        )
        run = await agent.run("go")
        for paid in ([], [("baker", 3)]):
            assert isinstance(run.output, DeferredToolRequests)
            results = DeferredToolResults(approvals={"c0": True})
            run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
            assert bank.paid == paid


# OpenAI's Agents SDK


@both_ways
async def test_the_agents_sdk_beside_a_tool_of_its_own_that_needs_approval(pays: bool, wipes: bool) -> None:
    bank, disks = Bank(), Disks()
    own = function_tool(disks.wipe, name_override="wipe", needs_approval=True)
    async with Runtime(engine=InProcessEngine()) as runtime:
        calls = [
            function_call("pay", PAID, call_id="c0"),
            function_call("wipe", {"disk": "sda"}, call_id="c1"),
        ]
        agent = OpenAIAgent(
            "clerk",
            model=ScriptedModel([calls, [assistant_message("done")]]),
            tools=[*openai_agents_tools(await bank.offered(runtime), TURN), own],
        )
        quiet = RunConfig(tracing_disabled=True)
        run = await Runner.run(agent, "go", run_config=quiet)
        state = run.to_state()
        for item in state.get_interruptions():
            if pays if item.tool_name == "pay" else wipes:
                state.approve(item)
            else:
                state.reject(item)
        run = await Runner.run(agent, state, run_config=quiet)
        assert run.final_output == "done"
    assert (bank.paid, disks.wiped) == ([("baker", 3)] if pays else [], ["sda"] if wipes else [])


# Google's ADK


def adk_runner(calls: list[tuple[str, dict[str, Any]]], tools: list[Any], **options: Any) -> InMemoryRunner:
    """Return a runner whose model makes these calls, as `c0`, `c1`."""
    made = [
        types.Part(function_call=types.FunctionCall(id=f"c{n}", name=name, args=args))
        for n, (name, args) in enumerate(calls)
    ]
    model = ScriptedLlm(model="scripted", calls=made)
    return InMemoryRunner(agent=LlmAgent(name="fake", model=model, tools=tools, **options), app_name="test")


async def say(runner: InMemoryRunner, *parts: types.Part) -> list[Any]:
    """Return the events after what a person says."""
    if await runner.session_service.get_session(app_name="test", user_id="mira", session_id="s") is None:
        await runner.session_service.create_session(app_name="test", user_id="mira", session_id="s")
    message = types.Content(role="user", parts=list(parts))
    return [event async for event in runner.run_async(user_id="mira", session_id="s", new_message=message)]


def confirmed(id_: str, response: Json) -> types.Part:
    """Return what a person says to a confirmation."""
    name = "adk_request_confirmation"
    facts: Any = response
    return types.Part(function_response=types.FunctionResponse(id=id_, name=name, response=facts))


@both_ways
async def test_adk_beside_a_tool_of_its_own_that_needs_confirmation(pays: bool, wipes: bool) -> None:
    bank, disks = Bank(), Disks()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = [
            *adk_tools(await bank.offered(runtime), META),
            FunctionTool(disks.wipe, require_confirmation=True),
        ]
        runner = adk_runner([("pay", PAID), ("wipe", {"disk": "sda"})], tools)
        events = await say(runner, types.Part(text="go"))
        ids = {
            call.args["originalFunctionCall"]["name"]: call.id
            for event in events
            for call in event.get_function_calls()
            if call.name == "adk_request_confirmation"
        }
        answers = [confirmed(ids["pay"], {"confirmed": pays}), confirmed(ids["wipe"], {"confirmed": wipes})]
        await say(runner, *answers)
    assert (bank.paid, disks.wiped) == ([("baker", 3)] if pays else [], ["sda"] if wipes else [])


async def test_a_confirmation_of_a_callback_is_none_of_the_question_of_adk() -> None:
    """The call has asked in a run that broke off before ADK had its question."""
    bank = Bank()

    async def confirm(tool: Any, args: Any, tool_context: ToolContext) -> Any:
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="May the model use it?")
            return {"status": "asked"}
        return None

    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        runner = adk_runner([("pay", PAID)], list(adk_tools(snapshot, META)), before_tool_callback=confirm)
        events = await say(runner, types.Part(text="go"))
        calls = {call.name: (event.id, call.id) for event in events for call in event.get_function_calls()}
        made = CallName(interface="adk", call_id="c0", checkpoint=f"test/mira/s/{calls['pay'][0]}")
        assert (await snapshot.call_once(made, "pay", PAID, META)).status == "suspended"
        await say(runner, confirmed(calls["adk_request_confirmation"][1] or "", {"confirmed": True}))
        assert len(await runtime.suspensions.list()) == 1
    assert bank.paid == []


async def test_what_a_callback_of_adk_has_set_stays() -> None:
    bank = Bank()
    seen: list[Any] = []

    async def before(tool: Any, args: Any, tool_context: ToolContext) -> None:
        tool_context.actions.skip_summarization = True

    async def after(tool: Any, args: Any, tool_context: ToolContext, tool_response: Any) -> None:
        seen.append(tool_context.actions.skip_summarization)

    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = list(adk_tools(await bank.offered(runtime), META))
        runner = adk_runner(
            [("greet", {"name": "ann"})], tools, before_tool_callback=before, after_tool_callback=after
        )
        await say(runner, types.Part(text="go"))
    assert (bank.greeted, seen) == (["ann"], [True])


# FastMCP


class AsksFirst(Middleware):
    """Asks whether a tool may be used at all, before it is called."""

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        server = context.fastmcp_context
        assert server is not None
        if server.request_state is None:
            params = ElicitRequestFormParams(
                message="May it be used?",
                requested_schema={"type": "object", "properties": {"may": {"type": "boolean"}}},
            )
            asked: Any = {"own": ElicitRequest(params=params)}
            return InputRequiredToolResult(InputRequiredResult(input_requests=asked, request_state="own"))
        answers: Any = server.input_responses or {}
        if "own" in answers and not answers["own"].content["may"]:
            raise ToolError("it may not be used")
        return await call_next(context)


@both_ways
async def test_fastmcp_behind_a_question_of_a_middleware(pays: bool, wipes: bool) -> None:
    """Here `wipes` is the answer of the application's own question; both have to be a yes."""
    bank = Bank()
    asked: list[str] = []

    async def elicit(message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
        asked.append(message.splitlines()[0])
        content = {"may": wipes} if message == "May it be used?" else {"approved": pays}
        return ElicitResult(action="accept", content=content)

    async with asyncio.timeout(60), Runtime(engine=InProcessEngine()) as runtime:
        provider = fastmcp_provider(await bank.offered(runtime), META, approvals="elicitation")
        server = FastMCP("bank", providers=[provider], middleware=[AsksFirst()])
        async with Client(server, elicitation_handler=elicit, mode="2026-07-28") as client:
            await client.call_tool_mcp("pay", dict(PAID))
    assert bank.paid == ([("baker", 3)] if pays and wipes else [])
    assert asked == ["May it be used?", *(["Pay 3 to baker?"] if wipes else [])]


# LangChain


async def test_a_function_that_asks_by_an_interruption_is_an_error() -> None:
    """It would give its number away once the call has ended: `langgraph_ask` keeps it."""
    desk = Desk()

    async def ask(question: Suspended) -> Any:
        return {"id": question.id, "answer": interrupt({"question": question.question})}

    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = langchain_tools(await desk.offered(runtime), META, ask=ask)
        graph = plain(desk, {one.name: one for one in tools}, "TO")
        with pytest.raises(Exception, match="langgraph_ask"):
            await graph.ainvoke({"messages": []}, CONFIG)
    assert desk.paid == []
