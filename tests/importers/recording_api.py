"""A server that keeps each request that arrives, and answers with JSON."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Arrived:
    verb: str
    target: str
    headers: dict[str, str]
    """By lower-case name."""
    body: bytes


@dataclass(slots=True)
class RecordingAPI:
    """Where it is, what arrived, and the answers by verb and path; `{"ok": true}` for the others."""

    address: str
    arrived: list[Arrived] = field(default_factory=list)
    answers: dict[str, tuple[int, object, dict[str, str]]] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return self.address.removeprefix("http://")


@pytest.fixture
def api() -> Iterator[RecordingAPI]:
    with recording() as each:
        yield each


@contextmanager
def recording(tls: ssl.SSLContext | None = None) -> Iterator[RecordingAPI]:
    """Yield a server at a free port of this machine while it runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): text for name, text in self.headers.items()}
            held.arrived.append(Arrived(self.command, self.path, headers, body))
            path = self.path.partition("?")[0]
            status, answer, more = held.answers.get(f"{self.command} {path}", (200, {"ok": True}, {}))
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, text in {"Content-Type": "application/json", **more}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    held = RecordingAPI(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
