"""Messages of one server before decoding: each message is measured, and all of them are counted.

A server can send notifications and requests at any time, and each of them starts tasks here. Therefore it
needs credit for them, which it gets with each of our requests and over time.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.contract.response_limits import MOST_CHUNKS, SMALL_CHUNK, TOO_MANY_CHUNKS

from ..credit import Credit
from ..scanning import (
    ROOM_DEPTH,
    cut_to_depth,
    exceeded,
    id_of,
    is_answer,
    method_of,
    without_lone_surrogates,
)
from .errors import MalformedAnswerError, MCPServerError
from .messages import LONGEST_MESSAGE
from .peer_log import PeerLog

MOST_MESSAGES: Final = 1_000
"""Maximum number of messages for one call or list; further notifications are dropped."""
MESSAGES_PER_S: Final = 100
MOST_DROPPED: Final = 10_000
"""Messages beyond `MOST_MESSAGES` after which the connection is closed."""
MOST_REQUESTS: Final = 100
"""Maximum number of server requests for one call or list, for example elicitations; one more closes the
connection.

The same limit applies to answers, one of which belongs to the request.
"""
REQUESTS_PER_S: Final = 1
CHUNKS_PER_S: Final = 100
"""Small HTTP chunks per second, beyond the `MOST_CHUNKS` of each call and list."""
RESULT_LIMITS: Final = Limits(
    bytes=LONGEST_MESSAGE, keys=2 * DEFAULT_LIMITS.keys, depth=DEFAULT_LIMITS.depth + ROOM_DEPTH
)
"""Limits of a message: the keys of one document, and as many for its content blocks."""
LIST_LIMITS: Final = Limits(bytes=LONGEST_MESSAGE, keys=100_000, depth=200)
"""Limits of a message while a list is requested; a page of 2,000 tools has 50 keys per tool.

A single tool that exceeds the document limits is left out, and does not invalidate the list.
"""
REQUEST_LIMITS: Final = Limits(bytes=2**18, keys=10_000, depth=ROOM_DEPTH + 8)
"""Limits of a server request, for example a question with its form."""
_EXCEEDED: Final = "toolgen.exceeded"
"""Key in the data of an error, and in the facts of a question, that replace an undecoded message."""
_ASKS: Final = "elicitation/create"


class Intake:
    """Admission of the messages of one connection."""

    def __init__(
        self,
        server: str,
        clock: Callable[[], float],
        dropped: Callable[[], None],
        end: Callable[[MCPServerError], None],
    ) -> None:
        """Store the server's name, a clock in seconds, and a callback before messages are dropped.

        `end` closes the connection. Readers of only a part of it, for example of an HTTP stream, call it with
        the limit that the server has exceeded.
        """
        self._server = server
        self.end = end
        self._clock = clock
        self._dropped = dropped
        self._messages = Credit(MOST_MESSAGES, MESSAGES_PER_S, clock())
        self._requests = Credit(MOST_REQUESTS, REQUESTS_PER_S, clock())
        self._answers = Credit(MOST_REQUESTS, REQUESTS_PER_S, clock())
        self._chunks = Credit(MOST_CHUNKS, CHUNKS_PER_S, clock())
        self._open = 0
        self._lists = 0
        self._is_dropping = False
        self._log = PeerLog()
        self._mark = secrets.token_hex(8)
        """Random mark that no message of a server contains."""

    @property
    def open_requests(self) -> int:
        """Number of our open requests, both calls and lists."""
        return self._open

    @contextmanager
    def request(self, *, of_list: bool = False) -> Iterator[None]:
        """Give the server credit for one request of ours, which is open for the duration of the context."""
        self._open += 1
        self._lists += of_list
        self._add(1)
        try:
            yield
        finally:
            self._open -= 1
            self._lists -= of_list
            self._add(0)

    def _add(self, number: int) -> None:
        for credit in (self._messages, self._requests, self._answers, self._chunks):
            credit.add(number, self._open)

    def count_chunk(self, size: int, empty_lines: int = 0) -> None:
        """Count a response chunk of `size` bytes, and its empty lines; many of these count as a small chunk.

        Raises:
            MCPServerError: The server has sent too many small chunks.
        """
        small = (size < SMALL_CHUNK) + empty_lines // SMALL_CHUNK
        if small and self._chunks.take(self._clock(), self._open, small) < 0:
            raise MCPServerError(f"it sent {TOO_MANY_CHUNKS} for one request")

    def admitted(self, message: bytes) -> bytes | None:
        """Return a message, or the error that replaces it; None if it is dropped.

        Raises:
            MCPServerError: The server has exceeded its credit, or sent an oversized answer whose request is
                unknown.
        """
        is_reply = message[:64].lstrip().startswith(b"{") and is_answer(message)
        if not self._has_credit(is_reply, is_request=not is_reply and id_of(message) is not None):
            return None
        return self.measured(message, id_of(message)) if is_reply else self._admitted(message, id_of(message))

    def measured(self, answer: bytes, request_id: object) -> bytes:
        """Return an answer to a request, or the error that replaces it if it exceeds a limit.

        Raises:
            MCPServerError: The answer exceeds a limit, and the id of its request is None.
        """
        too_much = exceeded(answer, self._limits)
        if too_much is not None and self._lists:  # a tool that is too deep must not cost the others
            answer = cut_to_depth(answer, LIST_LIMITS)
            too_much = exceeded(answer, self._limits)
        if too_much is None:
            return without_lone_surrogates(answer)
        if request_id is None:
            raise MCPServerError(f"it sent a message with {too_much}")
        return self.error_of(f"it has {too_much}", request_id)

    def error_of(self, why: str, request_id: object) -> bytes:
        """Return the error that replaces an answer that was not decoded."""
        error = {"code": types.INTERNAL_ERROR, "message": why, "data": {_EXCEEDED: self._mark}}
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()

    def fault_of(self, error: MCPError) -> MalformedAnswerError | None:
        """Return the failure that an error from `error_of` represents; None for other errors."""
        is_own = error.data == {_EXCEEDED: self._mark}
        return MalformedAnswerError(error.message) if is_own else None

    @property
    def _limits(self) -> Limits:
        return LIST_LIMITS if self._lists else RESULT_LIMITS

    def refusal_of(self, facts: Mapping[str, object] | None) -> str:
        """Return why a question is declined that replaces an undecoded one; "" for other questions.

        `facts` is its `_meta`.
        """
        mark, _, reason = str((facts or {}).get(_EXCEEDED, "")).partition(" ")
        return reason if mark == self._mark else ""

    def _admitted(self, message: bytes, request_id: int | str | None) -> bytes | None:
        """Return a notification or request of the server.

        If a request exceeds the limits, return only its method, so that it is answered; for a question,
        return one that will be declined. Return None for an oversized notification.
        """
        too_much = exceeded(message, RESULT_LIMITS if request_id is None else REQUEST_LIMITS)
        if too_much is None:
            return without_lone_surrogates(message)
        method = method_of(message)
        if request_id is not None and method == _ASKS:
            facts = {_EXCEEDED: f"{self._mark} has {too_much}"}
            empty = {"message": "", "requestedSchema": {"type": "object", "properties": {}}, "_meta": facts}
            request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": empty}
            return json.dumps(request).encode()
        what = "a message of the MCP server %r was not read: it has %s"
        self._log.log(logging.WARNING, what, self._server, too_much)
        if request_id is None:
            return None
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method}).encode()

    def _has_credit(self, is_reply: bool, is_request: bool) -> bool:
        now = self._clock()
        remaining_credit = self._messages.take(now, self._open)
        if remaining_credit < -MOST_DROPPED:
            most = MOST_MESSAGES + MOST_DROPPED
            raise MCPServerError(f"it sent more than {most} messages for one request")
        if is_request and self._requests.take(now, self._open) < 0:
            raise MCPServerError(f"it asked more than {MOST_REQUESTS} times for one request")
        if is_reply and self._answers.take(now, self._open) < 0:
            raise MCPServerError(f"it answered more than {MOST_REQUESTS} times for one request")
        if remaining_credit >= 0:
            self._is_dropping = False
        elif not self._is_dropping:
            self._is_dropping = True
            what = "it sent more than %d messages for one request; further notifications are dropped"
            self._log.log(logging.WARNING, f"the MCP server %r: {what}", self._server, MOST_MESSAGES)
            self._dropped()
        return remaining_credit >= 0 or is_reply or is_request
