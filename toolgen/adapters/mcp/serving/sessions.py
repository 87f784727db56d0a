"""MCP sessions through 2025-11-25: limits of open sessions, and which session is closed for a new one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from ...ports.requests import waits


class OwnedSessions(StreamableHTTPSessionManager):
    """Session manager with limits in total and per identity that closes an idle session for a new one.

    The first to close is the oldest session that was never used, as a flood of `initialize` requests creates
    them, then the session that was idle for longest, then one whose client is being asked. A session with
    another request stays open; a stream by which its client listens does not count, and ends with the
    session. The SDK decides about a new session under a lock in `_admit_session`, and ends a session through
    its `idle_scope`.
    """

    def __init__(self, app: Server[Any], max_per_owner: int, **options: Any) -> None:
        super().__init__(app, **options)
        self._max_per_owner = max_per_owner
        self._uses = WeakKeyDictionary[StreamableHTTPServerTransport, _Use]()

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        session = None if session_id is None else self._server_instances.get(session_id)
        if session is None:
            await super()._handle_stateful_request(scope, receive, send)
            return
        with self._uses.setdefault(session, _Use()).counted(scope):
            await super()._handle_stateful_request(scope, receive, send)

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if requestor is not None:
            own = [key for key, owner in self._session_owners.items() if owner == requestor]
            if len(own) >= self._max_per_owner and not self._close_one(own):
                return None
        if self.max_sessions is not None and len(self._server_instances) >= self.max_sessions:
            self._close_one(list(self._server_instances))
        return super()._admit_session(requestor)

    def _close_one(self, session_ids: list[str]) -> bool:
        """Close the session with the lowest rank among idle ones; return whether there was one."""
        idle = [key for key in session_ids if self._is_idle(self._server_instances[key])]
        if not idle:
            return False
        first = min(idle, key=self._rank)
        session = self._server_instances.pop(first)
        self._session_owners.pop(first, None)
        assert session.idle_scope is not None
        session.idle_scope.cancel()
        return True

    def _is_idle(self, session: StreamableHTTPServerTransport) -> bool:
        """Return whether all requests of a session wait for its client, for example by listening."""
        if (use := self._uses.get(session)) is not None and (use.requests or use.streams):
            return all(map(waits, use.requests))
        return session.idle_scope is not None and session.idle_scope.deadline < math.inf

    def _rank(self, session_id: str) -> tuple[bool, float]:
        """Return whether a session has open requests, and when its last one ended; -inf if it had none."""
        use = self._uses.get(self._server_instances[session_id])
        return (False, -math.inf) if use is None else (bool(use.requests), use.ended)


class StartedSessions:
    """Serves requests with sessions that start with the lifespan, or otherwise with the first request.

    Starlette and FastAPI do not run the lifespan of a mounted application. Sessions that were started by a
    request end with its event loop.
    """

    def __init__(self, make: Callable[[], OwnedSessions]) -> None:
        self._make = make
        self._sessions: OwnedSessions | None = None
        self._started: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Run the sessions of an application from its start to its shutdown."""
        sessions = self._make()
        async with sessions.run():
            self._sessions = sessions
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request.

        Raises:
            Exception: The sessions cannot be started; the next request tries again.
        """
        if self._sessions is None:
            if self._started is None:
                self._started = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(self._run(self._started), context=Context())
            await asyncio.shield(self._started)
        assert self._sessions is not None
        await self._sessions.asgi_app(scope, receive, send)

    async def _run(self, started: asyncio.Future[None]) -> None:
        """Run sessions until the event loop ends, without the context of the request that started them."""
        try:
            async with self.lifespan(None):
                started.set_result(None)
                await asyncio.get_running_loop().create_future()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)
        finally:
            self._sessions = self._started = None


@dataclass(slots=True)
class _Use:
    """Requests in a session after it was opened."""

    requests: list[Scope] = field(default_factory=list)
    """Open requests, except listening streams."""
    streams: int = 0
    """Number of open `GET` requests by which the client listens."""
    ended: float = -math.inf
    """End of the last request, on the clock of the event loop."""

    @contextmanager
    def counted(self, scope: Scope) -> Iterator[None]:
        """Record a request or a stream while it is open."""
        if scope["method"] == "GET":
            self.streams += 1
            try:
                yield
            finally:
                self.streams -= 1
            return
        self.requests.append(scope)
        try:
            yield
        finally:
            self.requests.remove(scope)
            self.ended = anyio.current_time()
