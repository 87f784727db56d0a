"""Facts about the caller of a request. The client never sets them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from toolgen.calls.call import CallName
from toolgen.contract.boundary import Contained
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.tasks import awaited
from toolgen.runtime import CallMeta

from .listing import META_PREFIX

Context: TypeAlias = ServerRequestContext[Any, Any]
MetaHook: TypeAlias = Callable[[Context], CallMeta | Awaitable[CallMeta]]
"""Returns the facts of a request: its session, its labels, and the person who makes it."""

log = logger("toolgen.mcp")

IDENTITY: Final = "toolgen.identity"
"""Key in an ASGI scope for the `CallMeta` that the token verifier returned."""
CALL_ID: Final = f"{META_PREFIX}call-id"
"""Key in `_meta` of a `tools/call` for the client's own id of the call."""
_LONGEST_ID: Final = 200
"""Maximum number of characters of a call id."""


class _Versioned(Protocol):
    @property
    def protocol_version(self) -> str: ...


def is_modern(ctx: _Versioned) -> bool:
    """Return whether a request uses 2026-07-28 or later, where a server sends no requests."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def require_meta(returned: object) -> CallMeta:
    """Return the value of a host's function, which must be the facts of a request.

    Raises:
        TypeError: The value is not a `CallMeta`.
    """
    if not isinstance(returned, CallMeta):
        raise TypeError(f"it returned {type(returned).__name__}, which is not a CallMeta")
    return returned


def owner_of(meta: CallMeta) -> str:
    """Return a text that is equal for requests that may use each other's MCP sessions and states."""
    return json.dumps([meta.session_id, meta.requested_by, sorted(meta.labels.items())])


def call_name(params: CallToolRequestParams, meta: CallMeta) -> CallName | None:
    """Return the name of a call to which its client assigned an id, so that it can repeat the call.

    The name is scoped to the owner of the request. MCP has no such id: request ids and progress tokens belong
    to a single request.

    Raises:
        MCPError: The id is invalid (-32602).
    """
    call_id = (params.meta or {}).get(CALL_ID)
    if call_id is None:
        return None
    if not isinstance(call_id, str) or not 0 < len(call_id) <= _LONGEST_ID:
        raise MCPError(INVALID_PARAMS, f"{CALL_ID} must be a string of at most {_LONGEST_ID} characters")
    return CallName(interface="mcp", call_id=call_id, checkpoint=owner_of(meta), is_detached=True)


def scope_of(ctx: Context) -> MutableMapping[str, object]:
    """Return the ASGI scope of a request; empty if it did not come over HTTP."""
    scope: MutableMapping[str, Any] = getattr(ctx.request, "scope", {})
    return scope


def verified_owner(ctx: Context) -> str | None:
    """Return the owner in the verified token of a request; None if there is none."""
    meta = _verified(ctx)
    return None if meta is None else owner_of(meta)


def _verified(ctx: Context) -> CallMeta | None:
    meta = scope_of(ctx).get(IDENTITY)
    return meta if isinstance(meta, CallMeta) else None


class Identities:
    """Determines the caller of each request of one server."""

    def __init__(self, session_id: str, hook: MetaHook | None) -> None:
        """Store the default session, and the host's hook, which takes precedence."""
        self._default = CallMeta(session_id=session_id)
        self._hook = hook

    async def meta(self, ctx: Context) -> CallMeta:
        """Return the facts of a request: from the hook, from the verified token, or the default.

        Raises:
            MCPError: The hook failed; the log has the reason.
        """
        if self._hook is not None:
            try:
                with Contained():
                    return require_meta(await awaited(self._hook(ctx)))
            except Exception as error:  # noqa: BLE001 - author code; logged, and the request is refused
                reference = log_failure(log, error, "the meta hook failed for %s", ctx.method)
                message = f"the server could not determine the caller of this request (reference {reference})"
                raise MCPError(INTERNAL_ERROR, message) from None
        return _verified(ctx) or self._default

    async def call_meta(self, ctx: Context) -> CallMeta:
        """Return the facts of a call, with a new call id if there is none.

        Raises:
            MCPError: See `meta`.
        """
        meta = await self.meta(ctx)
        return meta if meta.tool_call_id else replace(meta, tool_call_id=f"mcp_{uuid.uuid4().hex}")
