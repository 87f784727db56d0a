"""Three calls of one message that wait at once, answered in every order by each framework."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

import pytest
from agents import Agent as OpenAIAgent
from agents import RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types
from langchain_core.messages import ToolCall
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from toolgen.adapters.adk import adk_tools
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.adapters.framework_calls import NamedAnswer
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.openai_agents import openai_agents_question, openai_agents_tools
from toolgen.adapters.pydantic_ai import SnapshotToolset, pydantic_ai_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, Snapshot, Suspended

from .bank import WANTED, Bank
from .with_adk import ScriptedLlm, asked_by

META: Final = CallMeta(session_id="s", turn_id="t")
Order = Sequence[int]
"""Places in `WANTED`, in the order of the answers."""
CALLS: Final = {f"c{n}": {"to": to, "amount": amount} for n, (to, amount) in enumerate(WANTED)}


def agrees(question: str) -> bool:
    """Return whether the person agrees: to all payments but the one to mallory."""
    return "mallory" not in question


def place_of(question: str) -> int:
    """Return which of the payments a question is about."""
    [place] = [n for n, (to, _) in enumerate(WANTED) if to in question]
    return place


async def by_pydantic_ai(runtime: Runtime, snapshot: Snapshot, order: Order) -> None:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("pay", dict(args), id_) for id_, args in CALLS.items()])

    toolset: SnapshotToolset[object] = pydantic_ai_toolset(snapshot, META)
    agent = Agent(FunctionModel(respond), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    run = await agent.run("go")
    requests = run.output
    assert isinstance(requests, DeferredToolRequests)
    results = DeferredToolResults()
    for id_ in (f"c{n}" for n in order):
        asked = requests.metadata[id_]
        results.approvals[id_] = True if agrees(asked["question"]) else ToolDenied("no")
        results.metadata[id_] = {"id": asked["id"]}
    await agent.run(message_history=run.all_messages(), deferred_tool_results=results)


async def by_langchain(runtime: Runtime, snapshot: Snapshot, order: Order) -> None:
    answers = {place: asyncio.Event() for place in order}

    async def ask(question: Suspended) -> NamedAnswer:
        await answers[place_of(question.question)].wait()
        return {"id": question.id, "answer": {"approved": agrees(question.question)}}

    [pay, _] = langchain_tools(snapshot, META, ask=ask)
    calls = [ToolCall(name="pay", args=dict(args), id=id_, type="tool_call") for id_, args in CALLS.items()]
    made = [asyncio.ensure_future(pay.ainvoke(call)) for call in calls]
    for place in order:
        answers[place].set()
        await made[place]


async def by_agents_sdk(runtime: Runtime, snapshot: Snapshot, order: Order) -> None:
    made = [function_call("pay", dict(args), call_id=id_) for id_, args in CALLS.items()]
    model = ScriptedModel([made, [assistant_message("done")]])
    agent = OpenAIAgent("fake", model=model, tools=list(openai_agents_tools(snapshot, META)))
    config = RunConfig(tracing_disabled=True)
    run = await Runner.run(agent, "go", run_config=config)
    for place in order:
        state = run.to_state()
        [item] = [one for one in state.get_interruptions() if one.call_id == f"c{place}"]
        question = await openai_agents_question(snapshot, item, META)
        assert question is not None
        if agrees(question.question):
            state.approve(item)
        else:
            state.reject(item)
            await runtime.suspensions.cancel(question.token)
        run = await Runner.run(agent, state, run_config=config)


async def by_adk(runtime: Runtime, snapshot: Snapshot, order: Order) -> None:
    made = [
        types.Part(function_call=types.FunctionCall(id=id_, name="pay", args=dict(args)))
        for id_, args in CALLS.items()
    ]
    model = ScriptedLlm(model="scripted", calls=made)
    runner = InMemoryRunner(
        agent=LlmAgent(name="fake", model=model, tools=list(adk_tools(snapshot, META))), app_name="test"
    )
    await runner.session_service.create_session(app_name="test", user_id="mira", session_id="s")

    async def say(*parts: types.Part) -> list[Any]:
        message = types.Content(role="user", parts=list(parts))
        return [
            event async for event in runner.run_async(user_id="mira", session_id="s", new_message=message)
        ]

    asked = dict(asked_by(await say(types.Part(text="go"))))
    answers = []
    for place in order:
        id_, shown = asked[f"c{place}"]
        response: dict[str, Any] = {"confirmed": agrees(shown["question"]), "payload": {"id": shown["id"]}}
        name = "adk_request_confirmation"
        answers.append(
            types.Part(function_response=types.FunctionResponse(id=id_, name=name, response=response))
        )
    await say(*answers)


def by_fastmcp(mode: Literal["legacy", "2026-07-28"]) -> Callable[..., Awaitable[None]]:
    async def served(runtime: Runtime, snapshot: Snapshot, order: Order) -> None:
        answers = {place: asyncio.Event() for place in order}

        async def elicit(message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
            question = message.splitlines()[0]
            await answers[place_of(question)].wait()
            return ElicitResult(action="accept", content={"approved": agrees(question)})

        provider = fastmcp_provider(snapshot, META, approvals="elicitation")
        server = FastMCP("bank", providers=[provider])
        async with Client(server, elicitation_handler=elicit, mode=mode) as client:
            made = [asyncio.ensure_future(client.call_tool_mcp("pay", dict(args))) for args in CALLS.values()]
            for place in order:
                answers[place].set()
                await made[place]

    return served


FRAMEWORKS: Final[Mapping[str, Callable[[Runtime, Snapshot, Order], Awaitable[None]]]] = {
    "pydantic-ai": by_pydantic_ai,
    "LangChain": by_langchain,
    "Agents SDK": by_agents_sdk,
    "ADK": by_adk,
    "FastMCP 2025-11-25": by_fastmcp("legacy"),
    "FastMCP 2026-07-28": by_fastmcp("2026-07-28"),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_each_answer_counts_for_its_own_call(framework: str, order: tuple[int, ...]) -> None:
    bank = Bank()
    async with asyncio.timeout(60), Runtime(engine=InProcessEngine()) as runtime:
        await FRAMEWORKS[framework](runtime, await bank.offered(runtime), order)
        left = [one.question for one in await runtime.suspensions.list()]
    assert sorted(bank.paid) == [("baker", 3), ("smith", 7)]
    assert left in ([], ["Pay 9999 to mallory?"])  # pydantic-ai does not come back after a no


async def test_pydantic_ai_takes_no_answer_that_names_another_question() -> None:
    bank = Bank()

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("pay", dict(args), id_) for id_, args in CALLS.items()])

    async with Runtime(engine=InProcessEngine()) as runtime:
        toolset: SnapshotToolset[object] = pydantic_ai_toolset(await bank.offered(runtime), META)
        agent = Agent(FunctionModel(respond), toolsets=[toolset], output_type=[str, DeferredToolRequests])
        run = await agent.run("go")
        asked = run.output
        assert isinstance(asked, DeferredToolRequests)
        results = DeferredToolResults(approvals=dict.fromkeys(CALLS, True))
        results.metadata = {id_: {"id": asked.metadata["c1"]["id"]} for id_ in CALLS}
        run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
        again = run.output
    assert bank.paid == [("baker", 3)]
    assert isinstance(again, DeferredToolRequests)
    assert {one.tool_call_id for one in again.approvals} == {"c0", "c2"}
    assert "is for the question" in again.metadata["c0"]["reason"]


async def test_adk_takes_no_answer_that_names_another_question() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        made = [types.Part(function_call=types.FunctionCall(id="c0", name="pay", args=CALLS["c0"]))]
        model = ScriptedLlm(model="scripted", calls=made)
        runner = InMemoryRunner(
            agent=LlmAgent(name="fake", model=model, tools=list(adk_tools(snapshot, META))), app_name="test"
        )
        await runner.session_service.create_session(app_name="test", user_id="mira", session_id="s")

        async def say(part: types.Part) -> list[Any]:
            message = types.Content(role="user", parts=[part])
            return [
                event async for event in runner.run_async(user_id="mira", session_id="s", new_message=message)
            ]

        [(_, (id_, shown))] = asked_by(await say(types.Part(text="go")))
        other: dict[str, Any] = {"confirmed": True, "payload": {"id": "ffffffffffffffff"}}
        name = "adk_request_confirmation"
        await say(types.Part(function_response=types.FunctionResponse(id=id_, name=name, response=other)))
        assert [one.id for one in await runtime.suspensions.list()] == [shown["id"]]
    assert bank.paid == []
