"""One session with a server: opened and closed by a task of its own, used by all others.

A cancel scope that the SDK opens must end in the task that opened it, so no caller opens or closes anything.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp import Client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime import CallMeta

from .elicitation import Elicitations, OnElicitation
from .errors import (
    ConnectionLostError,
    MalformedAnswerError,
    MCPServerError,
    RefusedError,
    leaves,
    misfit_of,
    reason_of,
    shortened,
    was_refused,
)
from .intake import Intake
from .listing import Pages, ServerListing, read_listing
from .messages import fault_of, is_closed
from .peer_log import PeerLog
from .servers import Streams
from .transport import watched

_BY_HAND: Final = "start it by hand to see what it does"
_CLOSING_S: Final = 10.0
"""Seconds that a session has to close; then its task is cancelled."""
_RESULT: Final[TypeAdapter[types.CallToolResult | types.InputRequiredResult]] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)

log = logger("toolgen.mcp")
_numbers = itertools.count(1)


class ServerConnection:
    """Session with a server; a lost session is never reopened."""

    def __init__(
        self,
        name: str,
        transport: Callable[[Intake], AbstractAsyncContextManager[Streams]],
        *,
        connect_s: float,
        list_s: float,
        clock: Callable[[], float],
        on_elicitation: OnElicitation | None = None,
    ) -> None:
        """Store the transport, the seconds for an answer, and the seconds for which a list is valid."""
        self._name = name
        self._intake = Intake(name, clock, self._mark_list_changed, self._fail)
        self._transport = partial(transport, self._intake)
        self._connect_s = connect_s
        self._list_s = list_s
        self._clock = clock
        self._client: Client | None = None
        self._listing: ServerListing | None = None
        self._good_until = 0.0
        self._changes = 0
        """Number of times that the server reported a changed list."""
        self._listed_changes = 0
        """Value of `_changes` when the list was requested."""
        self._pages: Pages | None = None
        """Pages of the list that is being read."""
        self._listing_lock = asyncio.Lock()
        self._ending = asyncio.Event()
        self._opened: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._garbage = ""
        self._questions = Elicitations(name, on_elicitation, self._intake.refusal_of)
        self._log = PeerLog()

    @property
    def is_lost(self) -> bool:
        """Whether the session has ended, or is ending."""
        return self._ending.is_set() or (self._task is not None and self._task.done())

    @property
    def client(self) -> Client:
        """The client of the SDK, while the session is open.

        ConnectionLostError: The session has ended, or is ending; nothing was sent.
        """
        if self.is_lost:
            raise ConnectionLostError(
                f"the connection to the MCP server {self._name!r} ended", was_sent=False
            )
        return self._connected

    @property
    def _connected(self) -> Client:
        assert self._client is not None, "it is used while it is open"
        return self._client

    async def open(self) -> None:
        """Open the session; concurrent callers wait for the same session.

        Raises:
            MCPServerError: The server does not start, or does not answer in time.
        """
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(
                self._own(self._opened), name=f"mcp {self._name} {next(_numbers)}"
            )
            self._task.add_done_callback(self._settle)
        await asyncio.shield(self._opened)

    def _settle(self, task: asyncio.Task[None]) -> None:
        """Release the callers that wait for a session whose task was cancelled before its first step."""
        if self._opened is not None and not self._opened.done():
            self._opened.set_exception(self._not_opened(asyncio.CancelledError()))
            self._opened.exception()  # mark the exception as retrieved; nobody might be waiting

    def end(self) -> None:
        """Request the end of the session, without waiting for it."""
        is_first = not self._ending.is_set()
        self._ending.set()
        if is_first and self._task is not None and self._opened is not None and not self._opened.done():
            self._task.cancel()  # it only waits for the server

    async def close(self) -> None:
        """Close the session, and wait until its process has ended."""
        self.end()
        if self._task is None:
            return
        _, late = await asyncio.wait({self._task}, timeout=_CLOSING_S)
        if late:
            log.error("the MCP server %r did not close within %g seconds", self._name, _CLOSING_S)
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSING_S)

    async def listing(self) -> ServerListing:
        """Return the tools of the server, from the cached list while it is valid.

        Raises:
            ConnectionLostError: The connection ended before the list was complete.
            MCPServerError: The server does not list its tools.
        """
        async with self._listing_lock:
            if self._listing is None or self._is_changed or self._clock() >= self._good_until:
                changes = self._changes  # a change during the request is not in the list
                with self._intake.request(of_list=True):
                    listing = await self._limited("list its tools", self._read_listing())
                self._listing, self._listed_changes = listing, changes
                self._good_until = self._clock() + (self._list_s if listing.ttl_s is None else listing.ttl_s)
            return self._listing

    async def _read_listing(self) -> ServerListing:
        if self.client.server_capabilities.tools is None:  # such a server does not answer the request
            return ServerListing(tools=())
        self._pages = pages = Pages()
        try:
            return await read_listing(lambda: self.client, self._name, pages)
        finally:
            self._pages = None

    async def current(self) -> ServerListing:
        """Return the newest known list; request it again only if the server reported a change.

        Raises:
            MCPServerError: See `listing`.
        """
        listing = self._listing
        return await self.listing() if listing is None or self._is_changed else listing

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        progress: ProgressFnT | None,
        responses: dict[str, Any] | None,
        state: str | None,
        meta: CallMeta,
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Return the server's answer to a call.

        Raises:
            ConnectionLostError: The connection ended before the answer, or the server failed.
            RefusedError: The server did not accept the call.
            MCPError: The server answered with a protocol error.
            MalformedAnswerError: The protocol does not allow this answer.
        """
        params = types.CallToolRequestParams.model_validate(
            {"name": tool, "arguments": arguments, "inputResponses": responses, "requestState": state}
        )
        request = types.CallToolRequest(params=params)
        with self._questions.of_call(meta), self._intake.request():
            try:
                try:
                    return await self._send(request, progress)
                except MCPError as error:
                    if error.code != types.HEADER_MISMATCH:
                        raise
                    # The headers come from the listed schema, which has changed (MCP 2026-07-28, Transports).
                    self._mark_list_changed()
                    await self.listing()
                    return await self._send(request, progress)
            except ValidationError as error:
                raise MalformedAnswerError(f"it is not a result: {misfit_of(error)}") from error

    async def _send(
        self, request: types.CallToolRequest, progress: ProgressFnT | None
    ) -> types.CallToolResult | types.InputRequiredResult:
        session = self.client.session
        # Not `call_tool`, which validates results with its own rules and lists the tools for it.
        try:
            return await session.send_request(request, _RESULT, progress_callback=progress)
        except MCPError as error:
            fault = self._intake.fault_of(error) or fault_of(error, self._name)
            if fault is None and is_closed(error):
                raise await self._lost() from error
            if isinstance(fault, ConnectionLostError) and not fault.was_sent:
                self._ending.set()
            if fault is None:
                raise
            raise fault from error

    async def _lost(self, *, of_list: bool = False) -> ConnectionLostError:
        """End the session, and return the error for a request without an answer; a list is not a call."""
        alone = self._intake.open_requests <= 1  # otherwise another request might have failed
        self._ending.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_CLOSING_S)
        failure = self._failure
        was_sent = not of_list and (failure is None or not alone or not was_refused(failure))
        reason = "" if failure is None else f": {reason_of(failure)}"
        return ConnectionLostError(
            f"the connection to the MCP server {self._name!r} ended{reason}", was_sent=was_sent
        )

    async def _own(self, opened: asyncio.Future[None]) -> None:
        """Hold the session open until its end is requested, or it ends by itself."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._connect_s):
                    self._client = await stack.enter_async_context(self._make_client())
                await self._watch_list(stack)
                if not opened.done():
                    opened.set_result(None)
                await self._ending.wait()
        except BaseException as error:
            self._failure = error
            task = asyncio.current_task()
            if opened.done() and task is not None and task.cancelling():
                raise
            if not opened.done():
                opened.set_exception(self._not_opened(error))
                opened.exception()  # mark the exception as retrieved; nobody might be waiting
            elif not self._ending.is_set():
                log.warning("the connection to the MCP server %r ended: %s", self._name, reason_of(error))
        finally:
            self._ending.set()

    def _make_client(self) -> Client:
        return Client(
            watched(self._transport, self._end, self._usable),
            client_info=types.Implementation(name="toolgen", version="0"),
            elicitation_callback=self._questions.answered,
            message_handler=self._take_message,
            cache=None,
        )

    def _usable(self, result: dict[str, Json]) -> dict[str, Json]:
        """Return a result without the tools that violate the protocol, which would invalidate all others."""
        if self._client is None or self._pages is None or not isinstance(result.get("tools"), list):
            return result
        return self._pages.usable(result, self._client.protocol_version)

    def _end(self) -> None:
        """End the session, because the server has closed the connection."""
        if not self._ending.is_set():
            log.warning("the MCP server %r has ended the connection", self._name)
        self._ending.set()

    def _fail(self, error: MCPServerError) -> None:
        """End the session, because the server has exceeded a limit on an HTTP stream."""
        if not self._ending.is_set():
            self._failure = error
            log.warning("the connection to the MCP server %r ended: %s", self._name, reason_of(error))
        self._ending.set()

    def _not_opened(self, error: BaseException) -> MCPServerError:
        what = f"the MCP server {self._name!r}"
        if isinstance(error, MCPServerError):
            return error
        garbage = f"; it wrote {self._garbage}" if self._garbage else ""
        if isinstance(error, TimeoutError):
            failure = MCPServerError(
                f"{what} did not answer within {self._connect_s:g} seconds{garbage}",
                hint=f"{_BY_HAND}, or give it more time: connect_s=…",
            )
        elif any(is_closed(leaf) for leaf in leaves(error)):
            failure = MCPServerError(f"{what} ended before it answered{garbage}", hint=_BY_HAND)
        else:
            faults = [fault_of(leaf, self._name) for leaf in leaves(error) if isinstance(leaf, MCPError)]
            if isinstance(refused := next(iter(faults), None), RefusedError):
                return refused
            reasons = "; ".join(fault.message for fault in faults if fault is not None) or reason_of(error)
            program = next((leaf for leaf in leaves(error) if isinstance(leaf, FileNotFoundError)), None)
            failure = MCPServerError(
                f"{what} cannot be reached: {reasons}{garbage}",
                hint="check that it runs, and that its command or address is correct",
            )
            if program is not None:
                failure = MCPServerError(
                    f"{what} cannot be started: the program or folder {program.filename!r} does not exist",
                    hint="install it, or correct the command; write the full path of a program that is not "
                    "in PATH",
                )
        failure.__cause__ = error
        return failure

    async def _limited(self, what: str, work: Awaitable[ServerListing]) -> ServerListing:
        """Return the result of the work within `connect_s`.

        Raises:
            MCPServerError: The work failed, or took too long.
        """
        try:
            async with asyncio.timeout(self._connect_s):
                return await work
        except TimeoutError as error:
            message = f"the MCP server {self._name!r} did not {what} within {self._connect_s:g} seconds"
            raise MCPServerError(message) from error
        except MCPError as error:
            fault = self._intake.fault_of(error) or fault_of(error, self._name)
            if fault is None and is_closed(error):
                raise await self._lost(of_list=True) from error
            reason = shortened(error.message) if fault is None else fault.message
            message = f"the MCP server {self._name!r} cannot {what}: {reason}"
            raise MCPServerError(message) from error
        except ValidationError as error:
            message = f"the MCP server {self._name!r} returned something other than a list of tools"
            raise MCPServerError(f"{message}: {misfit_of(error)}") from error

    async def _watch_list(self, stack: AsyncExitStack) -> None:
        """Subscribe to list changes, if the server reports them on a stream (MCP 2026-07-28)."""
        tools = self._connected.server_capabilities.tools
        if self._connected.session.discover_result is None or tools is None or not tools.list_changed:
            return
        group = await stack.enter_async_context(asyncio.TaskGroup())
        task = group.create_task(self._listen())
        stack.callback(task.cancel)

    async def _listen(self) -> None:
        with suppress(MCPError, TimeoutError, RuntimeError):  # no such stream: the list expires
            async with self._connected.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._mark_list_changed()

    async def _take_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._mark_list_changed()
        elif isinstance(message, Exception) and not self._garbage:
            self._garbage = f"something that is not a JSON-RPC message: {shortened(str(message))}"

    @property
    def _is_changed(self) -> bool:
        return self._changes != self._listed_changes

    def _mark_list_changed(self) -> None:
        self._log.log(logging.INFO, "the MCP server %r changed its list of tools", self._name)
        self._changes += 1
