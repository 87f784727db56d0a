"""Requests of HTTP that reach a server without a socket, and a server that listens on one."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from toolgen.adapters.mcp import HttpOptions, MCPServer, Verify, http_app, serve_http, server
from toolgen.runtime import Runtime

from .desk import Desk, desk_runtime

URL = "http://127.0.0.1/mcp"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@asynccontextmanager
async def web(
    runtime: Runtime, *, verify: Verify | None = None, served: MCPServer | None = None, **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client of HTTP that reaches the application without a socket."""
    app = http_app(served or server(runtime), verify=verify, options=HttpOptions(**options))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, verify=False, headers=HEADERS) as client:
            yield client


@asynccontextmanager
async def listening(
    runtime: Runtime, *, verify: Verify | None = None, served: MCPServer | None = None, **options: Any
) -> AsyncIterator[int]:
    """Serve on a port of loopback, and yield its number; the process is asked to end by a signal."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_http(
            served or server(runtime),
            port=0,
            verify=verify,
            options=HttpOptions(**options),
            on_ready=ready.set_result,
        )
    )
    async with asyncio.timeout(60):
        url = await ready
    async with httpx2.AsyncClient(verify=False, headers=HEADERS) as client:
        await client.get(f"{url}/none")  # it has begun, and handles signals
    try:
        yield int(url.removesuffix("/mcp").rpartition(":")[2])
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await serving


@asynccontextmanager
async def over_sockets(
    desk: Desk, *, verify: Verify | None = None, **options: Any
) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    """Serve a desk on a port of loopback; yield a client, and the URL of the server."""
    async with (
        desk_runtime(desk) as runtime,
        listening(runtime, verify=verify, **options) as port,
        httpx2.AsyncClient(verify=False, headers=HEADERS, timeout=60) as client,
    ):
        yield client, f"http://127.0.0.1:{port}/mcp"


def hello(**capabilities: Any) -> dict[str, Any]:
    """Return what a client of 2025-11-25 begins with."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        },
    }


def modern_call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the body and the headers of a call of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
    return {
        "json": {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params},
        "headers": headers,
    }
