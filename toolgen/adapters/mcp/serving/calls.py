"""`tools/call`: one call of the runtime for each call of a client, with the questions in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final, TypeAlias

import anyio
from mcp import MCPError, types
from mcp.types import INVALID_PARAMS

from toolgen.calls.call import CallName
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.json_value import Json
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.names import UNAVAILABLE
from toolgen.contract.record import frozen_record
from toolgen.runtime import CallMeta, Runtime, Snapshot, Suspended, ToolResult
from toolgen.waiting.errors import BadAnswerError, NotAllowedAnswerError, SuspensionError
from toolgen.waiting.unfit import MOST_MISFITS, asks_again

from ...ports.requests import waits_for_client
from .changes import ListChanges
from .executing import CallSlot, ExecutingCalls, slot_of
from .forms import REQUEST_KEY, answer_of, form_of, input_required, token_of
from .identity import Context, Identities, call_name, is_modern, scope_of
from .listing import ListedTool, Listing, page_of
from .progress import progress_relay
from .results import call_result, error_result
from .tools import ToolSelection, find_tool
from .waits import Approvals as Approvals
from .waits import (
    WhyNot,
    cannot_ask,
    stored_result,
    stores_suspensions,
    unfit_result,
    waiting_below_result,
    withdrawn_result,
)

Answered: TypeAlias = types.CallToolResult | types.InputRequiredResult
_CLEANUP_S: Final = 5.0
_WHY_CANCELLED: Final = "the client cancelled the request"
_WHY_GONE: Final = "the client disconnected"
_WHY_FAILED: Final = "the request of the client failed"

log = logger("toolgen.mcp")


@frozen_record
class _Request:
    """A `tools/call` request with its tool."""

    ctx: Context
    params: types.CallToolRequestParams
    meta: CallMeta
    name: CallName | None
    """Name of a call that the client can repeat; None if it sent no id for that."""
    offered: Snapshot
    entry: RegisteredTool
    slot: CallSlot

    @property
    def is_modern(self) -> bool:
        return is_modern(self.ctx)


class ToolCalls:
    """Handler of `tools/list` and `tools/call` for one server."""

    def __init__(
        self,
        runtime: Runtime,
        selection: ToolSelection,
        identities: Identities,
        changes: ListChanges,
        approvals: Approvals,
        pending_s: float,
    ) -> None:
        self._runtime = runtime
        self._selection = selection
        self._identities = identities
        self._changes = changes
        self._approvals: Approvals = approvals
        self._pending_s = pending_s
        self._listing = Listing()
        self.executing = ExecutingCalls()

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return the tools of a request: in the order of registration, dynamic ones by name.

        More than 500 tools are sorted by name, and split into pages.

        Raises:
            MCPError: The cursor is invalid (-32602), or the tools cannot be listed.
        """
        meta = await self._identities.meta(ctx)
        tools = await self.listed(meta, is_modern(ctx))
        page, cursor = page_of(tools, None if params is None else params.cursor)
        self._changes.listed(ctx, meta, tools)
        return types.ListToolsResult(tools=[tool.tool for tool in page], next_cursor=cursor)

    async def remember_tools(self, ctx: Context) -> None:
        """Remember what a client that listens for changes would list, if it has not listed yet."""
        with suppress(MCPError):  # logged; `tools/list` reports it to the client
            meta = await self._identities.meta(ctx)
            if not self._changes.has_listed(ctx, meta):
                self._changes.listed(ctx, meta, await self.listed(meta, is_modern(ctx)))

    async def listed(self, meta: CallMeta, is_modern: bool) -> list[ListedTool]:
        """List the tools of a request again, in the form of its protocol era.

        Raises:
            MCPError: The tools cannot be listed.
        """
        offered = await self._selection.offered(meta)
        return [self._listing.entry(spec, is_modern=is_modern) for spec in offered.specs]

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Answered:
        """Return the result of a call, or the question that a person must answer first.

        Raises:
            MCPError: The tool does not exist, the state belongs to another call, or the id is invalid
                (-32602).
        """
        meta = await self._identities.call_meta(ctx)
        name = call_name(params, meta)
        if name is not None:
            meta = replace(meta, tool_call_id=f"mcp_{name.run_id(meta)}")
        offered = await self._selection.offered(meta)
        request = _Request(
            ctx=ctx,
            params=params,
            meta=meta,
            name=name,
            offered=offered,
            entry=find_tool(offered, params.name),
            slot=slot_of(ctx, self.executing),
        )
        with request.slot.held():
            try:
                answered = await self._answered(request)
            except SuspensionError as error:  # answered elsewhere in the meantime
                answered = error_result(error.message, UNAVAILABLE)
            if self._runtime.tools.may_change and self._changes.has_listed(ctx, meta):
                await self._tell_changes(request)
        return answered

    async def _tell_changes(self, request: _Request) -> None:
        """Notify a client whose call has changed its tools."""
        try:
            tools = await self.listed(request.meta, request.is_modern)
        except MCPError:  # logged; `tools/list` reports it to the client
            return
        await self._changes.compare(request.ctx, request.meta, tools)

    async def _answered(self, request: _Request) -> Answered:
        params, meta = request.params, request.meta
        if params.request_state is not None:
            token, rejections = token_of(params.request_state)
            suspended = await self._suspended(request, token)
            async with progress_relay(self._runtime, request.ctx, suspended.call.tool_call_id):
                return await self._after_round(request, suspended, rejections)
        async with progress_relay(self._runtime, request.ctx, meta.tool_call_id):
            try:
                result = await self._called(request)
            except asyncio.CancelledError:
                if request.name is None:
                    await _cleaned_up(self._cancel_begun(meta))
                raise
            return await self._completed(request, result)

    async def _called(self, request: _Request) -> ToolResult:
        tool, arguments = request.entry.spec.id, request.params.arguments or {}
        if request.name is None:
            return await self._runtime.call(tool, arguments, request.meta, within=request.offered)
        return await self._runtime.call_once(
            request.name, tool, arguments, request.meta, within=request.offered
        )

    async def _completed(
        self, request: _Request, result: ToolResult, rejections: int = 0, note: str = ""
    ) -> Answered:
        """Return a result. If the call is suspended, ask a person first or return the question.

        After too many rejected answers to one question, the call stays suspended without asking again.
        """
        while (suspended := result.suspension) is not None and result.status == "suspended":
            if (why := cannot_ask(suspended, request.ctx, self._approvals, self._runtime)) is not None:
                return await self._result_without_asking(request, suspended, why)
            if rejections == MOST_MISFITS:
                return unfit_result(suspended, note)
            if request.is_modern:
                return input_required(suspended, note, rejections)
            if (elicited := await self._elicited(request, suspended, note)) is None:
                return await self._disconnected_result(request, suspended)
            try:
                result, rejections, note = await self._after_answer(request, suspended, elicited, rejections)
            except SuspensionError as error:
                return _refused(suspended, error)
        return self._final(request, result)

    async def _after_round(self, request: _Request, suspended: Suspended, rejections: int) -> Answered:
        """Return the outcome of a suspended call with the answer that its client sent in a new request.

        The question can come from another server with the same secret, which accepts approvals that this one
        does not.
        """
        if (why := cannot_ask(suspended, request.ctx, self._approvals, self._runtime)) is not None:
            return await self._result_without_asking(request, suspended, why)
        elicited = (request.params.input_responses or {}).get(REQUEST_KEY)
        if not isinstance(elicited, types.ElicitResult):
            return input_required(suspended, "", rejections)
        try:
            return await self._completed(
                request, *await self._after_answer(request, suspended, elicited, rejections)
            )
        except SuspensionError as error:
            return _refused(suspended, error)

    async def _after_answer(
        self, request: _Request, suspended: Suspended, elicited: types.ElicitResult, rejections: int
    ) -> tuple[ToolResult, int, str]:
        """Return the result after an answer, the number of rejected answers to its question, and the reason.

        Raises:
            SuspensionError: The answer is not accepted, and no other answer would be.
        """
        try:
            result = await self._answered_by(request, suspended, elicited)
        except BadAnswerError as error:
            same = ToolResult(tool=suspended.tool, status="suspended", suspensions=(suspended,))
            return same, rejections + 1, error.message
        return result, rejections + 1 if asks_again(suspended, result.suspension) else 0, ""

    async def _suspended(self, request: _Request, token: str) -> Suspended:
        """Return the call that a state names; the SDK has verified that the state belongs to this request.

        Raises:
            MCPError: The state belongs to another session, person or tool, the call is no longer suspended,
                or the protocol era has no states.
        """
        if not request.is_modern:
            raise MCPError(
                INVALID_PARAMS,
                "a requestState needs protocol version 2026-07-28 or later and a connection without a "
                "session",
            )
        try:
            suspended = await self._runtime.suspensions.show(token, session_id=request.meta.session_id)
        except SuspensionError as error:
            raise MCPError(INVALID_PARAMS, error.message) from None
        if suspended.call.tool != request.entry.spec.id:
            raise MCPError(INVALID_PARAMS, "the requestState belongs to another tool")
        if suspended.requested_by != request.meta.requested_by:
            raise MCPError(INVALID_PARAMS, "the requestState belongs to another caller")
        return suspended

    async def _elicited(
        self, request: _Request, suspended: Suspended, note: str
    ) -> types.ElicitResult | None:
        """Return the client's answer to `elicitation/create`; None if it disconnected over HTTP.

        A client error counts as *cancel*.
        """
        form, elicited = form_of(suspended, note), None
        async with self._cancelled_with(request, suspended), self._gives_way(request):
            try:
                elicited = await request.ctx.session.elicit_form(
                    form.message, form.requested_schema, request.ctx.request_id
                )
            except (MCPError, ValueError):
                elicited = types.ElicitResult(action="cancel")
        return elicited if request.slot.has_client else None

    @asynccontextmanager
    async def _gives_way(self, request: _Request) -> AsyncIterator[None]:
        """Release the slot and the port's place of a call until it is executed again."""
        with waits_for_client(scope_of(request.ctx)):
            async with request.slot.asking():
                yield

    async def _disconnected_result(self, request: _Request, suspended: Suspended) -> types.CallToolResult:
        """Return the result of a call whose client disconnected; it stays suspended if it is stored.

        Raises:
            SuspensionError: The question was answered elsewhere.
        """
        if stores_suspensions(self._runtime) or request.name is not None:
            return stored_result(suspended)
        await self._withdraw(suspended, request.meta, _WHY_GONE)
        return withdrawn_result(suspended, _WHY_GONE)

    async def _answered_by(
        self, request: _Request, suspended: Suspended, elicited: types.ElicitResult
    ) -> ToolResult:
        """Return the result of a call after a person accepted, declined or cancelled its form.

        Raises:
            SuspensionError: The answer is not accepted.
        """
        meta = request.meta
        answer: Json
        if elicited.action == "accept":
            answer = answer_of(suspended, elicited.content or {})
        elif elicited.action == "decline" and suspended.kind == "confirmation":
            answer = {"approved": False}
        else:
            return await self._withdraw(
                suspended, meta, f"the client answered the question with {elicited.action}"
            )
        async with self._cancelled_with(request, suspended):
            return await self._runtime.suspensions.within(request.offered).answer_as_caller(
                suspended.token, answer, session_id=meta.session_id, by=meta.requested_by, is_detached=True
            )

    async def _delivered(self, request: _Request, suspended: Suspended) -> Answered:
        """Return the result of a call that waits for others; if that takes too long, report it as suspended.

        The call waits for work, or for an answer to an agent's run that this client is not asked for.
        """
        async with self._cancelled_with(request, suspended):
            result = await self._runtime.suspensions.result(
                suspended.token, session_id=request.meta.session_id, wait_s=self._pending_s
            )
        if result.status == "running":
            return stored_result(suspended) if suspended.outer is None else waiting_below_result(suspended)
        return await self._completed(request, result)

    async def _cancel_begun(self, meta: CallMeta) -> None:
        """Cancel the run of a call whose request ended just after it was suspended."""
        if self._runtime.engine is None:
            return
        for suspended in await self._runtime.suspensions.list(meta.session_id):
            if suspended.call.tool_call_id == meta.tool_call_id:
                await self._runtime.runs.cancel(suspended.call.run_id, _WHY_CANCELLED)

    async def _result_without_asking(self, request: _Request, suspended: Suspended, why: WhyNot) -> Answered:
        """Return the result of a suspended call if this client is not asked."""
        if suspended.kind == "pending" or suspended.outer is not None:
            return await self._delivered(request, suspended)
        if why == "kept":
            return stored_result(suspended)
        text = {
            "no_client": "this client cannot show a question (MCP elicitation)",
            "no_engine": "this server does not accept approvals from its client and does not store calls "
            "for later",
        }[why]
        await self._withdraw(suspended, request.meta, text)
        return withdrawn_result(suspended, text)

    async def _withdraw(self, suspended: Suspended, meta: CallMeta, reason: str) -> ToolResult:
        """Cancel a suspended call, and return its denied result.

        Raises:
            SuspensionError: The question was answered elsewhere.
        """
        return await self._runtime.suspensions.cancel(
            suspended.token, reason, session_id=meta.session_id, by=meta.requested_by, wait_s=None
        )

    @asynccontextmanager
    async def _cancelled_with(self, request: _Request, suspended: Suspended) -> AsyncIterator[None]:
        """Cancel the run of a suspended or resumed call if its request is cancelled or fails.

        A call that its client can repeat continues.
        """
        try:
            yield
        except (asyncio.CancelledError, MCPError) as error:
            if request.name is None:
                why = _WHY_FAILED if isinstance(error, MCPError) else _WHY_CANCELLED
                await _cleaned_up(self._runtime.runs.cancel(suspended.call.run_id, why))
            raise

    def _final(self, request: _Request, result: ToolResult) -> types.CallToolResult:
        spec = request.entry.spec
        return call_result(result, spec, self._listing.entry(spec, is_modern=request.is_modern))


async def _cleaned_up(work: Awaitable[None]) -> None:
    """Do the work for at most five seconds, even if the request is cancelled; log its failure."""
    try:
        with anyio.move_on_after(_CLEANUP_S, shield=True):
            await work
    except Exception as error:  # noqa: BLE001 - logged; it must not replace the cancellation
        log_failure(log, error, "the run of a call could not be cancelled")


def _refused(suspended: Suspended, error: SuspensionError) -> types.CallToolResult:
    """Return the result of a call whose answer is not accepted; without permission, it stays suspended."""
    if isinstance(error, NotAllowedAnswerError):
        return stored_result(suspended, error.message)
    return error_result(error.message, UNAVAILABLE)
