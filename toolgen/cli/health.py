"""The health of a worker over HTTP: `GET /live` and `GET /ready`, for those that restart processes.

It understands no more of HTTP/1.1 than a probe sends: one request for each connection, without a body.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal

from toolgen.contract.errors import ToolgenError

WorkerState = Literal["starting", "ready", "draining", "engine lost", "store unreachable"]

_HEAD_BYTES: Final = 8192
"""Size of the request line and the headers; a larger request is refused with 431."""
_REQUEST_S: Final = 5.0
"""Seconds for one request; a slower connection is closed."""
_MOST_CONNECTIONS: Final = 64
"""Open at once; a further one is closed without an answer."""
_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.[01]")
_HEADER: Final = re.compile(rb"[!#-'*+.^-z|~0-9A-Z-]+:[\t -~\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class _Response:
    status: HTTPStatus
    text: str
    has_body: bool = True

    def as_bytes(self) -> bytes:
        body = json.dumps({"status": self.text}).encode()
        allow = "Allow: GET, HEAD\r\n" if self.status is HTTPStatus.METHOD_NOT_ALLOWED else ""
        head = (
            f"HTTP/1.1 {self.status.value} {self.status.phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + (body if self.has_body else b"")


@asynccontextmanager
async def serve_health(host: str, port: int, state: Callable[[], WorkerState]) -> AsyncIterator[str]:
    """Serve the health of a worker, and yield the URL; port 0 is any that is free.

    `/live` is 200 while the event loop runs, `/ready` while the state is `ready`, and 503 otherwise. Both
    say the state in `{"status": …}`.

    Raises:
        ToolgenError: nobody can listen there.
    """
    connections: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(connections) >= _MOST_CONNECTIONS:
            writer.transport.abort()
            return
        connections.add(writer)
        try:
            async with asyncio.timeout(_REQUEST_S):
                writer.write((await _respond(reader, state)).as_bytes())
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, OSError):
            pass  # a slow or broken client: there is nobody to answer
        finally:
            connections.discard(writer)
            writer.close()

    try:
        server = await asyncio.start_server(serve, host, port, limit=_HEAD_BYTES)
    except OSError as error:
        hint = "choose another address or port, or end the process that has it"
        raise ToolgenError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from None
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in list(connections):
            writer.transport.abort()


async def _respond(reader: asyncio.StreamReader, state: Callable[[], WorkerState]) -> _Response:
    """Return the response to the request of a connection.

    Raises:
        asyncio.IncompleteReadError: the client is gone.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return _Response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request is too large")
    line, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(line)
    if request is None or not all(map(_HEADER.fullmatch, headers)):
        return _Response(HTTPStatus.BAD_REQUEST, "the request is not HTTP/1.1")
    method, path = request.groups()
    if method not in (b"GET", b"HEAD"):
        return _Response(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD are allowed")
    has_body = method == b"GET"
    match path:
        case b"/live":
            return _Response(HTTPStatus.OK, state(), has_body)
        case b"/ready":
            now = state()
            is_ready = HTTPStatus.OK if now == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
            return _Response(is_ready, now, has_body)
        case _:
            return _Response(HTTPStatus.NOT_FOUND, "there are /live and /ready", has_body)
