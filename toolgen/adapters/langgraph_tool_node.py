"""LangGraph node that executes each call of a message in its own task."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Annotated, Any, Final, TypedDict

from toolgen.contract.extras import extra

from .langchain import SENT_BY

with extra("langgraph"):
    from langchain_core.messages import AIMessage, ToolCall
    from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
    from langchain_core.tools import BaseTool
    from langgraph.graph import START, StateGraph
    from langgraph.prebuilt import ToolNode
    from langgraph.types import Command, Send

_AROUND: Final = ContextVar[tuple[Any, str]]("around")
"""State and namespace of the node in the outer graph: the same in each run, so they are not checkpointed."""


class _Calls(TypedDict):
    calls: list[ToolCall]
    outputs: Annotated[list[Any], operator.add]
    """Outputs of `ToolNode`, in the order of the calls."""


def toolgen_tool_node(
    tools: Sequence[BaseTool], *, name: str = "tools", messages_key: str = "messages", **options: Any
) -> Runnable[Any, Any]:
    """Return a node that replaces a `ToolNode`, and executes each call in its own task.

    LangGraph assigns the answers of a task by number, so questions of concurrent calls in one task could get
    each other's answers. Here each call has its own numbers. When the graph stops for its questions, every
    call has ended or asks a question. The node is asynchronous.

    Args:
        tools: Tools of toolgen and others.
        name: Name of the node.
        messages_key: Key of the messages in the state.
        options: Options of `ToolNode`, for example `handle_tool_errors` and `awrap_tool_call`.
    """
    node = ToolNode(tools, name=name, messages_key=messages_key, **options)
    graph = _each_call_a_task(node)

    async def execute(state: Any, config: RunnableConfig) -> Any:
        calls = _calls(state, messages_key)
        if not calls:
            return await node.ainvoke(state, config)  # `ToolNode` reports the error
        _AROUND.set((state, config.get("configurable", {}).get("checkpoint_ns", "")))
        ended = await graph.ainvoke({"calls": calls}, config)
        return _combined(ended["outputs"], messages_key, is_list=isinstance(state, list))

    return RunnableLambda(execute, name=name)


def _each_call_a_task(node: ToolNode) -> Any:
    """Return a graph that sends each call to a node, and collects its outputs, including `Command`s."""

    async def call(state: Any, config: RunnableConfig) -> dict[str, list[Any]]:
        around, namespace = _AROUND.get()
        options = config.get("configurable", {})
        place = {SENT_BY: (options.get("checkpoint_ns", ""), namespace)}
        request = {"__type": "tool_call_with_context", "tool_call": state, "state": around}
        output = await node.ainvoke(request, {**config, "configurable": {**options, **place}})
        return {"outputs": output if isinstance(output, list) else [output]}

    graph = StateGraph(_Calls)
    graph.add_node("call", call)
    graph.add_conditional_edges(
        START, lambda state: [Send("call", made) for made in state["calls"]], ["call"]
    )
    return graph.compile(name=node.name)


def _calls(state: Any, messages_key: str) -> list[ToolCall]:
    """Return the calls of the newest model message; none if the state has no messages."""
    if isinstance(state, list):
        messages = state
    elif isinstance(state, Mapping):
        messages = state.get(messages_key, [])
    else:
        messages = getattr(state, messages_key, [])
    newest = (message for message in reversed(messages) if isinstance(message, AIMessage))
    return list(getattr(next(newest, None), "tool_calls", ()))


def _combined(outputs: Sequence[Any], messages_key: str, *, is_list: bool) -> Any:
    """Combine the outputs as if `ToolNode` had executed all calls at once."""
    updates = [output[messages_key] if is_list and isinstance(output, dict) else output for output in outputs]
    commands = [output for output in outputs if isinstance(output, Command)]
    if not commands:
        messages = [message for output in outputs for message in output[messages_key]]
        return messages if is_list else {messages_key: messages}
    to_parent = [command for command in commands if command.graph is Command.PARENT and _sends(command)]
    if len(to_parent) < 2:
        return updates
    goto = [send for command in to_parent for send in _sends(command)]
    return [*(update for update in updates if update not in to_parent), replace(to_parent[0], goto=goto)]


def _sends(command: Command[Any]) -> list[Send]:
    """Return the tasks that a command starts; LangGraph accepts only one command for the parent graph."""
    goto = command.goto if isinstance(command.goto, list) else []
    return [target for target in goto if isinstance(target, Send)]
