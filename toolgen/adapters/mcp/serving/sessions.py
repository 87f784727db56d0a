"""The sessions of MCP through 2025-11-25: how many are open at once, and which one makes room for another."""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakSet

from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send


class OwnedSessions(StreamableHTTPSessionManager):
    """Has so many sessions open for all, and for each identity, and closes an idle one for a further one.

    First goes the oldest that was opened and never used, as a flood of `initialize` leaves them; then the
    one that is idle for the longest. One with a request, or a stream of its client, stays. The SDK decides
    under a lock in `_admit_session` whether there is another session, and ends one by its `idle_scope`.
    """

    def __init__(self, app: Server[Any], max_per_owner: int, **options: Any) -> None:
        super().__init__(app, **options)
        self._max_per_owner = max_per_owner
        self._used = WeakSet[StreamableHTTPServerTransport]()

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        if session_id is not None and (session := self._server_instances.get(session_id)) is not None:
            self._used.add(session)
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
        """Close the first of some sessions to go; return whether there was one."""
        idle = [key for key in session_ids if _idle_until(self._server_instances[key]) < math.inf]
        if not idle:
            return False
        first = min(idle, key=self._rank)
        session = self._server_instances.pop(first)
        self._session_owners.pop(first, None)
        assert session.idle_scope is not None
        session.idle_scope.cancel()
        return True

    def _rank(self, session_id: str) -> tuple[bool, float]:
        session = self._server_instances[session_id]
        return session in self._used, _idle_until(session)


def _idle_until(session: StreamableHTTPServerTransport) -> float:
    """Return when a session ends that stays idle, by the clock of the loop; infinite while it is not idle."""
    return math.inf if session.idle_scope is None else session.idle_scope.deadline
