"""A server of MCP 2025-11-25 over HTTP: the tool that is called names the status or body of the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from toolgen.adapters.mcp.client.messages import LONGEST_MESSAGE

LONG = json.dumps("x" * LONGEST_MESSAGE).encode()
BODIES: dict[str, tuple[int, str, bytes]] = {
    "s401": (401, "application/json", b'{"error": "invalid_token"}'),
    "s403": (403, "text/plain", b"no"),
    "s429": (429, "text/plain", b"slowly"),
    "s503": (503, "text/html", b"<p>down"),
    "s503_reading": (503, "text/html", b"<p>down"),
    "s302": (302, "text/plain\r\nLocation: http://localhost:1/there", b""),
    "s302_reading": (302, "text/plain\r\nLocation: http://localhost:1/there", b""),
    "s307": (307, "text/plain\r\nLocation: http://localhost:1/there", b""),
    "broken": (200, "application/json", b'{"secret-text"'),
    "broken_event": (200, "text/event-stream", b'event: message\ndata: {"secret-text"\n\n'),
    "page": (200, "text/html", b"<p>hello"),
    "long": (200, "application/json", LONG),
    "long_event": (200, "text/event-stream", b"event: message\ndata: " + LONG + b"\n\n"),
    "ends": (200, "text/event-stream", b": no event\n\n"),
    "gzip": (200, "application/json\r\nContent-Encoding: gzip", b"\x1f\x8b"),
}
SAID: dict[str, dict[str, Any]] = {
    "closed": {"code": -32000, "message": "Connection closed"},
    "session": {"code": -32600, "message": "Session terminated"},
    "status": {"code": -32603, "message": "HTTP status 429", "data": {"toolgen.httpStatus": 429}},
    "type": {"code": -32600, "message": "Unexpected content type: text/html"},
    "long": {"code": -32000, "message": "SSE stream failed: Server-sent event exceeded 1 bytes"},
}
"""What the server says itself of its transport, though it has answered."""
TOOLS: list[dict[str, Any]] = [
    {"name": name, "inputSchema": {"type": "object"}} for name in (*BODIES, "s500_answer", "forgets")
]
TOOLS += [
    {"name": f"says_{name}_{form}", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    for name in SAID
    for form in ("json", "event", "failed")
]
for tool in TOOLS:
    if tool["name"].endswith("_reading"):
        tool["annotations"] = {"readOnlyHint": True}


@dataclass
class BadWeb:
    """The server: statuses for every request, and what it was asked."""

    status: int | None = None
    """Of the answer to every request."""
    calls: list[str] = field(default_factory=list)
    port: int = 0
    sessions: int = 0
    forgotten: set[str] = field(default_factory=set)
    redirect: str = ""
    """Where requests to `/mcp` are sent on to, by 307."""
    heads: list[str] = field(default_factory=list)
    """Of all requests, in lower case."""
    listened: bytes = b""
    """The events of a stream by which a client listens (GET), once it has listed; else it is refused."""
    has_listed: asyncio.Event = field(default_factory=asyncio.Event)
    interim: bytes = b""
    """What is sent before each response."""
    bodies: dict[str, tuple[int, str, bytes]] = field(default_factory=lambda: dict(BODIES))
    """What is answered to calls."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp?token=url-secret"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        self.heads.append(head)
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        status, kind, answer = (
            self._redirected(head)
            or await self._stream(head)
            or self._answer(json.loads(body or b"{}"), headers.get("mcp-session-id", ""))
        )
        writer.write(self.interim)
        writer.write(f"HTTP/1.1 {status} It\r\nConnection: close\r\nContent-Type: {kind}\r\n".encode())
        writer.write(
            f"Mcp-Session-Id: session-{self.sessions}\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
        )
        writer.write(answer)
        writer.close()
        if b'"tools/list"' in body:
            self.has_listed.set()

    async def _stream(self, head: str) -> tuple[int, str, bytes] | None:
        if not self.listened or not head.startswith("get "):
            return None
        await self.has_listed.wait()
        return 200, "text/event-stream", self.listened

    def _redirected(self, head: str) -> tuple[int, str, bytes] | None:
        if not self.redirect or "/mcp?" not in head.split("\r\n")[0]:
            return None
        return 307, f"text/plain\r\nLocation: {self.redirect}", b""

    def _answer(self, message: dict[str, Any], session: str) -> tuple[int, str, bytes]:
        if self.status is not None:
            return self.status, "text/plain", b""
        if session in self.forgotten:
            return (
                404,
                "application/json",
                _message(None, error={"code": -32600, "message": "Session not found"}),
            )
        match message.get("method"):
            case "initialize":
                self.sessions += 1
                given = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
                result = {**given, "serverInfo": {"name": "web", "version": "1"}}
                return 200, "application/json", _message(message["id"], result=result)
            case "tools/list":
                return 200, "application/json", _message(message["id"], result={"tools": TOOLS})
            case "tools/call":
                name = message["params"]["name"]
                self.calls.append(name)
                if name == "forgets":
                    said = [{"type": "text", "text": session}]
                    return 200, "application/json", _message(message["id"], result={"content": said})
                if name.startswith("says_"):
                    _, said_by, form = name.split("_")
                    answer = _message(message["id"], error=SAID[said_by])
                    if form == "event":
                        return 200, "text/event-stream", b"event: message\ndata: " + answer + b"\n\n"
                    return (200 if form == "json" else 500), "application/json", answer
                if name == "s500_answer":
                    error = {"code": -32603, "message": "the disk is full"}
                    return 500, "application/json", _message(message["id"], error=error)
                return self.bodies[name]
            case "server/discover":
                return 400, "text/plain", b""
            case method:
                return (202 if method else 405), "text/plain", b""


def _message(id: Any, **facts: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, **facts}).encode()


@asynccontextmanager
async def bad_web() -> AsyncIterator[BadWeb]:
    """Yield the server, at a port of loopback."""
    web = BadWeb()
    async with await asyncio.start_server(web.serve, "127.0.0.1", 0) as server:
        web.port = server.sockets[0].getsockname()[1]
        yield web
