"""A provider on this machine: it speaks OpenAI's chat completions and Anthropic's messages, streamed or not.

It answers what a test has laid down, in its order, and keeps what it was sent.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from tests.adapters.wire import Said, anthropic, anthropic_events, openai, openai_events

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


Answer = Said | Refused | Dropped


class Provider:
    """The server, in a thread of its own, on the loopback interface only."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._answers: list[Answer] = []
        self.sent: list[dict[str, Any]] = []
        """The bodies of the requests."""
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
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.sent.append(body)
                provider.keys.append(self.headers.get("x-api-key") or self.headers.get("Authorization") or "")
                match provider._next():
                    case Said() as said:
                        self._say(said, body)
                    case Refused() as refused:
                        error = {"type": "error", "error": {"type": "refused", "message": refused.message}}
                        self._send(refused.status, "application/json", [json.dumps(error)], refused.headers)
                    case Dropped():
                        self.close_connection = True

            def _say(self, said: Said, body: dict[str, Any]) -> None:
                is_openai = self.path.endswith("/chat/completions")
                if body.get("stream"):
                    events = openai_events(said, body) if is_openai else anthropic_events(said, body)
                    self._send(200, "text/event-stream", events, {})
                else:
                    document = openai(said, body) if is_openai else anthropic(said, body)
                    self._send(200, "application/json", [json.dumps(document)], {})

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


def blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield role and block of each message of a request to Anthropic, text as a block too."""
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield message["role"], block
