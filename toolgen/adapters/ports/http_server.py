"""A process that serves an ASGI application at a port, with its sockets and a uvicorn server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolgen.contract.errors import ToolgenError

from .admission import ConnectionPlace, PortLimits
from .connections import Port
from .requests import PLACE
from .signals import on_signal

_CLOSING_S: Final = 2
"""Seconds for connections that are still open after the calls have ended."""
_BACKLOG: Final = 256
"""Maximum number of connections that are accepted per turn of the event loop, and that wait for one."""
_MOST_CHUNKS: Final = 1_000
"""Maximum chunks of a body, plus one per `_BYTES_OF_A_CHUNK`; a chunk of any size costs about 10 µs."""
_BYTES_OF_A_CHUNK: Final = 1_024


async def serve_app(
    app: Starlette,
    host: str,
    port: int,
    limits: PortLimits,
    *,
    close: Callable[[], Awaitable[None]],
    on_ready: Callable[[str], None],
) -> None:
    """Serve an application until the process gets SIGINT or SIGTERM; then close it, and return.

    Args:
        app: Application to serve; its lifespan is run.
        host: Address to listen on.
        port: Port to listen on; 0 for any free port.
        limits: Limits of the connections.
        close: Awaited when the process is asked to stop, before connections are closed.
        on_ready: Called with the URL, without a path, when the server accepts requests.

    Raises:
        ToolgenError: The address cannot be used.
    """
    process: list[uvicorn.Server] = []
    lifespan = app.router.lifespan_context

    async def end() -> None:
        await close()
        process[0].should_exit = True

    @asynccontextmanager
    async def ending(served: Any) -> AsyncIterator[Any]:  # uvicorn has set its own signal handlers by now
        async with lifespan(served) as state, on_signal(end):
            yield state

    app.router.lifespan_context = ending
    listening = await _listening_sockets(host, port)
    admitted = Port(limits, asyncio.get_running_loop())
    process.append(uvicorn.Server(_config(app, admitted)))
    shown = f"[{host}]" if ":" in host else host
    on_ready(f"http://{shown}:{listening[0].getsockname()[1]}")
    await process[0].serve(listening)


async def _listening_sockets(host: str, port: int) -> Any:
    """Return listening sockets; clients that connect wait until the application has started.

    Raises:
        ToolgenError: The port is in use, or the address does not belong to this machine.
    """
    loop = asyncio.get_running_loop()
    try:
        bound = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    except OSError as error:
        hint = "choose another address or port, or stop the process that uses it"
        raise ToolgenError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from None
    listening = [listening_socket.dup() for listening_socket in bound.sockets]
    bound.close()
    for listener in listening:
        listener.listen()
    return listening


def _config(app: Starlette, admitted: Port) -> uvicorn.Config:
    """Return the configuration of a server whose connections have places at a port."""

    def connection(
        config: uvicorn.Config, server_state: Any, app_state: dict[str, Any], _loop: Any = None
    ) -> asyncio.Protocol:
        def serve(place: ConnectionPlace) -> asyncio.Protocol:
            return _HttpConnection(config, server_state, {**app_state, PLACE: place}, _loop)

        return admitted.connection(serve)

    return uvicorn.Config(
        app,
        http=cast(Any, connection),  # only called, like the protocol classes of uvicorn
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_CLOSING_S,
    )


class _HttpConnection(H11Protocol):
    """Serves one connection; a protocol error gets 400, and the connection is closed."""

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.conn = _StrictConnection(h11.SERVER, self.conn._max_incomplete_event_size)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, and close the connection; if a response has begun, only close it."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()


class _StrictConnection(h11.Connection):
    """Accepts only requests with an unambiguous length, and bodies with a limited number of chunks."""

    _chunks = 0
    _size_bytes = 0

    def next_event(self) -> Any:
        """Return the next event.

        Raises:
            RemoteProtocolError: The peer violates the protocol, a body has too many chunks, or a request has
                two lengths, of which a proxy might use the other one (RFC 9112, section 6.1).
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._size_bytes = 0
            if {b"content-length", b"transfer-encoding"} <= {name for name, _ in event.headers}:
                raise h11.RemoteProtocolError("a request has Content-Length and Transfer-Encoding")
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._size_bytes += len(event.data)
            if self._chunks > _MOST_CHUNKS + self._size_bytes // _BYTES_OF_A_CHUNK:
                raise h11.RemoteProtocolError("a body has too many chunks")
        return event
