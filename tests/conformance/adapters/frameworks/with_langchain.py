"""langchain-core with `GenericFakeChatModel`, and the loop of an agent in a few lines."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from toolgen.adapters.framework_calls import NamedAnswer
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.result_view import approval_json
from toolgen.runtime import Suspended

from .home import MIRA, Call, Home, Seen


class Unanswered(Exception):
    """Ends a run that waits for a person, as LangGraph's `interrupt` does."""


class LangChain:
    """Drives LangChain."""

    has_facts_of_errors = True
    has_artifact_data = True

    def __str__(self) -> str:
        return "LangChain"

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        turn = replace(MIRA, turn_id=uuid.uuid4().hex)  # the calls of each run have the same ids
        asked: dict[str, Mapping[str, Any]] = {}

        async def ask(question: Suspended) -> NamedAnswer:
            asked[question.call.tool_call_id] = approval_json(question)
            answer = calls[int(question.call.tool_call_id[1:])].answer
            if answer is None:
                raise Unanswered
            return {"id": question.id, "answer": answer}

        tools = {tool.name: tool for tool in langchain_tools(home.snapshot, lambda _: turn, ask=ask)}
        made = [
            ToolCall(name=call.tool, args=dict(call.arguments), id=f"c{n}", type="tool_call")
            for n, call in enumerate(calls)
        ]
        model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=made)]))
        answer = await model.ainvoke("go")
        assert isinstance(answer, AIMessage)
        runs = [_call(tools.get(call["name"]), call) for call in answer.tool_calls]
        messages = await asyncio.gather(*runs)
        return [_seen(one, asked.get(f"c{n}", {})) for n, one in enumerate(messages)]


async def _call(tool: Any, call: ToolCall) -> ToolMessage | None:
    if tool is None:  # as LangGraph's ToolNode
        text = f"Error: {call['name']} is not a valid tool."
        return ToolMessage(text, tool_call_id=call["id"], status="error")
    try:
        message = await tool.ainvoke(call)
    except Unanswered:
        return None
    assert isinstance(message, ToolMessage)
    return message


def _seen(message: ToolMessage | None, asked: Mapping[str, Any]) -> Seen:
    if message is None:
        return Seen(text="", asked=asked)
    blocks = [block for block in message.content if isinstance(block, dict)]
    text = message.content if isinstance(message.content, str) else blocks[0]["text"]
    return Seen(
        text=text,
        is_error=message.status == "error",
        facts=message.artifact or {},
        images=tuple(block["mime_type"] for block in blocks if block["type"] == "image"),
        asked=asked,
    )
