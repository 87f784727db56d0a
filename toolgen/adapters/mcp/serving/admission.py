"""The requests that are taken over HTTP: by `Host` and `Origin`, bearer token and time."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolgen.calls.steps.boundary import Contained
from toolgen.contract.logs import log_failure, logger
from toolgen.ports.requests import assign, waits_for_client
from toolgen.runtime import CallMeta

from .identity import IDENTITY, owner_of, require_meta

Verify: TypeAlias = Callable[[str], CallMeta | Awaitable[CallMeta | None] | None]
"""Returns for whom a bearer token (RFC 6750) is: the facts of its calls; None where it is not valid."""

_VERIFY_S: Final = 30.0

log = logger("toolgen.mcp")

_PORT: Final = r"(:[0-9]{1,5})?"


class OwnNames:
    """Lets requests through whose `Host` and `Origin` are names of this server, with any port.

    So no web page reaches it under a name of its own (MCP 2025-11-25, Transports, Security Warning: DNS
    rebinding). Both are compared whole: `http://localhost:80@evil.example` is no name of this server.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        names = "|".join(map(re.escape, hosts))
        self._host = re.compile(f"({names}){_PORT}", re.ASCII | re.IGNORECASE)
        self._origin = re.compile(f"https?://({names}){_PORT}", re.ASCII | re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or self._host.fullmatch(hosts[0]) is None:
            await PlainTextResponse("the Host is no name of this server", 421)(scope, receive, send)
        elif not all(map(self._origin.fullmatch, origins)):
            await PlainTextResponse("the Origin is no name of this server", 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class BodyDeadline:
    """Ends requests whose body does not come in time, with 408, and those whose client goes before its end.

    What comes after the body has no limit.
    """

    def __init__(self, app: ASGIApp, timeout_s: float) -> None:
        self._app = app
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole: list[Message] = []
        is_done = asyncio.get_running_loop().time() + self._timeout_s

        async def in_time() -> Message:
            if whole:
                return await receive()
            with waits_for_client(scope):
                async with asyncio.timeout_at(is_done):
                    message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            if not message.get("more_body", False):
                whole.append(message)
            return message

        try:
            await self._app(scope, in_time, send)
        except ClientDisconnect:
            return  # nobody is there who could be answered
        except TimeoutError:
            if whole:
                raise
            text = f"the body did not come within {self._timeout_s:g} seconds"
            await PlainTextResponse(text, 408, {"Connection": "close"})(scope, receive, send)


class BearerAuth:
    """Lets requests with a valid token through, and says for whom they are.

    A session of MCP belongs to the facts that opened it: with a token for others it is not there.
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
                    verified = self._verify(token)
                    meta = await verified if inspect.isawaitable(verified) else verified
            owner = "" if meta is None else owner_of(require_meta(meta))
        except Exception as error:
            reference = log_failure(log, error, "the verifier of tokens failed")
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
