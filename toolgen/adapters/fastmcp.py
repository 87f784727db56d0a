"""A FastMCP provider for the tools of a snapshot: `toolgen[fastmcp]`.

How the client is asked a question depends on the MCP version: with an `InputRequiredResult` since 2026-07-28,
with an `elicitation/create` request before.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import PrivateAttr

from toolgen.calls.call import NO_META
from toolgen.contract.extras import extra
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.names import UNAVAILABLE
from toolgen.engines import EngineError
from toolgen.runtime import Snapshot, Suspended
from toolgen.runtime import ToolResult as Result
from toolgen.stores import StoreError
from toolgen.waiting.errors import SuspensionError
from toolgen.waiting.frozen import TOKEN_PREFIX
from toolgen.waiting.unfit import MOST_MISFITS, asks_again, waiting_message

from .framework_calls import FrameworkCall, FrameworkCalls, MetaOf, Spec
from .result_view import result_view

with extra("fastmcp"):
    import anyio
    from fastmcp.exceptions import ToolError
    from fastmcp.server.context import Context
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.providers import Provider
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from mcp import MCPError
    from mcp_types import CallToolResult, ElicitResult

    from .mcp.serving.calls import Approvals
    from .mcp.serving.forms import REQUEST_KEY, answer_of, form_of, input_required
    from .mcp.serving.identity import is_modern
    from .mcp.serving.listing import META_PREFIX, ListedTool, Listing
    from .mcp.serving.results import call_result, error_result
    from .mcp.serving.waits import known_approvals, shows_forms

__all__ = ["fastmcp_provider"]

log = logger("toolgen.adapters")

_NO_FORMS: Final = "this client cannot show a question (MCP elicitation)"
_CLEANUP_S: Final = 5.0
_FACTS: Final = f"{META_PREFIX}result"
"""Key in `_meta` that contains `ResultView.as_json()`."""


def fastmcp_provider(
    snapshot: Snapshot, meta: MetaOf[Context] = NO_META, *, approvals: Approvals = "out_of_band"
) -> Provider:
    """Return a provider for `FastMCP(providers=[…])` with the tools of a snapshot.

    Args:
        snapshot: The tools to offer; add its `instructions` to the instructions of the server.
        meta: Facts of each call, or a function that derives them from FastMCP's context; never from client
            claims.
        approvals: Whether an elicitation that the client answers counts as an approval.

    Raises:
        ToolgenError: `approvals` is not a value of `Approvals`.
    """
    return _SnapshotProvider(
        FrameworkCalls(interface="fastmcp", snapshot=snapshot, meta=meta), known_approvals(approvals)
    )


class _SnapshotProvider(Provider):
    """Provider that lists the tools of a snapshot."""

    def __init__(self, calls: FrameworkCalls[Context], approvals: Approvals) -> None:
        super().__init__()
        self._tools = [FastMCPSnapshotTool.of(calls, spec, about, approvals) for spec, about in calls.tools]

    async def _list_tools(self) -> Sequence[Tool]:
        return self._tools


class FastMCPSnapshotTool(Tool):
    """FastMCP tool, created by `fastmcp_provider`."""

    _calls: FrameworkCalls[Context] = PrivateAttr()
    _spec: Spec = PrivateAttr()
    _listed: ListedTool = PrivateAttr()
    _approvals: Approvals = PrivateAttr(default="out_of_band")

    @classmethod
    def of(
        cls, calls: FrameworkCalls[Context], spec: Spec, description: str, approvals: Approvals
    ) -> FastMCPSnapshotTool:
        """Return the FastMCP tool for a spec."""
        listed = _listed(spec)
        entry = listed.tool
        tool = cls(
            name=entry.name,
            title=entry.title,
            description=description,
            parameters=entry.input_schema,
            output_schema=None if listed.output is None else listed.output.schema,
            tags=set(spec.tags),
            annotations=entry.annotations,
            icons=entry.icons,
            meta=entry.meta,
        )
        tool._calls, tool._spec, tool._listed, tool._approvals = calls, spec, listed, approvals
        return tool

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Return the result of a call, or the question that the client must show a person first."""
        context = get_context()
        # request ids are only unique within a connection
        call = self._calls.unnamed(context, self._spec.name, arguments, uuid.uuid4().hex)
        state = context.request_state
        try:
            if state is None or not state.startswith(TOKEN_PREFIX):  # not our token
                result = await call.result()
            else:
                result = await self._resumed(context, state, call)
            return await self._ended(context, result, call)
        except SuspensionError as error:
            return _failed(error.message)
        except (EngineError, StoreError) as error:  # FastMCP would show its text to the client
            reference = log_failure(log, error, "a call of %s", self._spec.id)
            raise ToolError(
                f"the server cannot read or store data at the moment (reference {reference}); try again later"
            ) from None

    async def _ended(self, context: Context, result: Result, call: FrameworkCall) -> ToolResult:
        """Return a result. If the call is suspended, ask a person first or return the question.

        Raises:
            SuspensionError: Another client or person has answered the question.
        """
        rejections = 0
        while (suspended := result_view(result).approval) is not None:
            if not self._may_ask(suspended):
                return _failed(
                    f"it is suspended as {suspended.id} until a person approves it elsewhere", id=suspended.id
                )
            if not shows_forms(context.session.client_capabilities):
                result = await call.cancel(suspended, _NO_FORMS)
                continue
            request = context.request_context
            if request is not None and is_modern(request):
                return InputRequiredToolResult(input_required(suspended, suspended.reason))
            if rejections == MOST_MISFITS:
                return _failed(waiting_message(suspended), id=suspended.id)
            result = await self._answered(suspended, await self._elicited(context, suspended, call), call)
            rejections = rejections + 1 if asks_again(suspended, result.suspension) else 0
        return self._returned(result)

    def _may_ask(self, suspended: Suspended) -> bool:
        """Return whether an answer from the client is accepted."""
        is_approved_here = suspended.kind != "confirmation" or self._approvals == "elicitation"
        return suspended.kind != "credential" and is_approved_here

    async def _resumed(self, context: Context, token: str, call: FrameworkCall) -> Result:
        """Return the result of a call after its client sent the answer in a new request.

        Raises:
            SuspensionError: The call belongs to another session, or is no longer suspended.
        """
        meta = call.meta
        suspended = await call.snapshot.suspensions.show(token, session_id=meta.session_id)
        response = (context.input_responses or {}).get(REQUEST_KEY)
        is_ours = suspended.call.tool == self._spec.id and suspended.requested_by in ("", meta.requested_by)
        if not is_ours or not self._may_ask(suspended) or not isinstance(response, ElicitResult):
            return Result(tool=suspended.tool, status="suspended", suspensions=(suspended,))
        return await self._answered(suspended, response, call)

    async def _answered(self, suspended: Suspended, response: ElicitResult, call: FrameworkCall) -> Result:
        """Return the result of a call after a person used the form of this question."""
        if response.action == "accept":
            answer = answer_of(suspended, response.content or {})
        elif response.action == "decline" and suspended.kind == "confirmation":
            answer = {"approved": False}
        else:
            return await call.cancel(suspended, f"the client answered the question with {response.action}")
        return await call.answer(suspended, {"id": suspended.id, "answer": answer})

    async def _elicited(self, context: Context, suspended: Suspended, call: FrameworkCall) -> ElicitResult:
        """Return the client's answer: *cancel* if the request fails.

        If the request is cancelled, cancel the call.
        """
        form = form_of(suspended)
        try:
            return await context.session.elicit_form(form.message, form.requested_schema, context.request_id)
        except (MCPError, ValueError):
            return ElicitResult(action="cancel")
        except asyncio.CancelledError:
            with anyio.move_on_after(_CLEANUP_S, shield=True):
                await call.cancel(suspended, "the client cancelled the request")
            raise

    def _returned(self, result: Result) -> ToolResult:
        """Return a result in MCP form, with its facts in `_meta`."""
        view = result_view(result)
        status = result.status if view.work is None else "pending"
        shown = replace(result, status=status, json=view.text.encode())
        sent = call_result(shown, self._spec, self._listed, has_resources=False)
        facts = {**(sent.meta or {}), _FACTS: view.as_json(is_for_peer=True)}
        return ToolResult.from_mcp_result(sent.model_copy(update={"meta": facts}))


def _listed(spec: Spec) -> ListedTool:
    """Return the list entry of a tool; always as in MCP 2025-11-25, because FastMCP has one list.

    Long-running work without an acknowledgement has no structured content, so its tool declares no output
    schema.
    """
    listed = Listing().entry(spec, is_modern=False)
    may_be_silent = spec.long_running is not None and spec.long_running.ack is None
    return replace(listed, output=None) if may_be_silent else listed


def _failed(message: str, id: str = "") -> ToolResult:
    """Return the result of a call that was not executed, in the form of the runtime's errors."""
    result: CallToolResult = error_result(message, UNAVAILABLE, **({"id": id} if id else {}))
    return ToolResult.from_mcp_result(result)
