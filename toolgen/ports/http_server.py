"""A process that serves an ASGI application at a port: its sockets, and its server by uvicorn."""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp

from toolgen.contract.errors import ToolgenError

from .admission import Place
from .connections import Port
from .http_connection import HttpConnection
from .requests import PLACE

_CLOSING_S: Final = 2
"""Seconds for connections that are open when the calls have ended."""
_BACKLOG: Final = 256
"""Connections that are accepted in one turn of the event loop, and that wait for one."""


async def listening_sockets(host: str, port: int) -> Any:
    """Return sockets that listen; who connects waits until the application has begun.

    Raises:
        ToolgenError: somebody else has the port, or the address is not of this machine.
    """
    loop = asyncio.get_running_loop()
    try:
        bound = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    except OSError as error:
        hint = "choose another address or port, or end the process that has it"
        raise ToolgenError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from None
    listening = [listening_socket.dup() for listening_socket in bound.sockets]
    bound.close()
    for listener in listening:
        listener.listen()
    return listening


def url_of(host: str, listening: Any) -> str:
    """Return the URL of a host at the port where these sockets listen, without a path."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening[0].getsockname()[1]}"


def http_config(app: ASGIApp, admitted: Port) -> uvicorn.Config:
    """Return the configuration of a server whose connections have places at a port."""

    def connection(
        config: uvicorn.Config, server_state: Any, app_state: dict[str, Any], _loop: Any = None
    ) -> asyncio.Protocol:
        def serve(place: Place) -> asyncio.Protocol:
            return HttpConnection(config, server_state, {**app_state, PLACE: place}, _loop)

        return admitted.connection(serve)

    return uvicorn.Config(
        app,
        http=cast(Any, connection),  # it is called alone, as its classes are
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_CLOSING_S,
    )
