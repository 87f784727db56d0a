"""The tools of a snapshot as tools of LangChain: `toolgen[langchain]`.

LangChain's core has no way to ask a person, so the host gives one: a function that returns the answer, or
`toolgen.adapters.langgraph.langgraph_ask`. What the model does not read stands in `ToolMessage.artifact`.
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
"""Returns a person's answer, with the `id` of the question; None to deny the call, since nobody answers.

What it raises leaves the call waiting, and the next call of the same name asks the same again.
"""


@runtime_checkable
class Asks(Protocol):
    """Asks a person about a call otherwise than by a function that returns the answer."""

    async def call_result(self, call: FrameworkCall) -> Result:
        """Make a call and return its result, after the answers of a person; suspended without them."""
        ...


NOBODY = "no person could be asked"
SENT_BY = "toolgen_sent_by"
"""Key of the options of a config: the namespace of a task, and that of the node that sends it its call."""


def langchain_tools(
    snapshot: Snapshot, meta: MetaOf[RunnableConfig] = NO_META, *, ask: AskPerson | Asks | None = None
) -> list[BaseTool]:
    """Return the tools of a snapshot, in its order; they are asynchronous.

    Args:
        snapshot: What is offered.
        meta: The facts of each call, or what returns them of the config of the call; never of the model.
        ask: Asks a person; without it, calls that need one are denied.
    """
    calls = FrameworkCalls(interface="langchain", snapshot=snapshot, meta=meta)
    asks = ask if ask is None or isinstance(ask, Asks) else _HostAsks(ask)
    return [LangChainSnapshotTool.of(calls, spec, description, asks) for spec, description in calls.tools]


@frozen_record(kw_only=False)
class _HostAsks:
    """Asks a person by a function of the host."""

    ask: AskPerson

    async def call_result(self, call: FrameworkCall) -> Result:
        """Return the result of a call after the answers of a person, three for one question at most."""
        result = await call.result()
        misfits = 0
        while (asked := result_view(result).approval) is not None and misfits < MOST_MISFITS:
            answer = await self._answer(asked)
            if answer is None:
                return await call.cancel(asked, NOBODY)
            result = await call.answer(asked, answer)
            misfits = misfits + 1 if asks_again(asked, result.suspension) else 0
        return result

    async def _answer(self, asked: Suspended) -> NamedAnswer | None:
        """Return what a person answers.

        Raises:
            ToolgenError: the function interrupts a graph.
        """
        try:
            return await self.ask(asked)
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "langgraph":
                raise
            raise ToolgenError(
                "`ask` interrupts the graph itself: when its node runs again, the next question of the "
                "graph would get the answer",
                hint="pass ask=toolgen.adapters.langgraph.langgraph_ask to langchain_tools",
            ) from error


class LangChainSnapshotTool(BaseTool):
    """Made by `langchain_tools`."""

    _calls: FrameworkCalls[RunnableConfig] = PrivateAttr()
    _spec: Spec = PrivateAttr()
    _asks: Asks | None = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, calls: FrameworkCalls[RunnableConfig], spec: Spec, description: str, asks: Asks | None
    ) -> LangChainSnapshotTool:
        """Return the tool of a spec."""
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
        """Return the arguments as one value, since a tool may name one of its own `config`."""
        return (tool_input, tool_call_id), {}

    def _run(self, arguments: Any, tool_call_id: str | None, config: RunnableConfig) -> object:
        raise NotImplementedError(f"{self.name} is asynchronous: use ainvoke")

    async def _arun(
        self, arguments: dict[str, Json] | str, tool_call_id: str | None, config: RunnableConfig
    ) -> ToolMessage | str:
        """Return what the model reads, as a message where it was called by a model.

        Raises:
            ToolException: it failed, and no model called it.
        """
        call = self._calls.named(config, self.name, arguments, tool_call_id or "", _checkpoint(config))
        with call.among_siblings():
            result = await (call.result() if self._asks is None else self._asks.call_result(call))
            if self._asks is None and (asked := result_view(result).approval) is not None:
                result = await call.cancel(asked, NOBODY)
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
    """Return the place of a call in a graph, the same when LangGraph runs its node again; "" outside of one.

    A task has the same namespace then, and another one in each step of a thread. What a node sends to tasks
    of its own is in the place of that node, which LangGraph may send anew.
    """
    options = config.get("configurable", {})
    namespace = str(options.get("checkpoint_ns") or "")
    sent, node = options.get(SENT_BY, ("", ""))
    place = [str(options.get("thread_id") or ""), node if sent == namespace else namespace]
    return "/".join(filter(None, place)) if namespace else ""


def _content(view: ResultView) -> str | list[str | dict[Any, Any]]:
    """Return the text, or standard content blocks of LangChain 1 where there are others beside it."""
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
