"""The bytes of a port that are written and that nobody takes: over sockets, and by the book-keeping alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import pytest

from tests.peers.hostile_connections import read_all
from toolgen.adapters.ports.connections import Port

from .book import Book, limits

MB = 1_000_000


class Writes(asyncio.Protocol):
    """Writes 1 MB to each connection, of which its socket keeps little."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)
        transport.write(b"x" * MB)
        transport.close()


class Peers:
    """Clients of a port that writes 1 MB to each."""

    def __init__(self, port: Port, number: int, stack: ExitStack) -> None:
        self.admission = port.admission
        self._number = number
        self._stack = stack

    async def connect(self) -> socket.socket:
        """Return the socket of a client that has taken one byte."""
        one = self._stack.enter_context(socket.socket())
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        one.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(one, ("127.0.0.1", self._number))
        assert await loop.sock_recv(one, 1) == b"x"
        return one


@asynccontextmanager
async def writing(unsent_bytes: int) -> AsyncIterator[Peers]:
    loop = asyncio.get_running_loop()
    port = Port(limits(unsent_bytes=unsent_bytes), loop)
    server = await loop.create_server(lambda: port.connection(lambda _: Writes()), "127.0.0.1", 0)
    with ExitStack() as stack:
        async with server, asyncio.timeout(20):
            yield Peers(port, server.sockets[0].getsockname()[1], stack)
            port.admission.close_all()


async def taken(one: socket.socket) -> int:
    return 1 + len(await read_all(one))


async def test_connections_that_take_nothing_are_closed_beyond_a_total_of_bytes() -> None:
    """Each held what was written to it, for as long as a minute."""
    async with writing(4 * MB) as peers:
        held, counts = [], []
        for _ in range(20):
            held.append(await peers.connect())
            counts.append(peers.admission.unsent)
        assert max(counts) <= 4 * MB
        assert peers.admission.connections <= 8
        whole = [await taken(one) == MB for one in held]
        assert whole == [False] * (20 - sum(whole)) + [True] * sum(whole), "those that wait for longest go"
        assert 4 <= sum(whole) <= 8
        assert peers.admission.unsent == 0


async def test_a_client_that_takes_its_bytes_has_all_of_them_beside_others_that_do_not() -> None:
    async with writing(2 * MB) as peers:
        for _ in range(10):
            await peers.connect()
            assert await taken(await peers.connect()) == MB
            assert peers.admission.unsent <= 2 * MB


async def test_one_that_is_larger_than_the_total_is_written_all_the_same() -> None:
    async with writing(1_000) as peers:
        first, second = await peers.connect(), await peers.connect()
        assert await taken(second) == MB
        assert await taken(first) < MB


def test_the_peer_with_most_unsent_bytes_loses_them() -> None:
    book = Book(unsent_bytes=100)
    for name, identity, size in (
        ("honest", "jonas", 30),
        ("m1", "mira", 20),
        ("m2", "mira", 20),
        ("m3", "mira", 20),
        ("new", "anna", 30),
    ):
        book.connect(name, identity)
        book.write(name, size)
    assert (book.closed, book.admission.unsent) == (["m1"], 100)


def test_of_one_peer_who_takes_something_stays() -> None:
    book = Book(unsent_bytes=100)
    for name in ("slow", "silent", "new"):
        book.connect(name, "mira")
    book.write("slow", 50)
    book.write("silent", 40)
    book.clients["slow"].buffer = 49
    book.write("new", 30)
    assert (book.closed, book.admission.unsent) == (["silent"], 79)


def test_what_is_held_until_a_connection_takes_something_counts() -> None:
    book = Book(unsent_bytes=100)
    for name in ("first", "second"):
        book.connect(name, "mira")
    first, second = (book.clients[name] for name in ("first", "second"))
    book.admission.hold(first.place, 1_000)  # it is written at once
    assert book.admission.unsent == 0
    book.write("first", 10)
    book.admission.hold(first.place, 70)
    assert book.admission.unsent == 80
    first.buffer = 0
    book.admission.written(first.place)
    assert book.admission.unsent == 0
    book.write("first", 70)
    book.write("second", 10)
    book.admission.hold(second.place, 21)
    assert (book.closed, book.admission.unsent) == (["first"], 31)
    book.admission.leave(second.place)
    assert (book.admission.unsent, book.admission.connections) == (0, 0)


@pytest.mark.parametrize("is_first", [False, True])
def test_the_last_one_to_be_written_to_stays(is_first: bool) -> None:
    book = Book(unsent_bytes=10)
    for name in ("old", "new"):
        book.connect(name, name)
    if not is_first:
        book.write("old", 5)
    book.write("new", 50)
    assert book.closed == ([] if is_first else ["old"])
