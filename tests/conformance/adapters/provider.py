"""A provider on this machine that speaks the wire formats of OpenAI, Anthropic and Gemini, streamed or not.

It answers what a test has laid down, in its order, and keeps what it was sent. It refuses what a provider
would refuse.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from tests.conformance.adapters import wire_anthropic, wire_chat, wire_gemini, wire_responses
from tests.conformance.adapters.strict import (
    RefusedError,
    check_anthropic,
    check_chat,
    check_gemini,
    check_responses,
    parsed,
)
from tests.conformance.adapters.wire import Frame, Place, Said, left_open, stream_until, text_until

KEY: Final = "sk-test-0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An answer that is an error."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection ends in the middle of a stream, or before an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An answer of which only the beginning arrives.

    `before the end` leaves out what says that the answer ended: all events from there on, or a field.
    """

    said: Said
    at: Place
    is_clean: bool = True
    """The body just ends, as if it were whole; else the connection breaks."""


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """A stream that ends as it should, but in which no call is ever closed."""

    said: Said


@dataclass(frozen=True, slots=True)
class Raw:
    """A body as it stands."""

    text: str
    media_type: str = "application/json"


Answer = Said | Refused | Dropped | Cut | LeftOpen | Raw


@dataclass(frozen=True, slots=True)
class Wire:
    """How a provider writes an answer."""

    whole: Callable[[Said, Mapping[str, Any]], dict[str, Any]]
    streamed: Callable[[Said, Mapping[str, Any]], list[Frame]]
    endless: Callable[[dict[str, Any]], dict[str, Any]]
    """Returns a whole answer without what says that it ended."""
    check: Callable[[Mapping[str, Any]], None]
    """Raises where the provider would refuse a request."""


CHAT: Final = Wire(wire_chat.whole, wire_chat.streamed, wire_chat.endless, check_chat)
RESPONSES: Final = Wire(
    wire_responses.whole, wire_responses.streamed, wire_responses.endless, check_responses
)
ANTHROPIC: Final = Wire(
    wire_anthropic.whole, wire_anthropic.streamed, wire_anthropic.endless, check_anthropic
)
GEMINI: Final = Wire(wire_gemini.whole, wire_gemini.streamed, wire_gemini.endless, check_gemini)


def wire_of(path: str) -> Wire:
    """Return the wire of a request by its path."""
    if path.endswith("/chat/completions"):
        return CHAT
    if path.endswith("/responses"):
        return RESPONSES
    return GEMINI if path.endswith(("GenerateContent", "generateContent")) else ANTHROPIC


class Provider:
    """The server, in a thread of its own, on the loopback interface only."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._answers: list[Answer] = []
        self.sent: list[dict[str, Any]] = []
        """The bodies of the requests."""
        self.streamed: list[bool] = []
        """Whether an answer was asked for in pieces, by request."""
        self.refused: list[str] = []
        """Why requests were refused that no provider takes."""
        self.keys: list[str] = []

    def answers(self, *answers: Answer) -> None:
        """Lay down what the next requests get."""
        self._answers += answers

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def is_done(self) -> bool:
        """Whether all that was laid down was asked for."""
        return not self._answers

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _next(self) -> Answer:
        return self._answers.pop(0) if self._answers else Refused(status=418, message="nothing is laid down")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                path = self.path.partition("?")[0]
                try:
                    body = parsed(self.rfile.read(int(self.headers["Content-Length"])))
                    wire_of(path).check(body)
                except RefusedError as error:
                    provider.refused.append(str(error))
                    self._refuse(Refused(status=400, message=str(error)))
                    return
                body.setdefault("model", path.rpartition("/")[2].partition(":")[0])
                provider.sent.append(body)
                provider.streamed.append(bool(body.get("stream")) or "stream" in path)
                key = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
                provider.keys.append(key or self.headers.get("Authorization") or "")
                match provider._next():
                    case Refused() as refused:
                        self._refuse(refused)
                    case Dropped():
                        self.close_connection = True
                    case Raw(text, media_type):
                        self._send(200, media_type, [text], {})
                    case said:
                        self._say(said, body)

            def _refuse(self, refused: Refused) -> None:
                error = {"type": "error", "error": {"type": "refused", "message": refused.message}}
                self._send(refused.status, "application/json", [json.dumps(error)], refused.headers)

            def _say(self, answer: Said | Cut | LeftOpen, body: dict[str, Any]) -> None:
                wire = wire_of(self.path.partition("?")[0])
                said = answer if isinstance(answer, Said) else answer.said
                # A body that is shorter than it says is one whose connection broke.
                is_broken = isinstance(answer, Cut) and not answer.is_clean
                headers = {"Content-Length": "1000000"} if is_broken else {}
                if provider.streamed[-1]:
                    frames = wire.streamed(said, body)
                    texts = [frame.text for frame in frames]
                    if isinstance(answer, Cut):
                        texts = stream_until(frames, answer.at)
                    elif isinstance(answer, LeftOpen):
                        texts = left_open(frames)
                    self._send(200, "text/event-stream", texts, headers)
                else:
                    document = wire.whole(said, body)
                    text = json.dumps(document)
                    if isinstance(answer, Cut) and answer.at == "before the end":
                        text = json.dumps(wire.endless(document))
                    elif isinstance(answer, Cut):
                        text = text_until(document, said, answer.at)
                    self._send(200, "application/json", [text], headers)

            def _send(
                self, status: int, media_type: str, pieces: list[str], headers: Mapping[str, str]
            ) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": media_type, **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(piece.encode())
                    self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
