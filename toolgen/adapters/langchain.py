"""LangChain tools for the tools of a snapshot: `toolgen[langchain]`.

LangChain's core cannot ask a person, so the host passes a function that returns the answer, or
`toolgen.adapters.langgraph.langgraph_ask`. `ToolMessage.artifact` contains the facts that the model does not
read.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pydantic import PrivateAttr

from toolgen.calls.call import NO_META
from toolgen.contract.errors import ToolgenError
from toolgen.contract.extras import extra
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.runtime import AudioContent, Content, ImageContent, Snapshot, Suspended, TextContent
from toolgen.runtime import ToolResult as Result
from toolgen.waiting.unfit import MOST_MISFITS, asks_again

from .framework_calls import (
    FrameworkCall,
    FrameworkCalls,
    MetaOf,
    NamedAnswer,
    Spec,
)
from .result_view import ResultView, result_view

with extra("langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, ToolException

__all__ = ["AskPerson", "Asks", "NamedAnswer", "langchain_tools"]

AskPerson: TypeAlias = Callable[[Suspended], Awaitable[NamedAnswer | None]]
"""Returns a person's answer, with the `id` of the question; None denies the call, because nobody answers.

If it raises, the call stays suspended, and the next call with the same name asks the same question again.
"""


@runtime_checkable
class Asks(Protocol):
    """Asks a person about a call without a function that returns the answer."""

    async def call_result(self, call: FrameworkCall) -> Result:
        """Make a call and return its result, after the answers of a person; suspended without them."""
        ...


NOBODY = "no person could be asked"
SENT_BY = "toolgen_sent_by"
"""Config option with two namespaces: of a task, and of the node that sends the task its call."""


def langchain_tools(
    snapshot: Snapshot, meta: MetaOf[RunnableConfig] = NO_META, *, ask: AskPerson | Asks | None = None
) -> list[BaseTool]:
    """Return the tools of a snapshot, in the order of the snapshot; they are asynchronous.

    Args:
        snapshot: The tools to offer.
        meta: Facts of each call, or a function that derives them from the config of the call. They never come
            from the model.
        ask: Asks a person; if it is missing, calls that need a person are denied.
    """
    calls = FrameworkCalls(interface="langchain", snapshot=snapshot, meta=meta)
    asks = ask if ask is None or isinstance(ask, Asks) else _HostAsks(ask)
    return [LangChainSnapshotTool.of(calls, spec, description, asks) for spec, description in calls.tools]


@frozen_record(kw_only=False)
class _HostAsks:
    """Asks a person with a function of the host."""

    ask: AskPerson

    async def call_result(self, call: FrameworkCall) -> Result:
        """Return the result of a call after a person's answers, at most three for one question."""
        result = await call.result()
        rejections = 0
        while (suspended := result_view(result).approval) is not None and rejections < MOST_MISFITS:
            answer = await self._answer(suspended)
            if answer is None:
                return await call.cancel(suspended, NOBODY)
            result = await call.answer(suspended, answer)
            rejections = rejections + 1 if asks_again(suspended, result.suspension) else 0
        return result

    async def _answer(self, suspended: Suspended) -> NamedAnswer | None:
        """Return a person's answer.

        Raises:
            ToolgenError: The function interrupts a LangGraph graph.
        """
        try:
            return await self.ask(suspended)
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "langgraph":
                raise
            raise ToolgenError(
                "`ask` interrupts the graph itself: when its node runs again, the next question of the "
                "graph would get the answer",
                hint="pass ask=toolgen.adapters.langgraph.langgraph_ask to langchain_tools",
            ) from error


class LangChainSnapshotTool(BaseTool):
    """LangChain tool, created by `langchain_tools`."""

    _calls: FrameworkCalls[RunnableConfig] = PrivateAttr()
    _spec: Spec = PrivateAttr()
    _asks: Asks | None = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, calls: FrameworkCalls[RunnableConfig], spec: Spec, description: str, asks: Asks | None
    ) -> LangChainSnapshotTool:
        """Return the LangChain tool for a spec."""
        tool = cls(
            name=spec.name,
            description=description,
            args_schema=spec.payload.schema,
            return_direct=spec.is_terminal,
            tags=list(spec.tags),
            metadata={"id": spec.id, "hints": dict(spec.hints)},
        )
        tool._calls, tool._spec, tool._asks = calls, spec, asks
        return tool

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Json], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as one value, because a tool can have an argument named `config`."""
        return (tool_input, tool_call_id), {}

    def _run(self, arguments: Any, tool_call_id: str | None, config: RunnableConfig) -> object:
        raise NotImplementedError(f"{self.name} is asynchronous: use ainvoke")

    async def _arun(
        self, arguments: dict[str, Json] | str, tool_call_id: str | None, config: RunnableConfig
    ) -> ToolMessage | str:
        """Return the text for the model; as a message if a model made the call.

        Raises:
            ToolException: The call failed, and no model made it.
        """
        call = self._calls.named(config, self.name, arguments, tool_call_id or "", _checkpoint(config))
        with call.among_siblings():
            result = await (call.result() if self._asks is None else self._asks.call_result(call))
            if self._asks is None and (suspended := result_view(result).approval) is not None:
                result = await call.cancel(suspended, NOBODY)
        view = result_view(result)
        if tool_call_id is None:
            if view.is_error:
                raise ToolException(view.text)
            return view.text
        return ToolMessage(
            _content(view),
            artifact=view.as_json(),
            tool_call_id=tool_call_id,
            name=self.name,
            status="error" if view.is_error else "success",
        )


def _checkpoint(config: RunnableConfig) -> str:
    """Return the position of a call in a graph, the same if LangGraph repeats its node; "" outside a graph.

    A repeated task has the same namespace; each step of a thread has another one. Calls that a node sends to
    tasks of their own have the position of that node, because LangGraph can send them again.
    """
    options = config.get("configurable", {})
    namespace = str(options.get("checkpoint_ns") or "")
    sent, node = options.get(SENT_BY, ("", ""))
    place = [str(options.get("thread_id") or ""), node if sent == namespace else namespace]
    return "/".join(filter(None, place)) if namespace else ""


def _content(view: ResultView) -> str | list[str | dict[Any, Any]]:
    """Return the text, or standard content blocks of LangChain 1 if there are further blocks."""
    if not view.content:
        return view.text
    return [{"type": "text", "text": view.text}, *map(_block, view.content)]


def _block(content: Content) -> dict[object, Json]:
    match content:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent() | AudioContent():
            data = base64.b64encode(content.data).decode()
            return {"type": content.type, "base64": data, "mime_type": content.media_type}
        case _:
            return {"type": "text", "text": f"{content.name}: {content.uri}"}
