"""The health of a worker over HTTP: `GET /live` and `GET /ready`, for process supervisors.

It supports only the part of HTTP/1.1 that probes use: one request per connection, without a body.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, Literal

from toolgen.adapters.ports.admission import PortLimits
from toolgen.adapters.ports.connections import Port
from toolgen.contract.errors import ToolgenError

WorkerState = Literal["starting", "ready", "draining", "engine lost", "store unreachable"]

_HEAD_BYTES: Final = 8192
"""Size of the request line and the headers; a larger request is refused with 431."""
_LIMITS: Final = PortLimits(
    connections=64, per_address=32, per_identity=32, head_s=5.0, write_s=5.0, unsent_bytes=2**20
)
_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.[01]")
_HEADER: Final = re.compile(rb"[!#-'*+.^-z|~0-9A-Z-]+:[\t -~\x80-\xff]*")


@asynccontextmanager
async def serve_health(host: str, port: int, state: Callable[[], WorkerState]) -> AsyncIterator[str]:
    """Serve the health of a worker, and yield the URL; port 0 selects a free port.

    `/live` is 200 while the event loop runs, `/ready` while the state is `ready`, and 503 otherwise. Both
    return the state as `{"status": …}`.

    Raises:
        ToolgenError: the address cannot be used.
    """
    loop = asyncio.get_running_loop()
    admitted = Port(_LIMITS, loop)
    try:
        server = await loop.create_server(lambda: admitted.connection(lambda _: _Request(state)), host, port)
    except OSError as error:
        hint = "choose another address or port, or end the process that has it"
        raise ToolgenError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from None
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        admitted.admission.close_all()


class _Request(asyncio.Protocol):
    """Answers the only request of a connection as soon as its head is complete."""

    def __init__(self, state: Callable[[], WorkerState]) -> None:
        self._state = state
        self._head = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._transport.is_closing():
            return
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        if end > _HEAD_BYTES or (end < 0 and len(self._head) > _HEAD_BYTES):
            response = _written(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request is too large")
        elif end < 0:
            return
        else:
            response = _response(self._head[:end], self._state)
        self._transport.write(response)
        self._transport.close()


def _response(head: bytes, state: Callable[[], WorkerState]) -> bytes:
    line, *headers = head.split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(line)
    if request is None or not all(map(_HEADER.fullmatch, headers)):
        return _written(HTTPStatus.BAD_REQUEST, "the request is not HTTP/1.1")
    method, path = request.groups()
    if method not in (b"GET", b"HEAD"):
        return _written(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD are allowed")
    has_body = method == b"GET"
    match path:
        case b"/live":
            return _written(HTTPStatus.OK, state(), has_body)
        case b"/ready":
            now = state()
            is_ready = HTTPStatus.OK if now == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
            return _written(is_ready, now, has_body)
        case _:
            return _written(HTTPStatus.NOT_FOUND, "not found; use /live or /ready", has_body)


def _written(status: HTTPStatus, text: str, has_body: bool = True) -> bytes:
    """Return a response with its head."""
    body = json.dumps({"status": text}).encode()
    more = {
        HTTPStatus.METHOD_NOT_ALLOWED: "Allow: GET, HEAD\r\n",
        HTTPStatus.SERVICE_UNAVAILABLE: "Retry-After: 1\r\n",
    }.get(status, "")
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{more}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (body if has_body else b"")
