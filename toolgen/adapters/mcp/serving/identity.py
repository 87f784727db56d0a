"""For whom a request is: the facts of its calls, which the client never sets."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.types import INTERNAL_ERROR
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from toolgen.contract.logs import log_failure, logger
from toolgen.runtime import CallMeta

Context: TypeAlias = ServerRequestContext[Any, Any]
MetaHook: TypeAlias = Callable[[Context], CallMeta | Awaitable[CallMeta]]
"""Returns the facts of a request: its session, its labels, and the person for whom it is."""

log = logger("toolgen.mcp")

IDENTITY: Final = "toolgen.identity"
"""Key of an ASGI scope: the `CallMeta` that the verifier of tokens returned."""


def is_modern(ctx: Context) -> bool:
    """Return whether a request is of 2026-07-28 or later, where a server sends no requests."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


class Identities:
    """Says for whom each request of one server is."""

    def __init__(self, session_id: str, hook: MetaHook | None) -> None:
        """Take the session of requests that say nothing else, and the host's hook, which is asked first."""
        self._default = CallMeta(session_id=session_id)
        self._hook = hook

    async def meta(self, ctx: Context) -> CallMeta:
        """Return the facts of a request: by the hook, by the verified token, or the default.

        Raises:
            MCPError: the hook failed; the log has why.
        """
        if self._hook is not None:
            try:
                found = self._hook(ctx)
                return await found if inspect.isawaitable(found) else found
            except Exception as error:
                reference = log_failure(log, error, "the meta hook failed for %s", ctx.method)
                message = f"the server does not know for whom this request is (reference {reference})"
                raise MCPError(INTERNAL_ERROR, message) from None
        scope = getattr(ctx.request, "scope", {})
        verified = scope.get(IDENTITY)
        return verified if isinstance(verified, CallMeta) else self._default

    async def call_meta(self, ctx: Context) -> CallMeta:
        """Return the facts of a call, which has an id of its own.

        Raises:
            MCPError: as `meta`.
        """
        meta = await self.meta(ctx)
        return meta if meta.tool_call_id else replace(meta, tool_call_id=f"mcp_{uuid.uuid4().hex}")
