"""Messages of one server before they are decoded: each is measured, and all of them are counted.

A server can send notifications and requests at any time, and each of them starts tasks here. So it needs
credit for them, which it gets from each of our requests and over time.
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
"""Messages for one call or one list; further notifications are dropped."""
MESSAGES_PER_S: Final = 100
MOST_DROPPED: Final = 10_000
"""Messages beyond `MOST_MESSAGES` after which the connection is ended."""
MOST_REQUESTS: Final = 100
"""Requests of the server for one call or one list, such as elicitations; one more ends the connection.

So many answers may come as well, of which one is that to the request.
"""
REQUESTS_PER_S: Final = 1
CHUNKS_PER_S: Final = 100
"""Small chunks of HTTP beyond the `MOST_CHUNKS` of each call and each list."""
RESULT_LIMITS: Final = Limits(
    bytes=LONGEST_MESSAGE, keys=2 * DEFAULT_LIMITS.keys, depth=DEFAULT_LIMITS.depth + ROOM_DEPTH
)
"""A message: the keys are those of one document, and as many for its content blocks."""
LIST_LIMITS: Final = Limits(bytes=LONGEST_MESSAGE, keys=100_000, depth=200)
"""A message while a list is asked for; a page of 2,000 tools has 50 keys for each.

One tool that exceeds the limits of documents is left out, and does not cost the list.
"""
REQUEST_LIMITS: Final = Limits(bytes=2**18, keys=10_000, depth=ROOM_DEPTH + 8)
"""A request of the server, such as a question with its form."""
_EXCEEDED: Final = "toolgen.exceeded"
"""Key of the data of an error, and of the facts of a question, that stand for what was not decoded."""
_ASKS: Final = "elicitation/create"


class Intake:
    """What one connection lets in."""

    def __init__(
        self,
        server: str,
        clock: Callable[[], float],
        dropped: Callable[[], None],
        end: Callable[[MCPServerError], None],
    ) -> None:
        """Take the name of the server, a clock in seconds, and what is called before messages are dropped.

        `end` ends the connection; whoever reads a part of it alone, such as a stream of HTTP, calls it with
        what the server has exceeded.
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
        """How many requests of ours are open, calls and lists."""
        return self._open

    @contextmanager
    def request(self, *, of_list: bool = False) -> Iterator[None]:
        """Give the server credit for one request of ours, which is open while the context lasts."""
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
        """Count a chunk of so many bytes of a response, and empty lines; many of these are as a small chunk.

        Raises:
            MCPServerError: the server has sent more small ones than it may.
        """
        small = (size < SMALL_CHUNK) + empty_lines // SMALL_CHUNK
        if small and self._chunks.take(self._clock(), self._open, small) < 0:
            raise MCPServerError(f"it sent {TOO_MANY_CHUNKS} for one request")

    def admitted(self, message: bytes) -> bytes | None:
        """Return a message, or the error that stands in its place; None where it is dropped.

        Raises:
            MCPServerError: the server has sent more than it may, or an answer that holds too much and whose
                request is not known.
        """
        is_reply = message[:64].lstrip().startswith(b"{") and is_answer(message)
        if not self._has_credit(is_reply, is_request=not is_reply and id_of(message) is not None):
            return None
        return self.measured(message, id_of(message)) if is_reply else self._unasked(message, id_of(message))

    def measured(self, answer: bytes, request_id: object) -> bytes:
        """Return an answer to a request, or the error in its place where it holds too much.

        Raises:
            MCPServerError: it holds too much, and the id of its request is None.
        """
        too_much = exceeded(answer, self._limits)
        if too_much is not None and self._lists:  # of a tool that is so deep the list leaves out no other one
            answer = cut_to_depth(answer, LIST_LIMITS)
            too_much = exceeded(answer, self._limits)
        if too_much is None:
            return without_lone_surrogates(answer)
        if request_id is None:
            raise MCPServerError(f"it sent a message with {too_much}")
        return self.error_of(f"it has {too_much}", request_id)

    def error_of(self, why: str, request_id: object) -> bytes:
        """Return the error that stands in place of an answer which is not decoded."""
        error = {"code": types.INTERNAL_ERROR, "message": why, "data": {_EXCEEDED: self._mark}}
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()

    def fault_of(self, error: MCPError) -> MalformedAnswerError | None:
        """Return what an error stands for that was made here; None for any other one."""
        is_own = error.data == {_EXCEEDED: self._mark}
        return MalformedAnswerError(error.message) if is_own else None

    @property
    def _limits(self) -> Limits:
        return LIST_LIMITS if self._lists else RESULT_LIMITS

    def refusal_of(self, facts: Mapping[str, object] | None) -> str:
        """Return why a question is declined that stands for one which was not decoded; "" for any other one.

        `facts` are its `_meta`.
        """
        mark, _, reason = str((facts or {}).get(_EXCEEDED, "")).partition(" ")
        return reason if mark == self._mark else ""

    def _unasked(self, message: bytes, request_id: int | str | None) -> bytes | None:
        """Return a notification or a request of the server.

        Of a request that holds too much the method is returned alone, so that it is answered, and of a
        question one that is declined; None for a notification.
        """
        too_much = exceeded(message, RESULT_LIMITS if request_id is None else REQUEST_LIMITS)
        if too_much is None:
            return without_lone_surrogates(message)
        method = method_of(message)
        if request_id is not None and method == _ASKS:
            facts = {_EXCEEDED: f"{self._mark} has {too_much}"}
            empty = {"message": "", "requestedSchema": {"type": "object", "properties": {}}, "_meta": facts}
            asked = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": empty}
            return json.dumps(asked).encode()
        what = "a message of the MCP server %r was not read: it has %s"
        self._log.log(logging.WARNING, what, self._server, too_much)
        if request_id is None:
            return None
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method}).encode()

    def _has_credit(self, is_reply: bool, is_request: bool) -> bool:
        now = self._clock()
        left = self._messages.take(now, self._open)
        if left < -MOST_DROPPED:
            most = MOST_MESSAGES + MOST_DROPPED
            raise MCPServerError(f"it sent more than {most} messages for one request")
        if is_request and self._requests.take(now, self._open) < 0:
            raise MCPServerError(f"it asked more than {MOST_REQUESTS} times for one request")
        if is_reply and self._answers.take(now, self._open) < 0:
            raise MCPServerError(f"it answered more than {MOST_REQUESTS} times for one request")
        if left >= 0:
            self._is_dropping = False
        elif not self._is_dropping:
            self._is_dropping = True
            what = "it sent more than %d messages for one request; further notifications are dropped"
            self._log.log(logging.WARNING, f"the MCP server %r: {what}", self._server, MOST_MESSAGES)
            self._dropped()
        return left >= 0 or is_reply or is_request
