"""pydantic-ai with its `FunctionModel`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDenied

from toolgen.adapters.pydantic_ai import SnapshotToolset, pydantic_ai_toolset

from .home import MIRA, Call, Home, Seen

Output = str | DeferredToolRequests


class PydanticAI:
    """Drives pydantic-ai."""

    has_facts_of_errors = False
    has_artifact_data = True

    def __str__(self) -> str:
        return "PydanticAI"

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        toolset: SnapshotToolset[object] = pydantic_ai_toolset(home.snapshot, lambda _: MIRA)
        agent = Agent(_model(calls), toolsets=[toolset], output_type=[str, DeferredToolRequests])
        run = await agent.run("go")
        asked: Mapping[str, dict[str, Any]] = {}
        while isinstance(requests := run.output, DeferredToolRequests):
            asked = asked or requests.metadata
            results = DeferredToolResults()
            for n, call in enumerate(calls):
                if call.answer is not None:
                    await _answer(toolset, requests, results, f"c{n}", call.answer)
            if not results.approvals and not results.calls:
                break
            run = await agent.run(message_history=run.all_messages(), deferred_tool_results=results)
        return [_seen(run, f"c{n}", asked.get(f"c{n}", {})) for n in range(len(calls))]


async def _answer(
    toolset: SnapshotToolset[object],
    requests: DeferredToolRequests,
    results: DeferredToolResults,
    id_: str,
    answer: Any,
) -> None:
    if requests.kind(id_) != "approval":
        results.calls[id_] = await toolset.deliver(requests.metadata[id_]["token"], answer, MIRA)
    elif answer["approved"]:
        results.approvals[id_] = True
        results.metadata[id_] = {"id": requests.metadata[id_]["id"], **answer}
    else:
        results.approvals[id_] = ToolDenied(answer["message"])


def _model(calls: tuple[Call, ...]) -> FunctionModel:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart(call.tool, dict(call.arguments), f"c{n}") for n, call in enumerate(calls)]
        )

    return FunctionModel(respond)


def _seen(run: AgentRunResult[Output], id_: str, asked: Mapping[str, Any]) -> Seen:
    parts = [part for one in run.all_messages() if isinstance(one, ModelRequest) for part in one.parts]
    images = tuple(
        block.media_type
        for part in parts
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str)
        for block in part.content
        if isinstance(block, BinaryContent)
    )
    for part in parts:
        if isinstance(part, ToolReturnPart) and part.tool_call_id == id_:
            return Seen(
                text=str(part.content),
                is_error=part.outcome != "success",
                facts=part.metadata or {},
                images=images,
                asked=asked,
            )
    return Seen(text="", asked=asked)
