"""The lock of a server, asked of the server itself."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Final

from toolgen.contract.mcp_lock import Lock, make_lock
from toolgen.runtime import CallMeta

from .connection import Connection
from .errors import MCPServerError
from .listing import facts_of
from .servers import Server

_CONNECT_S: Final = 30.0


async def ask_lock(name: str, server: Server) -> Lock:
    """Connect to a server, and return the lock of what it lists; `name` names it in errors.

    Raises:
        MCPServerError: it cannot be connected, or does not list its tools.
    """
    transport = partial(server.connected, await server.credentials(CallMeta()))
    connection = Connection(name, transport, connect_s=_CONNECT_S, list_s=0.0, clock=time.monotonic)
    try:
        await connection.open()
        listing = await connection.listing()
        client = connection.client
        if client.server_capabilities.tools is None:
            raise MCPServerError(f"the MCP server {name!r} has no tools")
        info = client.server_info
        return make_lock(
            client.protocol_version,
            "" if info is None else info.name,
            "" if info is None else info.version,
            map(facts_of, listing.tools),
        )
    finally:
        await connection.close()


def lock_of(name: str, server: Server) -> Lock:
    """Return the lock of what a server lists, from code that has no event loop.

    Raises:
        MCPServerError: as `ask_lock`.
    """
    return asyncio.run(ask_lock(name, server))
