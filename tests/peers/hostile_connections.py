"""A hostile client of a port: it opens connections and sends little on them, or nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass


@dataclass
class Held:
    """What a client keeps open."""

    opened: int = 0
    """Connections so far."""


@asynccontextmanager
async def silent_connections(port: int, count: int, sent: bytes = b"") -> AsyncIterator[Held]:
    """Keep so many connections open on which no more than the beginning of a head is sent, and open each anew
    that is closed."""
    held = Held()

    async def keep() -> None:
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            held.opened += 1
            try:
                writer.write(sent)
                await reader.read()
            except ConnectionError:
                continue
            finally:
                writer.close()

    keeping = [asyncio.create_task(keep()) for _ in range(count)]
    while held.opened < count:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(0)
    try:
        yield held
    finally:
        for one in keeping:
            one.cancel()
        await asyncio.wait(keeping)


@contextmanager
def requests_sent(port: int, requests: Sequence[bytes]) -> Iterator[list[socket.socket]]:
    """Open a connection for each of the texts and send it, without a turn for the event loop."""
    with ExitStack() as stack:
        sockets = []
        for request in requests:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.sendall(request)
            one.setblocking(False)
            sockets.append(one)
        yield sockets


async def read_all(one: socket.socket) -> bytes:
    """Return what the server sends until it closes a connection."""
    got = b""
    try:
        while chunk := await asyncio.get_running_loop().sock_recv(one, 65_536):
            got += chunk
    except ConnectionError:
        pass
    return got


async def probe(port: int, path: str) -> int:
    """Return the status of a request on a connection of its own; 0 where it has no answer."""
    with requests_sent(port, [f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()]) as [one]:
        answer = await read_all(one)
    return int(answer.split()[1]) if answer else 0


async def drip(port: int, at_once: bytes, each_second: bytes) -> None:
    """Send some bytes, then others once a second, until the server has closed the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(at_once)

    async def go_on() -> None:
        while True:
            await asyncio.sleep(1)
            writer.write(each_second)

    dripping = asyncio.create_task(go_on())
    try:
        await reader.read()
    except ConnectionError:
        pass
    finally:
        dripping.cancel()
        writer.close()
