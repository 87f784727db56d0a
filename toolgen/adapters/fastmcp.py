"""The tools of a snapshot as a provider of a FastMCP server: `toolgen[fastmcp]`.

A question goes to the client in the way of its era: as an `InputRequiredResult` since MCP 2026-07-28, as an
`elicitation/create` before.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from typing import Any, Final, Literal

import anyio
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers import Provider
from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
from mcp import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from mcp_types import (
    AudioContent,
    ContentBlock,
    ElicitRequest,
    ElicitResult,
    ImageContent,
    InputRequiredResult,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from pydantic import PrivateAttr, TypeAdapter

from toolgen.contract.json_value import Json
from toolgen.contract.names import UNAVAILABLE
from toolgen.runtime import CallMeta, Snapshot, Suspended
from toolgen.runtime import ToolResult as Result
from toolgen.runtime.call.truncation import is_truncated
from toolgen.runtime.calls import NO_META
from toolgen.runtime.waiting.errors import SuspensionError

from .elicitation import answer_of, form_of
from .framework_calls import FrameworkCalls, MetaOf, Spec
from .result_view import ResultView, result_view

Approvals = Literal["out_of_band", "elicitation"]
"""Who approves: a person elsewhere, by `Runtime.deliver`, or whoever answers an elicitation.

A client may let its model answer, so an elicitation is an approval only where the host says so.
"""
_ASKED: Final = "answer"
"""Key of the one request in an `InputRequiredResult`."""
_MOST_ASKED: Final = 3
"""How often a client is asked during one request whose answers are not taken."""
_CLEANUP_S: Final = 5.0
_META: Final = "dev.toolgen/result"
"""Key in `_meta` (MCP, General fields: a reverse-DNS name)."""
_BLOCKS: Final[TypeAdapter[ContentBlock]] = TypeAdapter(
    TextContent | ImageContent | AudioContent | ResourceLink
)


def fastmcp_provider(
    snapshot: Snapshot, meta: MetaOf[Context] = NO_META, *, approvals: Approvals = "out_of_band"
) -> Provider:
    """Return a provider for `FastMCP(providers=[…])` whose tools are those of a snapshot.

    Args:
        snapshot: What is offered; its `instructions` are for those of the server.
        meta: The facts of each call, or what returns them of FastMCP's context; never what a client says.
        approvals: Whether an elicitation that the client answers is an approval.
    """
    return _SnapshotProvider(FrameworkCalls(snapshot, meta), approvals)


class _SnapshotProvider(Provider):
    """Lists the tools."""

    def __init__(self, calls: FrameworkCalls[Context], approvals: Approvals) -> None:
        super().__init__()
        self._tools = [SnapshotTool.of(calls, spec, about, approvals) for spec, about in calls.tools]

    async def _list_tools(self) -> Sequence[Tool]:
        return self._tools


class SnapshotTool(Tool):
    """Made by `fastmcp_provider`."""

    _calls: FrameworkCalls[Context] = PrivateAttr()
    _spec: Spec = PrivateAttr()
    _approvals: Approvals = PrivateAttr(default="out_of_band")

    @classmethod
    def of(
        cls, calls: FrameworkCalls[Context], spec: Spec, description: str, approvals: Approvals
    ) -> SnapshotTool:
        """Return the tool of a spec."""
        hints = spec.hints
        tool = cls(
            name=spec.name,
            title=spec.title,
            description=description,
            parameters=spec.payload.schema,
            output_schema=_output_schema(spec),
            tags=set(spec.tags),
            annotations=ToolAnnotations(
                title=spec.title,
                read_only_hint=hints["read_only"],
                destructive_hint=hints["destructive"],
                idempotent_hint=hints["idempotent"],
                open_world_hint=hints["open_world"],
            ),
        )
        tool._calls, tool._spec, tool._approvals = calls, spec, approvals
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Return the result of a call, or what the client has to ask a person first."""
        context = get_context()
        meta = self._calls.meta_of(context, uuid.uuid4().hex)  # ids of requests are those of a connection
        state = context.request_state
        try:
            if state is None:
                result = await self._calls.call(self._spec.name, arguments, meta)
            else:
                result = await self._resumed(context, state, meta)
            return await self._ended(context, result, meta)
        except SuspensionError as error:
            return _failed(error.message, id="")

    async def _ended(self, context: Context, result: Result, meta: CallMeta) -> ToolResult:
        """Return a result; of a call that waits, after a person was asked, or what is to be asked.

        Raises:
            SuspensionError: somebody else has answered it.
        """
        times = 0
        while (asked := result_view(result).approval) is not None:
            if asked.kind == "credential" or (asked.kind, self._approvals) == ("confirmation", "out_of_band"):
                return _failed(f"it waits as {asked.id} for the approval of a person elsewhere", id=asked.id)
            can_ask = _can_ask(context) and times < _MOST_ASKED
            if can_ask and _is_modern(context):
                return _input_required(asked)
            times += 1
            given = ElicitResult(action="cancel")
            if can_ask:
                given = await self._elicited(context, asked, meta)
            result = await self._given(asked, given, meta)
        return self._returned(result_view(result))

    async def _resumed(self, context: Context, token: str, meta: CallMeta) -> Result:
        """Return the result of a call after the answer that its client returns with.

        Raises:
            SuspensionError: the call is of another session, or waits no more.
        """
        asked = await self._calls.snapshot.suspension(token, session_id=meta.session_id)
        given = (context.input_responses or {}).get(_ASKED)
        if asked.tool != self._spec.id or not isinstance(given, ElicitResult):
            return Result(tool=asked.tool, status="suspended", suspension=asked)
        return await self._given(asked, given, meta)

    async def _given(self, asked: Suspended, given: ElicitResult, meta: CallMeta) -> Result:
        """Return the result of a call after what a person did with its form."""
        if given.action == "accept":
            return await self._calls.deliver(asked, answer_of(asked, given.content or {}), meta)
        if given.action == "decline" and asked.kind == "confirmation":
            return await self._calls.deliver(asked, {"approved": False}, meta)
        return await self._calls.cancel(asked, meta, f"the question was answered by {given.action}")

    async def _elicited(self, context: Context, asked: Suspended, meta: CallMeta) -> ElicitResult:
        """Return what the client answers; one that fails has cancelled, and one that leaves takes it back."""
        form = form_of(asked)
        try:
            return await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
        except (MCPError, ValueError):
            return ElicitResult(action="cancel")
        except asyncio.CancelledError:
            with anyio.move_on_after(_CLEANUP_S, shield=True):
                await self._calls.cancel(asked, meta, "the client cancelled the request")
            raise

    def _returned(self, view: ResultView) -> ToolResult:
        """Return a result as MCP sends it; one that was truncated fits no schema, and is an error."""
        is_unfit = self.output_schema is not None and is_truncated(view.text.encode())
        is_error = view.is_error or is_unfit
        document = view.document
        return ToolResult(
            content=[TextContent(type="text", text=view.text), *map(_block, view.content)],
            structured_content=document if isinstance(document, dict) and not is_error else None,
            meta={_META: view.as_json(is_for_peer=True)},
            is_error=is_error,
        )


def _output_schema(spec: Spec) -> dict[str, Any] | None:
    """Return the schema of structured content; none where a result may be no object, or truncated."""
    schema = spec.output_schema
    return schema if schema.get("type") == "object" and spec.max_result_bytes is None else None


def _is_modern(context: Context) -> bool:
    """Return whether a client is of 2026-07-28 or later, where a server sends no requests."""
    request = context.request_context
    return request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS


def _can_ask(context: Context) -> bool:
    """Return whether a client shows forms to people (MCP 2025-11-25, Elicitation, Capabilities)."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _input_required(asked: Suspended) -> ToolResult:
    """Return what a person has to answer; the state, which the SDK seals, is the token of the call."""
    request = ElicitRequest(params=form_of(asked))
    return InputRequiredToolResult(
        InputRequiredResult(input_requests={_ASKED: request}, request_state=asked.token)
    )


def _failed(message: str, **facts: Json) -> ToolResult:
    """Return the result of a call that was not executed, in the shape of the runtime's errors."""
    text = json.dumps({"error": message, "code": UNAVAILABLE, **{k: v for k, v in facts.items() if v}})
    return ToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _block(content: Any) -> ContentBlock:
    return _BLOCKS.validate_python(content.as_json())
