"""Several requests on one connection: what one says, or how it fails, is nothing of the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.shared.message import SessionMessage

from toolgen.adapters.mcp.client.connection import ServerConnection
from toolgen.adapters.mcp.client.errors import ConnectionLostError
from toolgen.runtime import CallMeta

LIST = {"tools": [{"name": "slow", "inputSchema": {"type": "object"}}]}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}


CALLED: dict[str, Any] = {"content": [], "tools": [{}] * 2_001}


class Server:
    """A server that answers calls of `tools` alone, and that cannot be connected for a second list."""

    def __init__(self) -> None:
        self.is_calling = asyncio.Event()
        self._has_listed = False

    @asynccontextmanager
    async def transport(self, intake: object) -> AsyncIterator[tuple[Any, Any]]:
        read_in, read_out = anyio.create_memory_object_stream[SessionMessage | Exception](10)
        write_in, write_out = anyio.create_memory_object_stream[SessionMessage](10)
        async with read_in, read_out, write_in, write_out, anyio.create_task_group() as group:

            async def answer() -> None:
                async for sent in write_out:
                    request = sent.message
                    if isinstance(request, types.JSONRPCRequest) and (message := self._answered(request)):
                        await read_in.send(SessionMessage(message))

            group.start_soon(answer)
            yield read_out, write_in
            group.cancel_scope.cancel()

    def _answered(self, request: types.JSONRPCRequest) -> types.JSONRPCResponse | types.JSONRPCError | None:
        match request.method:
            case "initialize":
                return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=HELLO)
            case "tools/list" if not self._has_listed:
                self._has_listed = True
                return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=LIST)
            case "tools/list":
                raise httpx2.ConnectError("nobody is there")
            case "tools/call" if request.params and request.params["name"] == "tools":
                return types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=CALLED)
            case "tools/call":
                self.is_calling.set()
                return None
            case _:
                error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="no")
                return types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)


async def test_a_call_that_was_sent_may_have_run_where_a_list_beside_it_was_refused() -> None:
    server = Server()
    connection = ServerConnection("s", server.transport, connect_s=60, list_s=0, clock=lambda: 0.0)
    await connection.open()
    await connection.listing()
    call = asyncio.create_task(connection.call("slow", {}, None, None, None, CallMeta()))
    await server.is_calling.wait()
    lost = await asyncio.gather(call, connection.listing(), return_exceptions=True)
    await connection.close()
    assert [type(error) for error in lost] == [ConnectionLostError] * 2
    assert [error.was_sent for error in lost if isinstance(error, ConnectionLostError)] == [True, False]


async def test_the_result_of_a_call_tells_nothing_of_the_list() -> None:
    connection = ServerConnection("s", Server().transport, connect_s=60, list_s=60, clock=lambda: 0.0)
    await connection.open()
    await connection.listing()
    await connection.call("tools", {}, None, None, None, CallMeta())
    assert (await connection.listing()).left_out == {}
    await connection.close()
