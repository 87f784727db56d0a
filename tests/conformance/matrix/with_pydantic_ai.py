"""Calls of an agent of pydantic-ai, whose run ends with the question and begins again with the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.matrix.doors.door import Door, Seen
from tests.matrix.ledger import ARGUMENTS
from tests.matrix.world import CALL, FACTS, World
from toolgen.adapters.pydantic_ai import pydantic_ai_toolset
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from .offered import failed, snapshot_of

Output = str | DeferredToolRequests


@asynccontextmanager
async def pydantic_ai(world: World) -> AsyncIterator[Door]:
    """Open a runtime whose tools an agent of pydantic-ai has."""
    async with world.runtime() as runtime:
        yield await PydanticAI.of(world, runtime)


class PydanticAI:
    """`Agent.run`."""

    agent = ""

    @classmethod
    async def of(cls, world: World, runtime: Runtime) -> PydanticAI:
        """Return the door of a runtime."""
        made = cls()
        made._runtime = runtime
        made._toolset = pydantic_ai_toolset(await snapshot_of(runtime), lambda _: FACTS)
        made._agent = Agent(
            _calling(world.tool), toolsets=[made._toolset], output_type=[str, DeferredToolRequests]
        )
        return made

    _runtime: Runtime
    _toolset: Any
    _agent: Agent[object, Output]
    _run: AgentRunResult[Output]

    async def call(self) -> Seen:
        return self._seen(await self._agent.run("go"))

    async def answer(self, answer: Json) -> Seen:
        requests, results = self._run.output, DeferredToolResults()
        assert isinstance(requests, DeferredToolRequests)
        if requests.kind(CALL) == "approval":
            results.approvals[CALL] = True
            results.metadata[CALL] = {"id": requests.metadata[CALL]["id"], "by": "bob"}
        else:
            token = requests.metadata[CALL]["token"]
            results.calls[CALL] = await self._toolset.deliver(token, answer, FACTS)
        messages = self._run.all_messages()
        return self._seen(await self._agent.run(message_history=messages, deferred_tool_results=results))

    def _seen(self, run: AgentRunResult[Output]) -> Seen:
        self._run = run
        if isinstance(run.output, DeferredToolRequests):
            return Seen(status="suspended", question=run.output.metadata[CALL]["question"])
        parts = [part for one in run.all_messages() for part in one.parts]
        (part,) = [one for one in parts if isinstance(one, ToolReturnPart)]
        text = str(part.content)
        if part.outcome != "success":
            return failed(text)
        return Seen(status=part.metadata["status"], text=text)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        yield self._runtime


def _calling(tool: str) -> FunctionModel:
    """Return a model that calls a tool once."""

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(tool, ARGUMENTS, CALL)])

    return FunctionModel(respond)
