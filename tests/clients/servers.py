"""HTTP servers of tests: exact bytes for each request, in the event loop of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came."""

    verb: str
    target: str
    headers: dict[str, str]
    """By lower-case name."""
    body: bytes
    connection: int
    """Number of its connection, from 1."""


Respond: TypeAlias = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class RawServer:
    """A server that answers as its test says."""

    respond: Respond
    received: list[Received] = field(default_factory=list)
    url: str = ""
    connections: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection in a task of its own, which ends with the server."""
        task = asyncio.create_task(self._serve(reader, writer))
        self.tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                request = await self._read(head.decode("latin-1"), reader, number)
                self.received.append(request)
                await self.respond(request, writer)
                await writer.drain()
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _read(self, head: str, reader: asyncio.StreamReader, number: int) -> Received:
        first, *lines = head.strip().split("\r\n")
        verb, target, _ = first.split(" ")
        headers: dict[str, str] = {}
        for name, _, text in (line.partition(":") for line in lines):
            before = headers.get(name.lower())
            headers[name.lower()] = text.strip() if before is None else f"{before}, {text.strip()}"
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Received(verb=verb, target=target, headers=headers, body=body, connection=number)


@asynccontextmanager
async def serving(respond: Respond, port: int = 0) -> AsyncIterator[RawServer]:
    """Yield a server while it runs, by default at any free port."""
    server = RawServer(respond)
    listening = await asyncio.start_server(server.accept, "127.0.0.1", port)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in server.tasks:
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)


def answer(status: int = 200, body: bytes = b"{}", **headers: str) -> bytes:
    """Return the bytes of an answer; underscores in names of headers stand for dashes."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answering(*answers: bytes) -> Respond:
    """Return what answers each request with the next of these bytes; the last one stays."""
    left = list(answers)

    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])

    return respond
