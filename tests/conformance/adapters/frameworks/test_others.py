"""What only LangChain, FastMCP or ADK has."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from google.adk.agents import LlmAgent
from google.adk.artifacts import InMemoryArtifactService
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import ToolException
from mcp_types import TextContent

from toolgen.adapters.adk import adk_tools
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.adapters.framework_calls import NamedAnswer
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.mcp import server
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Suspended

from .home import MIRA, Call, Home
from .test_contract import WEEK
from .with_adk import ScriptedLlm, asked_by, confirmation, run

RESET: dict[str, Json] = {"device_id": "h09"}


async def test_langchain_denies_where_nobody_can_be_asked(home: Home) -> None:
    tools = {tool.name: tool for tool in langchain_tools(home.snapshot, MIRA)}
    message = await tools["factory_reset"].ainvoke(
        ToolCall(name="factory_reset", args=RESET, id="c1", type="tool_call")
    )
    assert isinstance(message, ToolMessage)
    assert (message.status, json.loads(str(message.content))["code"]) == ("error", "canceled")
    assert await home.runtime.suspensions.list() == ()


async def test_langchain_asks_the_same_again_after_an_interruption(home: Home) -> None:
    asked: list[str] = []

    async def ask(question: Suspended) -> NamedAnswer:
        asked.append(question.id)
        if len(asked) == 1:
            raise LookupError("an interruption, as LangGraph's")
        return {"id": question.id, "answer": {"approved": True}}

    tools = {tool.name: tool for tool in langchain_tools(home.snapshot, MIRA, ask=ask)}
    call = ToolCall(name="factory_reset", args=RESET, id="c1", type="tool_call")
    with pytest.raises(LookupError):
        await tools["factory_reset"].ainvoke(call)
    message = await tools["factory_reset"].ainvoke(call)
    assert message.status == "success"
    assert asked[0] == asked[1]


async def test_langchain_makes_no_call_that_needs_a_turn_outside_of_a_graph_without_one(home: Home) -> None:
    tools = {tool.name: tool for tool in langchain_tools(home.snapshot, CallMeta(session_id="s-mira"))}
    with pytest.raises(ToolgenError, match="has no turn_id"):
        await tools["factory_reset"].ainvoke(
            ToolCall(name="factory_reset", args=RESET, id="c1", type="tool_call")
        )
    assert await home.runtime.suspensions.list() == ()


async def test_langchain_without_a_model_raises_what_failed(home: Home) -> None:
    tools = {tool.name: tool for tool in langchain_tools(home.snapshot, MIRA)}
    assert "level" in await tools["set_state"].ainvoke(
        {"device_id": "h09", "command": {"kind": "dim", "level": 40}}
    )
    with pytest.raises(ToolException, match="no device 'nope'"):
        await tools["draw_readings"].ainvoke({"device_id": "nope"})
    with pytest.raises(NotImplementedError, match="use ainvoke"):
        tools["draw_readings"].invoke({"device_id": "nope"})


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_fastmcp_takes_no_approval_of_a_client_unless_the_host_says_so(home: Home, mode: Any) -> None:
    asked: list[str] = []

    async def elicit(message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
        asked.append(message)
        return ElicitResult(action="accept", content={"approved": True})

    server = FastMCP("home", providers=[fastmcp_provider(home.snapshot, MIRA)])
    async with Client(server, elicitation_handler=elicit, mode=mode) as client:
        result = await client.call_tool_mcp("factory_reset", dict(RESET))
    assert result.is_error
    assert asked == []
    [waiting] = await home.runtime.suspensions.list("s-mira")
    [block] = result.content
    assert isinstance(block, TextContent)
    assert json.loads(block.text)["id"] == waiting.id
    done = await home.runtime.suspensions.answer(waiting.token, {"approved": True})
    assert done.status == "ok"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_fastmcp_denies_where_the_client_cannot_ask(home: Home, mode: Any) -> None:
    provider = fastmcp_provider(home.snapshot, MIRA, approvals="elicitation")
    async with Client(FastMCP("home", providers=[provider]), mode=mode) as client:
        result = await client.call_tool_mcp("factory_reset", dict(RESET))
    assert result.is_error
    assert await home.runtime.suspensions.list() == ()


async def test_a_way_to_approve_that_is_unknown_is_refused(home: Home) -> None:
    unknown: Any = "elicit"
    with pytest.raises(ToolgenError, match="approvals is 'elicit'"):
        fastmcp_provider(home.snapshot, MIRA, approvals=unknown)
    with pytest.raises(ToolgenError, match="approvals is 'elicit'"):
        server(Runtime(), approvals=unknown)


async def test_fastmcp_ends_with_a_client_whose_answers_never_fit(home: Home) -> None:
    times = 0

    async def elicit(*_: Any) -> ElicitResult[dict[str, Any]]:
        nonlocal times
        times += 1
        return ElicitResult(action="accept", content={"approved": "perhaps"})

    provider = fastmcp_provider(home.snapshot, MIRA, approvals="elicitation")
    server = FastMCP("home", providers=[provider])
    async with Client(server, elicitation_handler=elicit, mode="legacy") as client:
        result = await client.call_tool_mcp("factory_reset", dict(RESET))
    assert (result.is_error, times) == (True, 3)
    [waiting] = await home.runtime.suspensions.list()
    [block] = result.content
    assert isinstance(block, TextContent)
    assert waiting.id in block.text


async def test_fastmcp_takes_a_question_back_whose_client_leaves() -> None:
    asked, events = asyncio.Event(), Events()
    runtime = Runtime(engine=InProcessEngine(), events=events)
    tool = func_tool(pay, toolset="bank.accounts", confirm=ConfirmSpec(hint="Pay?"))
    runtime.tools.register(function_toolset("bank.accounts", [tool]))
    provider = fastmcp_provider(await runtime.tools.snapshot(), MIRA, approvals="elicitation")

    async def elicit(*_: Any) -> ElicitResult[dict[str, Any]]:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def call() -> None:
        server = FastMCP("bank", providers=[provider])
        async with Client(server, elicitation_handler=elicit, mode="legacy") as client:
            await client.call_tool_mcp("pay", {})

    async with asyncio.timeout(30), events.subscribe() as subscription:
        task = asyncio.create_task(call())
        await asked.wait()
        task.cancel()
        ends = (event async for event in subscription if isinstance(event, ToolEnd))
        async for end in ends:
            if end.status == "denied":
                break
    assert await runtime.suspensions.list() == ()


async def pay() -> str:
    """Pay."""
    return "paid"


async def test_adk_asks_once_and_leaves_a_call_waiting_whose_answer_does_not_fit(home: Home) -> None:
    call = types.Part(function_call=types.FunctionCall(id="c0", name="factory_reset", args=RESET))
    agent = LlmAgent(
        name="fake",
        model=ScriptedLlm(model="scripted", calls=[call]),
        tools=list(adk_tools(home.snapshot, MIRA)),
    )
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="test", user_id="mira", session_id="s")
    runner = Runner(app_name="test", agent=agent, session_service=sessions)
    events = await run(runner, types.Content(role="user", parts=[types.Part(text="go")]))
    [(_, (id_, _))] = asked_by(events)

    wrong = Call(tool="factory_reset", answer={"approved": True, "payload": {"keep_on": "perhaps"}})
    events = await run(runner, types.Content(role="user", parts=[confirmation(id_, wrong)]))
    assert asked_by(events) == []
    [response] = [one for event in events for one in event.get_function_responses()]
    assert response.response is not None
    assert "keep_on" in response.response["error"]
    [waiting] = await home.runtime.suspensions.list()
    assert waiting.id == response.response["id"]


async def test_a_question_that_adk_does_not_confirm_has_no_answer(home: Home) -> None:
    """Whatever stands in the payload."""
    call = types.Part(function_call=types.FunctionCall(id="c0", name="post", args={}))
    agent = LlmAgent(
        name="fake",
        model=ScriptedLlm(model="scripted", calls=[call]),
        tools=list(adk_tools(home.snapshot, MIRA)),
    )
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="test", user_id="mira", session_id="s")
    runner = Runner(app_name="test", agent=agent, session_service=sessions)
    events = await run(runner, types.Content(role="user", parts=[types.Part(text="go")]))
    [(_, (id_, _))] = asked_by(events)
    answer = confirmation(id_, Call(tool="post", answer="Ulm"))
    assert answer.function_response is not None
    assert answer.function_response.response is not None
    answer.function_response.response["confirmed"] = False
    events = await run(runner, types.Content(role="user", parts=[answer]))
    [response] = [one for event in events for one in event.get_function_responses()]
    assert response.response is not None
    assert response.response["error"] == "the question was not answered"
    assert await home.runtime.suspensions.list() == ()


@pytest.mark.parametrize("has_service", [True, False])
async def test_adk_keeps_artifacts_where_it_has_a_service(home: Home, has_service: bool) -> None:
    call = types.Part(function_call=types.FunctionCall(id="c0", name="get_time_series", args=WEEK))
    agent = LlmAgent(
        name="fake",
        model=ScriptedLlm(model="scripted", calls=[call]),
        tools=list(adk_tools(home.snapshot, MIRA)),
    )
    sessions, artifacts = InMemorySessionService(), InMemoryArtifactService()
    owner: dict[str, Any] = {"app_name": "test", "user_id": "mira", "session_id": "s"}
    await sessions.create_session(**owner)
    runner = Runner(
        app_name="test",
        agent=agent,
        session_service=sessions,
        artifact_service=artifacts if has_service else None,
    )
    message = types.Content(role="user", parts=[types.Part(text="go")])
    events = [event async for event in runner.run_async(user_id="mira", session_id="s", new_message=message)]
    [response] = [one for event in events for one in event.get_function_responses()]
    assert response.response is not None
    assert response.response["count"] == 24
    names = await artifacts.list_artifact_keys(**owner)
    if not has_service:
        assert names == []
        return
    [name] = names
    assert name == "assistant.devices.get_time_series.c0.time_series.0.json"
    part = await artifacts.load_artifact(**owner, filename=name)
    assert part is not None
    assert part.inline_data is not None
    assert len(json.loads(part.inline_data.data or b"")["readings"]) == 24


async def test_langchain_asks_three_times_and_leaves_the_call_waiting(home: Home) -> None:
    asked: list[str] = []

    async def ask(question: Suspended) -> NamedAnswer:
        asked.append(question.reason)
        return {"id": "ffffffffffffffff", "answer": {"approved": True}}

    tools = {tool.name: tool for tool in langchain_tools(home.snapshot, MIRA, ask=ask)}
    call = ToolCall(name="factory_reset", args=RESET, id="c1", type="tool_call")
    message = await tools["factory_reset"].ainvoke(call)
    [waiting] = await home.runtime.suspensions.list()
    assert (len(asked), message.status) == (3, "error")
    assert "ffffffffffffffff" in asked[1]
    assert json.loads(message.content)["id"] == waiting.id
    assert (await home.runtime.suspensions.answer(waiting.token, {"approved": True})).status == "ok"


async def test_a_call_of_langchain_that_has_ended_is_not_executed_again() -> None:
    sent: list[str] = []

    async def send(to: str) -> str:
        """Send."""
        sent.append(to)
        return "sent"

    async with Runtime(engine=InProcessEngine()) as runtime:
        runtime.tools.register(function_toolset("post.letters", [send]))
        [tool] = langchain_tools(await runtime.tools.snapshot(), MIRA)
        call = ToolCall(name="send", args={"to": "ann"}, id="same", type="tool_call")
        messages = [await tool.ainvoke(call) for _ in range(2)]
        other = ToolCall(name="send", args={"to": "bob"}, id="same", type="tool_call")
        refused = await tool.ainvoke(other)
    assert [message.content for message in messages] == ['"sent"', '"sent"']
    assert (refused.status, "made before" in refused.content) == ("error", True)
    assert sent == ["ann"]
