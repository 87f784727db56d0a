"""HTTP responses of a server, checked before the SDK reads them, and SDK logs without secrets.

The SDK discards the status of a response and reads bodies of any length. `check_response`, a hook of the HTTP
client, therefore stores the status and limits the body.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Final

import httpx2
import mcp
import mcp_types as types
from mcp.client.streamable_http import MCP_SESSION_ID
from pydantic import ValidationError

from .errors import shortened
from .messages import LONGEST_MESSAGE, REPLY, TOO_LONG, Reply

_REFUSALS: Final = (401, 403, 429)
_LOGGERS: Final = ("client", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher")
"""Loggers of the SDK; its sessions log as `client`."""
_SDK: Final = mcp.__path__[0]
_OF_SESSION: Final = "Received session ID"


async def check_response(response: httpx2.Response) -> None:
    """Limit the body of a response; if only its status reports a failure, replace the body by an error.

    Statuses of refusals and failures become JSON-RPC errors, and the `REPLY` of the task records it.
    Responses with 400 and 405 belong to version negotiation, and stay unchanged.
    """
    status, request = response.status_code, response.request
    reply = Reply(
        status=status,
        content_type=response.headers.get("content-type", "").lower(),
        is_get=request.method == "GET",
        has_session=MCP_SESSION_ID in request.headers,
    )
    REPLY.set(reply)
    encoding = response.headers.get("content-encoding", "identity").lower()
    assert isinstance(response.stream, httpx2.AsyncByteStream), "the client is asynchronous"
    response.stream = _Bounded(response.stream, reply, is_compressed=encoding != "identity")
    if status == 404 and reply.has_session:
        response.headers["content-type"] = ""  # the session is gone, regardless of the body (MCP, Transports)
    elif status in _REFUSALS:
        reply.is_refused = True
        await _replace(response, _error_of(status))
    elif status >= 500:
        body = await _read(response.stream)
        reply.is_refused = not _is_error(body)
        await _replace(response, _error_of(status) if reply.is_refused else body)


class _Bounded(httpx2.AsyncByteStream):
    """Bytes of a body with a size limit, and how much was read; the SDK limits each event of a stream."""

    def __init__(self, stream: httpx2.AsyncByteStream, reply: Reply, *, is_compressed: bool) -> None:
        self._stream = stream
        self._reply = reply
        self._is_compressed = is_compressed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reply = self._reply
        try:
            if self._is_compressed:  # few bytes can decompress to very many
                raise httpx2.StreamError("it is compressed, but the request did not accept compression")
            async for chunk in self._stream:
                reply.size_bytes += len(chunk)
                if reply.size_bytes > LONGEST_MESSAGE and not reply.is_events:
                    reply.is_long = True
                    raise httpx2.StreamError(f"it has {TOO_LONG}")
                yield chunk
        except Exception:
            reply.is_over = True
            raise
        reply.is_over = True

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _read(stream: httpx2.AsyncByteStream) -> bytes:
    """Return the body; empty if it cannot be read."""
    try:
        return b"".join([chunk async for chunk in stream])
    except (httpx2.StreamError, httpx2.TransportError):
        return b""


async def _replace(response: httpx2.Response, body: bytes) -> None:
    await response.stream.aclose()  # type: ignore[union-attr]  # the client is asynchronous
    response.stream = httpx2.ByteStream(body)
    response.headers["content-type"] = "application/json"
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)


def _error_of(status: int) -> bytes:
    error = {"code": types.INTERNAL_ERROR, "message": f"HTTP status {status}"}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()


def _is_error(body: bytes) -> bool:
    try:
        message = types.jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValidationError:
        return False
    return isinstance(message, types.JSONRPCError)


def keep_logs_clean() -> None:
    """Remove URL secrets and session ids from the SDK's logs, and clean texts of servers in them.

    The loggers are global to the process; each gets one filter, even if this function is called repeatedly.
    """
    logging.getLogger("httpx2").addFilter(_without_query)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_cleaned)


def plain_url(url: httpx2.URL | str) -> str:
    """Return a URL without user, password, query and fragment, which can contain secrets."""
    return str(httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None))


def _without_query(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            plain_url(argument) if isinstance(argument, httpx2.URL) else argument for argument in record.args
        )
    return True


def _cleaned(record: logging.LogRecord) -> bool:
    if not record.pathname.startswith(_SDK):
        return True  # another package's logger with the same name
    message = record.getMessage()
    if message.startswith(_OF_SESSION):
        return False
    error = record.exc_info[0] if isinstance(record.exc_info, tuple) else None
    if error is not None:  # its text quotes server content
        message, record.exc_info, record.exc_text = f"{message} ({error.__name__})", None, None
    record.msg, record.args = shortened(message), ()
    return True
