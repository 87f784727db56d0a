"""A process that serves a surface: one port, a new token for each start, MCP and the explorer page."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Route

from toolgen.contract.extras import extra
from toolgen.contract.loopback import LOOPBACK_NAMES, is_loopback
from toolgen.contract.record import frozen_record

from ..ports.admission import PortLimits
from ..ports.connections import at_most_half_of_files
from ..ports.http_requests import OwnNames

with extra("serve"):  # checks for uvicorn; another package can have installed starlette without it
    from ..ports.http_server import serve_app

from .callers import Caller
from .explorer import explorer_routes
from .options import SurfaceOptions
from .surface import HTTPSurface

_HEAD_S: Final = 10.0
_WRITE_S: Final = 60.0
_UNSENT_BYTES: Final = 64 * 2**20
_FURTHER: Final = 100
"""Connections allowed in addition to the calls and streams."""


@frozen_record(kw_only=False)
class StartToken:
    """Token of one start; a request with this token is made by the caller."""

    caller: Caller
    value: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def is_given(self, text: str) -> bool:
        """Return whether a text is the token."""
        return hmac.compare_digest(text.encode(errors="replace"), self.value.encode())

    async def __call__(self, request: Request) -> Caller | None:
        """Return the caller of a request; None if the request does not have the token as bearer token.

        Cookies are not accepted: browsers send cookies to every port of a host (RFC 6265, 8.5).
        """
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        return self.caller if scheme.lower() == "bearer" and self.is_given(bearer) else None


@asynccontextmanager
async def _open(apps: Sequence[Starlette]) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for app in apps:
            await stack.enter_async_context(app.router.lifespan_context(app))
        yield


def served_app(
    surface: HTTPSurface, options: SurfaceOptions, *, further: Sequence[Starlette] = ()
) -> Starlette:
    """Return the application of a process: the explorer at `/`, further applications, and the surface.

    The files of the explorer are public and contain no data.
    """
    names = OwnNames(Starlette(routes=explorer_routes()), options.hosts or LOOPBACK_NAMES)
    routes: list[BaseRoute] = [Route("/", names), Route("/assets/{name}", names)]
    for app in further:
        routes += app.routes
    routes.append(Mount("/", surface))
    return Starlette(routes=routes, lifespan=lambda _: _open(further))


async def serve_surface(
    app: Starlette,
    host: str,
    port: int,
    options: SurfaceOptions,
    *,
    close: Callable[[], Awaitable[None]],
    on_ready: Callable[[str], None],
) -> None:
    """Serve an application with the admission limits of a port, as `serve_app` does."""
    wanted = options.max_streams + options.max_calls + _FURTHER
    connections = at_most_half_of_files(wanted)
    limits = PortLimits(
        connections=connections,
        per_address=connections if is_loopback(host) else max(1, connections // 4),
        per_identity=connections,
        head_s=_HEAD_S,
        write_s=_WRITE_S,
        unsent_bytes=_UNSENT_BYTES,
    )
    await serve_app(app, host, port, limits, close=close, on_ready=on_ready)


async def drained(surface: HTTPSurface, seconds: float) -> None:
    """End the streams of a surface, and wait until its calls have ended, for at most `seconds`."""
    await surface.aclose()
    try:
        async with asyncio.timeout(seconds):
            await surface.calls_ended()
    except TimeoutError:
        return  # the server cancels them
