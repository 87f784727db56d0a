"""What the SDK tells of answers that are no messages, and how large a message may be."""

from __future__ import annotations

from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from .errors import (
    ConnectionLostError,
    MalformedAnswerError,
    MCPServerError,
    RefusedError,
    ServerFailedError,
    shortened,
)

LONGEST_MESSAGE: Final = 16 * 2**20
"""Bytes of one message of a server, with its images: a line of stdio, a body of HTTP, an event of SSE."""
TOO_LONG: Final = f"more than {LONGEST_MESSAGE} bytes"
HTTP_STATUS: Final = "toolgen.httpStatus"
"""Key of the data of an error that stands for an answer of HTTP, with its status."""
_SESSION_ENDED: Final = (types.INVALID_REQUEST, "Session terminated")
"""How the SDK tells of a 404: the server has forgotten the session, and has not looked at the request."""
_UNREADABLE: Final = ("Failed to parse JSON response: ", "Failed to parse SSE message: ")
_NO_TYPE: Final = "Unexpected content type: "
_LONG_EVENT: Final = "SSE stream failed: Server-sent event exceeded"


def fault_of(error: MCPError, server: str) -> MCPServerError | None:
    """Return what an error of the SDK stands for; None where it is an answer of the server itself."""
    what = f"the MCP server {server!r}"
    match error.data:
        case {"toolgen.httpStatus": int(status)}:
            return _fault_of_status(status, what)
        case _:
            pass
    if (error.code, error.message) == _SESSION_ENDED:
        return ConnectionLostError(f"{what} has forgotten the session", was_sent=False)
    if error.message.startswith(_LONG_EVENT) or (
        error.message.startswith(_UNREADABLE) and error.message.endswith(TOO_LONG)
    ):
        return MalformedAnswerError(f"it has {TOO_LONG}")
    if error.code == types.PARSE_ERROR and error.message.startswith(_UNREADABLE):
        return MalformedAnswerError("it is no message of JSON-RPC")
    if error.code == types.INVALID_REQUEST and error.message.startswith(_NO_TYPE):
        kind = shortened(error.message.removeprefix(_NO_TYPE), 100)
        return MalformedAnswerError(f"its content type {kind!r} is neither JSON nor a stream of events")
    return None


def _fault_of_status(status: int, what: str) -> MCPServerError:
    if status in (401, 403):
        return RefusedError(
            f"{what} refuses the credentials (HTTP status {status})",
            hint="look at the headers= or bearer= of its HttpServer",
        )
    if status == 429:
        return RefusedError(f"{what} has too many requests now (HTTP status 429)")
    return ServerFailedError(f"{what} failed (HTTP status {status})", was_sent=True)
