"""Admission of HTTP requests by their bearer token."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from toolgen.contract.boundary import Contained
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.tasks import awaited
from toolgen.runtime import CallMeta

from ...ports.requests import assign
from .identity import IDENTITY, owner_of, require_meta

Verify: TypeAlias = Callable[[str], CallMeta | Awaitable[CallMeta | None] | None]
"""Returns the call facts that belong to a bearer token (RFC 6750); None if the token is not valid."""

_VERIFY_S: Final = 30.0

log = logger("toolgen.mcp")


class BearerAuth:
    """Admits requests with a valid token, and identifies their owner.

    An MCP session belongs to the facts that opened it: with the token of another owner it does not exist.
    """

    def __init__(self, app: ASGIApp, verify: Verify) -> None:
        self._app = app
        self._verify = verify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            await _refusal(401, "a bearer token is missing", "Bearer")(scope, receive, send)
            return
        try:
            async with asyncio.timeout(_VERIFY_S):
                with Contained():
                    meta = await awaited(self._verify(token))
            owner = "" if meta is None else owner_of(require_meta(meta))
        except Exception as error:  # noqa: BLE001 - author code; logged, and the request is refused
            reference = log_failure(log, error, "the token verifier failed")
            text = f"the token cannot be verified now (reference {reference})"
            await _refusal(503, text, "")(scope, receive, send)
            return
        if meta is None:
            text = "the bearer token is not valid"
            await _refusal(401, text, 'Bearer error="invalid_token"')(scope, receive, send)
            return
        if (refused := assign(scope, owner)) is not None:
            await _refusal(refused.status, refused.text, "")(scope, receive, send)
            return
        user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        await self._app({**scope, "user": user, IDENTITY: meta}, receive, send)


def _refusal(status: int, text: str, challenge: str) -> PlainTextResponse:
    headers = {"WWW-Authenticate": challenge} if challenge else None
    return PlainTextResponse(text, status, headers)
