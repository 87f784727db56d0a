"""The real LangGraph: graphs whose calls of one message are a task each or one task, and those of agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Interrupt, Send

from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.langgraph import langgraph_ask, toolgen_tool_node
from toolgen.contract.json_value import Json
from toolgen.runtime import Snapshot

from .bank import META

CONFIG: Final[Any] = {"configurable": {"thread_id": "t"}}


class ScriptedModel(BaseChatModel):
    """Says one message to a person, and that it is done to the results of tools."""

    said: AIMessage

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        is_asked = isinstance(messages[-1], HumanMessage)
        return ChatResult(generations=[ChatGeneration(message=self.said if is_asked else AIMessage("done"))])


def payments(*wanted: tuple[str, int]) -> AIMessage:
    """Return the message of a model that makes these payments, by the calls `c0`, `c1` and so on."""
    calls = [
        ToolCall(name="pay", args={"to": to, "amount": amount}, id=f"c{n}", type="tool_call")
        for n, (to, amount) in enumerate(wanted)
    ]
    return AIMessage("", tool_calls=calls)


def of_node(node: Any, saver: BaseCheckpointSaver[Any], message: AIMessage) -> Any:
    """Return a graph whose model says a message, and whose node executes its calls."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [message]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", END)
    return graph.compile(checkpointer=saver)


def by_tool_node(snapshot: Snapshot, saver: BaseCheckpointSaver[Any], message: AIMessage) -> Any:
    """Return a graph whose `toolgen_tool_node` executes all calls of a message."""
    node = toolgen_tool_node(langchain_tools(snapshot, META, ask=langgraph_ask))
    return of_node(node, saver, message)


def one_task(snapshot: Snapshot, saver: BaseCheckpointSaver[Any], message: AIMessage) -> Any:
    """Return a graph whose `ToolNode` executes all calls of a message in one task."""
    return of_node(ToolNode(langchain_tools(snapshot, META, ask=langgraph_ask)), saver, message)


def a_task_each(snapshot: Snapshot, saver: BaseCheckpointSaver[Any], message: AIMessage) -> Any:
    """Return a graph that sends each call to a task of its own."""

    def each(state: MessagesState) -> list[Send]:
        newest: Any = state["messages"][-1]
        return [Send("tools", [call]) for call in newest.tool_calls]

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [message]})
    graph.add_node("tools", ToolNode(langchain_tools(snapshot, META, ask=langgraph_ask)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", each, ["tools"])
    graph.add_edge("tools", END)
    return graph.compile(checkpointer=saver)


def an_agent(snapshot: Snapshot, saver: BaseCheckpointSaver[Any], message: AIMessage) -> Any:
    """Return an agent of `create_agent`, whose model says one thing more in the end."""
    model = ScriptedModel(said=message)
    return create_agent(model, langchain_tools(snapshot, META, ask=langgraph_ask), checkpointer=saver)


GRAPHS: Final[Mapping[str, Callable[..., Any]]] = {
    "toolgen_tool_node": by_tool_node,
    "Send": a_task_each,
    "create_agent": an_agent,
}


async def begin(graph: Any) -> dict[str, Any]:
    """Return the state of a graph after its first invocation."""
    said: dict[str, Any] = await graph.ainvoke({"messages": [HumanMessage("go")]}, CONFIG)
    return said


def interruptions(state: Mapping[str, Any]) -> list[Interrupt]:
    """Return what a graph asks."""
    return list(state.get("__interrupt__", ()))


def answered(question: Mapping[str, Any], answer: Json) -> Json:
    """Return an answer that names its question."""
    return {"id": question["id"], "answer": answer}


async def resumed(graph: Any, values: Json) -> dict[str, Any]:
    """Return the state of a graph after values for its interruptions by their ids, or after one value."""
    said: dict[str, Any] = await graph.ainvoke(Command(resume=values), CONFIG)
    return said


def results(messages: Sequence[AnyMessage]) -> dict[str, str]:
    """Return what the model reads of each call, by id."""
    return {one.tool_call_id: str(one.content) for one in messages if isinstance(one, ToolMessage)}
