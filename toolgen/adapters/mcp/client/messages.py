"""The HTTP response behind an error of the SDK, and the maximum size of a message.

The SDK reports a failed HTTP response as a JSON-RPC error, and a server can send the same errors. So the
cause is read from the response itself, in `Reply`, and never from the text of an error.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import mcp_types as types
from mcp.shared.exceptions import MCPError

from toolgen.contract.record import frozen_record

from .errors import (
    ConnectionLostError,
    MalformedAnswerError,
    MCPServerError,
    RefusedError,
    ServerFailedError,
    shortened,
)

LONGEST_MESSAGE: Final = 16 * 2**20
"""Maximum bytes of one server message, including images: a line of stdio, an HTTP body, an SSE event."""
TOO_LONG: Final = f"more than {LONGEST_MESSAGE} bytes"
UNREADABLE: Final = "Failed to parse JSON response: "
"""Start of the SDK's error for an answer that is not a message; `stdio.py` uses the same text."""
_UNREADABLE: Final = (UNREADABLE, "Failed to parse SSE message: ")

Kind: TypeAlias = Literal["body", "closed", "failed", "forgotten", "long", "no type", "redirect"]
"""Kind of an SDK error: the server's own text in a body, or what happened to the response."""


@dataclass(slots=True, kw_only=True)
class Reply:
    """HTTP response, as far as it was read; errors that the SDK derives from it have it in their context."""

    status: int
    content_type: str
    is_get: bool
    has_session: bool
    """Whether its request belongs to a session."""
    is_refused: bool = False
    """Whether the status reports the failure, and the body does not."""
    is_over: bool = False
    """Whether its body was read to the end, or until it failed."""
    is_long: bool = False
    """Whether one of its messages exceeds `LONGEST_MESSAGE`."""
    size_bytes: int = 0

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_events(self) -> bool:
        return self.is_success and self.content_type.startswith("text/event-stream")


REPLY: Final[ContextVar[Reply]] = ContextVar("toolgen_mcp_reply")
"""Response that a task of the SDK is reading."""


@frozen_record
class ErrorOrigin:
    """Data of an error that no server can set: the origin of its text, and its response."""

    kind: Kind
    reply: Reply | None = None


def origin_of(error: types.ErrorData, reply: Reply | None) -> ErrorOrigin | None:
    """Return the origin of an error from a stream; None if it does not matter.

    `reply` is the response that it was read from; None for a process, whose errors are always its own.
    """
    own = ErrorOrigin(kind="body", reply=reply)
    if reply is None:
        return own if error.code == types.CONNECTION_CLOSED else None
    if reply.is_refused:
        is_answer = not reply.is_get  # otherwise a stream was to be resumed, after the request had been sent
        return ErrorOrigin(kind="failed" if is_answer else "closed", reply=reply)
    if error.code == types.CONNECTION_CLOSED:
        if reply.is_events and not reply.is_over:
            return ErrorOrigin(kind="long", reply=reply) if reply.size_bytes > LONGEST_MESSAGE else own
        return ErrorOrigin(kind="closed", reply=reply) if reply.is_events or reply.is_get else own
    if error.code == types.PARSE_ERROR:
        return ErrorOrigin(kind="long", reply=reply) if reply.is_long else None
    if error.code != types.INVALID_REQUEST:
        return None
    if reply.status == 404 and reply.has_session:
        return ErrorOrigin(kind="forgotten", reply=reply)
    if 300 <= reply.status < 400:
        return ErrorOrigin(kind="redirect", reply=reply)
    is_message = reply.is_events or reply.content_type.startswith("application/json") or reply.status == 202
    return ErrorOrigin(kind="no type", reply=reply) if reply.is_success and not is_message else None


def is_closed(error: BaseException) -> bool:
    """Return whether an error means that the connection has ended; a server cannot forge this error."""
    if not isinstance(error, MCPError) or error.code != types.CONNECTION_CLOSED:
        return False
    return error.data.kind == "closed" if isinstance(error.data, ErrorOrigin) else True


def fault_of(error: MCPError, server: str) -> MCPServerError | None:
    """Return the failure that an SDK error represents; None if it is the server's own answer."""
    what = f"the MCP server {server!r}"
    match error.data:
        case ErrorOrigin(kind="failed", reply=Reply(status=status)):
            return _fault_of_status(status, what)
        case ErrorOrigin(kind="forgotten"):
            return ConnectionLostError(f"{what} no longer has the session", was_sent=False)
        case ErrorOrigin(kind="redirect", reply=Reply(status=status)):
            moved = f"{what} redirects to another origin, which is not followed ({status})"
            if status in (
                307,
                308,
            ):  # sent before the work (RFC 9110, 15.4.8 and 15.4.9)
                return RefusedError(moved)
            return ServerFailedError(moved, was_sent=True)
        case ErrorOrigin(kind="long"):
            return MalformedAnswerError(f"it has {TOO_LONG}")
        case ErrorOrigin(kind="no type", reply=Reply(content_type=kind)):
            shown = shortened(kind, 100)
            return MalformedAnswerError(f"its content type {shown!r} is neither JSON nor a stream of events")
        case _:
            pass
    # A server that sends this text itself could as well have sent an invalid message.
    if error.code == types.PARSE_ERROR and error.message.startswith(_UNREADABLE):
        return MalformedAnswerError("it is not a JSON-RPC message")
    return None


def _fault_of_status(status: int, what: str) -> MCPServerError:
    if status in (401, 403):
        return RefusedError(
            f"{what} refused the credentials (HTTP status {status})",
            hint="check headers= or bearer= of its HttpServer",
        )
    if status == 429:
        return RefusedError(f"{what} has too many requests at the moment (HTTP status 429)")
    return ServerFailedError(f"{what} failed (HTTP status {status})", was_sent=True)
