"""Admission of HTTP requests by `Host` and `Origin`, and by the duration of their bodies."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .requests import waits_for_client

Refuse: TypeAlias = Callable[[int, str], ASGIApp]
"""Returns the response for a refused request, from its status and a text."""

_PORT: Final = r"(:[0-9]{1,5})?"


def _plain(status: int, text: str) -> ASGIApp:
    return PlainTextResponse(text, status)


class OwnNames:
    """Admits requests whose `Host` and `Origin` are names of this server, with any port.

    This prevents web pages from reaching it under a name of their own (MCP 2025-11-25, Transports, Security
    Warning: DNS rebinding). Both are compared as a whole: `http://localhost:80@evil.example` is no name of
    this server.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        origins: Iterable[str] = (),
        refuse: Refuse = _plain,
        *,
        is_same_origin: bool = False,
    ) -> None:
        """Store the names of this server, and complete origins of others whose pages are admitted too.

        With `is_same_origin`, own pages are only those at the `Host` and port of the request: a browser sends
        cookies to all ports of a host (RFC 6265, 8.5), and thus to this server from pages at another port.
        """
        self._app = app
        self._others = frozenset(origins)
        self._refuse = refuse
        self._is_same_origin = is_same_origin
        names = "|".join(map(re.escape, hosts))
        self._host = re.compile(f"({names}){_PORT}", re.ASCII | re.IGNORECASE)
        self._origin = re.compile(f"https?://({names}){_PORT}", re.ASCII | re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or self._host.fullmatch(hosts[0]) is None:
            await self._refuse(421, "the Host header does not name this server")(scope, receive, send)
        elif not all(self._is_own(origin, hosts[0]) for origin in origins):
            await self._refuse(403, "the Origin header does not name this server")(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_own(self, origin: str, host: str) -> bool:
        if origin in self._others:
            return True
        is_here = origin.partition("://")[2].lower() == host.lower() or not self._is_same_origin
        return is_here and self._origin.fullmatch(origin) is not None


class BodyDeadline:
    """Ends requests whose body is late, with 408, and requests whose client disconnects during the body.

    After the body there is no limit.
    """

    def __init__(self, app: ASGIApp, timeout_s: float) -> None:
        self._app = app
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received: list[Message] = []
        is_done = asyncio.get_running_loop().time() + self._timeout_s

        async def in_time() -> Message:
            if received:
                return await receive()
            with waits_for_client(scope):
                async with asyncio.timeout_at(is_done):
                    message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            if not message.get("more_body", False):
                received.append(message)
            return message

        try:
            await self._app(scope, in_time, send)
        except ClientDisconnect:
            return  # no client to respond to
        except TimeoutError:
            if received:
                raise
            text = f"the body did not come within {self._timeout_s:g} seconds"
            await PlainTextResponse(text, 408, {"Connection": "close"})(scope, receive, send)
