"""The lock of a server, created from the list of the running server."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Final

import mcp_types as types

from toolgen.contract.logs import logger
from toolgen.contract.mcp_lock import MCPLock, make_lock
from toolgen.contract.printable import hides
from toolgen.runtime import CallMeta
from toolgen.shapes.foreign.normal_form import UnsafeError, normal_form

from .connection import ServerConnection
from .errors import MCPServerError, shortened
from .listing import facts_of
from .servers import Server

_CONNECT_S: Final = 30.0

log = logger("toolgen.mcp")


async def ask_lock(name: str, server: Server) -> MCPLock:
    """Connect to a server, and return the lock of its tool list; `name` identifies it in errors.

    Raises:
        MCPServerError: The connection failed, or the server does not list its tools.
    """
    transport = partial(server.connected, await server.credentials(CallMeta()))
    connection = ServerConnection(name, transport, connect_s=_CONNECT_S, list_s=0.0, clock=time.monotonic)
    try:
        await connection.open()
        listing = await connection.listing()
        client = connection.client
        if client.server_capabilities.tools is None:
            raise MCPServerError(f"the MCP server {name!r} has no tools")
        info = client.server_info
        left_out = dict(listing.left_out)
        tools = []
        for tool in listing.tools:
            try:
                _require_safe(tool)
            except UnsafeError as error:
                left_out[shortened(tool.name)] = str(error)
            else:
                tools.append(facts_of(tool))
        for shown, reason in left_out.items():
            log.warning("the MCP server %r lists the tool %r, which is left out: %s", name, shown, reason)
        return make_lock(
            client.protocol_version,
            "" if info is None else info.name,
            "" if info is None else info.version,
            tools,
        )
    finally:
        await connection.close()


def _require_safe(tool: types.Tool) -> None:
    """Raise if a design cannot contain a tool.

    Raises:
        UnsafeError: Its name, or a name or value in its schemas, has invisible characters or is too long.
    """
    if hides(tool.name):
        raise UnsafeError("/name", "has invisible characters")
    normal_form(tool.input_schema)
    normal_form(tool.output_schema)


def lock_of(name: str, server: Server) -> MCPLock:
    """Return the lock of a server's tool list, for code without an event loop.

    Raises:
        MCPServerError: See `ask_lock`.
    """
    return asyncio.run(ask_lock(name, server))
