"""Methods that change something, and servers that break off, as tests of lost answers need them."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from tests.clients.books import operation
from tests.clients.clock import put_forward
from tests.clients.servers import Received
from toolgen.clients import HTTP, Body, Parameter, Response

BOOK = b'{"id":"1","title":"Dune"}'
POST = operation(
    HTTP(verb="POST", path="/books", body=Body(attributes=("id",)), responses=(Response(200),)), errors={}
)
PUT = operation(
    HTTP(verb="PUT", path="/books/{id}", parameters=(Parameter("id", "path"),), responses=(Response(200),)),
    errors={},
)


async def never(request: Received, writer: asyncio.StreamWriter) -> None:
    """Answer nothing, and let the time of the client end."""
    put_forward(1_000)
    await asyncio.Event().wait()


def writes(*pieces: bytes) -> Any:
    """Return what answers with these bytes, and closes the connection."""

    async def respond(request: Received, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
        await writer.drain()
        writer.close()

    return respond


def closed_port() -> int:
    """Return a port at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
