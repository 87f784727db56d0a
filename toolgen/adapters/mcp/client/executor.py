"""The executor of a designed toolset whose tools a server executes: `MCPToolset(…, lock=…)` of a design."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from toolgen.runtime import RegistrationError, ToolCall, ToolContext, ToolResult, ToolSpec, Unfinished

from .calls import Caller
from .tools import META, ServerTool


class MCPExecutor:
    """Serves every tool of a toolset at its server; a `RawExecutor`."""

    begins_itself: ClassVar = True
    """A call begins when it is sent, and not while its connection is opened."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._tools: dict[str, ServerTool] = {}

    async def __call__(self, call: ToolCall, ctx: ToolContext) -> ToolResult | Unfinished:
        """Return the result of a call, decoded by the generated codec, or the question of the server.

        Raises:
            ToolError: the call failed, was not made, or its result does not fit.
            RegistrationError: the tool is of no lock.
        """
        assert ctx.spec is not None, "the runtime sets it"
        tool = self._tools.get(ctx.spec.id)
        if tool is None or tool.spec is not ctx.spec:
            tool = self._tools[ctx.spec.id] = _locked(ctx.spec)
        outcome = await self._caller.call(tool, json.loads(call.payload_json), ctx)
        if isinstance(outcome, Unfinished):
            return outcome
        return ToolResult(tool=call.tool, status="ok", result=outcome.result, content=outcome.content)


def _locked(spec: ToolSpec[Any, Any]) -> ServerTool:
    match spec.meta.get(META):
        case {"tool": str(name), "digest": str(digest), "structured": bool(is_structured)}:
            return ServerTool(name=name, digest=digest, has_output_schema=is_structured, spec=spec)
        case _:
            raise RegistrationError(
                f"{spec.id} is no tool of an MCP server's lock",
                hint="design its toolset with MCPToolset(…, lock=…)",
            )
