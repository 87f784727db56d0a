"""The tools of a snapshot as tools of LangChain: `toolgen[langchain]`.

LangChain's core has no way to ask a person, so the host gives one: a function that returns the answer, such
as by LangGraph's `interrupt`. What the model does not read stands in `ToolMessage.artifact`.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from pydantic import PrivateAttr

from toolgen.contract.json_value import Json
from toolgen.runtime import AudioContent, CallMeta, Content, ImageContent, Snapshot, Suspended, TextContent
from toolgen.runtime import ToolResult as Result
from toolgen.runtime.calls import NO_META

from .extras import extra
from .framework_calls import FrameworkCalls, MetaOf, Spec
from .result_view import ResultView, result_view

with extra("langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, ToolException

AskPerson: TypeAlias = Callable[[Suspended], Awaitable[Json]]
"""Returns a person's answer as `answer_schema` says; None where nobody answers, and the call is denied.

What it raises leaves the call waiting, and the next call with the same id and arguments asks the same again.
"""
_NOBODY = "nobody could be asked"


def langchain_tools(
    snapshot: Snapshot, meta: MetaOf[RunnableConfig] = NO_META, *, ask: AskPerson | None = None
) -> list[BaseTool]:
    """Return the tools of a snapshot, in its order; they are asynchronous.

    Args:
        snapshot: What is offered.
        meta: The facts of each call, or what returns them of the config of the call; never of the model.
        ask: Asks a person; without it, calls that need one are denied.
    """
    calls = FrameworkCalls(snapshot, meta)
    return [SnapshotTool.of(calls, spec, description, ask) for spec, description in calls.tools]


class SnapshotTool(BaseTool):
    """Made by `langchain_tools`."""

    _calls: FrameworkCalls[RunnableConfig] = PrivateAttr()
    _spec: Spec = PrivateAttr()
    _ask: AskPerson | None = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, calls: FrameworkCalls[RunnableConfig], spec: Spec, description: str, ask: AskPerson | None
    ) -> SnapshotTool:
        """Return the tool of a spec."""
        tool = cls(
            name=spec.name,
            description=description,
            args_schema=spec.payload.schema,
            return_direct=spec.is_terminal,
            tags=list(spec.tags),
            metadata={"id": spec.id, "hints": dict(spec.hints)},
        )
        tool._calls, tool._spec, tool._ask = calls, spec, ask
        return tool

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as one value, since a tool may name one of its own `config`."""
        return (tool_input, tool_call_id), {}

    def _run(self, arguments: Any, tool_call_id: str | None, config: RunnableConfig) -> Any:
        raise NotImplementedError(f"{self.name} is asynchronous: use ainvoke")

    async def _arun(
        self, arguments: dict[str, Any] | str, tool_call_id: str | None, config: RunnableConfig
    ) -> ToolMessage | str:
        """Return what the model reads, as a message where it was called by a model.

        Raises:
            ToolException: it failed, and no model called it.
        """
        meta = self._calls.meta_of(config, tool_call_id or "")
        view = result_view(await self._answered(arguments, meta))
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

    async def _answered(self, arguments: dict[str, Any] | str, meta: CallMeta) -> Result:
        """Return the result of a call, after the answers of a person where it needs them."""
        asked = None if self._ask is None else await self._calls.open_question(self._spec, arguments, meta)
        if asked is None:
            result = await self._calls.call(self.name, arguments, meta)
        else:
            result = await self._asked(asked, meta)
        while (asked := result_view(result).approval) is not None:
            result = await self._asked(asked, meta)
        return result

    async def _asked(self, asked: Suspended, meta: CallMeta) -> Result:
        """Return the result of a call after one answer of a person."""
        answer = None if self._ask is None else await self._ask(asked)
        if answer is None:
            return await self._calls.cancel(asked, meta, _NOBODY)
        return await self._calls.deliver(asked, answer, meta)


def _content(view: ResultView) -> str | list[str | dict[Any, Any]]:
    """Return the text, or standard content blocks of LangChain 1 where there are others beside it."""
    if not view.content:
        return view.text
    return [{"type": "text", "text": view.text}, *map(_block, view.content)]


def _block(content: Content) -> dict[Any, Any]:
    match content:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent() | AudioContent():
            data = base64.b64encode(content.data).decode()
            return {"type": content.type, "base64": data, "mime_type": content.media_type}
        case _:
            return {"type": "text", "text": f"{content.name}: {content.uri}"}
