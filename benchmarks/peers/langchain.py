"""LangChain and LangGraph: `StructuredTool.ainvoke`, and `create_agent` with a scripted chat model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from ..bare import BAD, GOOD, PING, Once
from .peer import CALLS, LARGE, ROUNDS, SMALL, Way, show
from .tools import count, lister, ping


def list_devices(size: int) -> BaseTool:
    return made(lister(size, as_text=True))


def made(function: Callable[..., Any]) -> BaseTool:
    return StructuredTool.from_function(coroutine=function, handle_validation_error=True)


def calling(tool: BaseTool, arguments: bytes) -> Once:
    return lambda: tool.ainvoke(json.loads(arguments))


class Scripted(BaseChatModel):
    """Makes three rounds of three calls, and answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(isinstance(message, AIMessage) for message in messages)
        calls = [
            {"name": "count", "args": {"upto": number}, "id": f"c-{done}-{number}"} for number in range(CALLS)
        ]
        answer = AIMessage("done") if done == ROUNDS else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


def main() -> None:
    """Print what LangChain and LangGraph cost."""
    agent = create_agent(Scripted(), [made(count)])

    async def run() -> str:
        state = await agent.ainvoke({"messages": [HumanMessage("count")]})
        return str(state["messages"][-1].content)

    small = list_devices(SMALL)
    one = Way(
        name="`StructuredTool.ainvoke`",
        large=calling(list_devices(LARGE), GOOD),
        small=calling(small, GOOD),
        ping=calling(made(ping), PING),
        invalid=calling(small, BAD),
    )
    show(["langchain", "langchain-core", "langgraph"], [one], run)


if __name__ == "__main__":
    main()
