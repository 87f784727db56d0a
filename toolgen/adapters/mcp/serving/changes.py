"""`notifications/tools/list_changed`: clients are notified if the tools differ from their last list.

Through 2025-11-25 a connection is notified on its own channel. Since 2026-07-28 there is none, and clients
that called `subscriptions/listen` are notified.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import anyio
from mcp import MCPError, types
from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from toolgen.contract.logs import log_failure, logger
from toolgen.contract.record import frozen_record
from toolgen.runtime import CallMeta, Runtime

from .identity import Context, is_modern
from .listing import ListedTool

log = logger("toolgen.mcp")

_MOST_LISTENERS: Final = 1_000
"""Maximum number of concurrent `subscriptions/listen` streams."""
_MOST_SESSIONS: Final = 10_000
"""Maximum number of sessions without a connection whose list is remembered."""
List: TypeAlias = Callable[[CallMeta, bool], Awaitable[Iterable[ListedTool]]]
"""Lists the tools of a request again; the flag tells whether the protocol is 2026-07-28 or later."""


@frozen_record
class _Seen:
    """Last tool list of a client, and its facts."""

    digest: str
    meta: CallMeta


class Listeners:
    """Handler of `subscriptions/listen`.

    Beyond `most` streams the oldest ends, and its client can reconnect.
    """

    def __init__(self, bus: InMemorySubscriptionBus, most: int) -> None:
        self._most = most
        self._streams = ListenHandler(bus, max_subscriptions=2 * most)  # the oldest can end a little later
        self._open: dict[anyio.CancelScope, None] = {}

    @property
    def are_there(self) -> bool:
        """Whether a client listens."""
        return bool(self._open)

    async def __call__(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream, and return its final result."""
        if len(self._open) >= self._most:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.cancel()
        with anyio.CancelScope() as stream:
            self._open[stream] = None
            try:
                return await self._streams(ctx, params)
            finally:
                self._open.pop(stream, None)
        return types.SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: ctx.request_id})

    def close(self) -> None:
        """End all streams."""
        self._streams.close()


class ListChanges:
    """Last tool list of each client of one server."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listeners = Listeners(self._bus, _MOST_LISTENERS)
        self._of_connections: WeakKeyDictionary[Connection, _Seen] = WeakKeyDictionary()
        self._of_sessions: OrderedDict[str, _Seen] = OrderedDict()

    def listed(self, ctx: Context, meta: CallMeta, tools: Iterable[ListedTool]) -> None:
        """Remember the tools that a client has listed."""
        seen = _Seen(digest=_digest(tools), meta=meta)
        if not is_modern(ctx):
            self._of_connections[_connection(ctx)] = seen
            return
        self._of_sessions[meta.session_id] = seen
        self._of_sessions.move_to_end(meta.session_id)
        while len(self._of_sessions) > _MOST_SESSIONS:
            self._of_sessions.popitem(last=False)

    def has_listed(self, ctx: Context, meta: CallMeta) -> bool:
        """Return whether a client has listed tools, and was not notified of a change since."""
        if is_modern(ctx):
            return meta.session_id in self._of_sessions
        return _connection(ctx) in self._of_connections

    async def compare(self, ctx: Context, meta: CallMeta, tools: Iterable[ListedTool]) -> None:
        """Notify a client whose last list differs, once until it lists again."""
        if is_modern(ctx):
            await self._compare_session(meta.session_id, _digest(tools))
        else:
            await self._compare_connection(_connection(ctx), _digest(tools))

    async def announce(self) -> None:
        """Notify every client that has listed tools or listens that the tools may have changed."""
        for connection in list(self._of_connections):
            await connection.send_tool_list_changed()
        await self._bus.publish(ToolsListChanged())

    @asynccontextmanager
    async def watched(self, runtime: Runtime, list_tools: List, every_s: float) -> AsyncIterator[None]:
        """Notify clients of changes without a call: compare their lists when a toolset is registered.

        If the tools can also change in other ways, compare the lists every `every_s` seconds, too.
        """
        loop, is_registered = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(is_registered.set)

        with runtime.assembly.toolsets.subscribed(wake):
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, runtime, list_tools, every_s, is_registered)
                yield
                group.cancel_scope.cancel()

    async def _watch(
        self, runtime: Runtime, list_tools: List, every_s: float, is_registered: asyncio.Event
    ) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(every_s if runtime.tools.may_change else None):
                    await is_registered.wait()
            is_registered.clear()
            await self._look(list_tools)

    async def _look(self, list_tools: List) -> None:
        """List the tools of each client again; clients without a connection only while somebody listens.

        If listing fails for one client, for example because a toolset is broken for it, others are still
        notified.
        """
        for connection, seen in list(self._of_connections.items()):
            with _only_logged():
                await self._compare_connection(connection, _digest(await list_tools(seen.meta, False)))
        if self.listeners.are_there:
            for session_id, seen in list(self._of_sessions.items()):
                with _only_logged():
                    await self._compare_session(session_id, _digest(await list_tools(seen.meta, True)))

    async def _compare_connection(self, connection: Connection, now: str) -> None:
        seen = self._of_connections.get(connection)
        if seen is not None and seen.digest != now:
            del self._of_connections[connection]
            await connection.send_tool_list_changed()

    async def _compare_session(self, session_id: str, now: str) -> None:
        seen = self._of_sessions.get(session_id)
        if seen is not None and seen.digest != now:
            del self._of_sessions[session_id]
            await self._bus.publish(ToolsListChanged())


@contextmanager
def _only_logged() -> Iterator[None]:
    """Suppress exceptions in the context, and log them."""
    try:
        yield
    except MCPError:
        pass  # logged; `tools/list` reports it to the client
    except Exception as error:  # noqa: BLE001 - logged; the client lists again by itself
        log_failure(log, error, "a client could not be notified of changed tools")


def _connection(ctx: Context) -> Connection:
    """Return the connection of a request.

    The SDK has no public name for it, but it is the only way to distinguish connections, and to notify one
    without a request.
    """
    return ctx.session._connection


def _digest(tools: Iterable[ListedTool]) -> str:
    return hashlib.sha256("".join(tool.digest for tool in tools).encode()).hexdigest()
