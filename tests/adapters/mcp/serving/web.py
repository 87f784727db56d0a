"""Requests of HTTP that reach a server without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from toolgen.adapters.mcp import HttpOptions, MCPServer, Verify, http_app, server
from toolgen.runtime import Runtime

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
        async with httpx2.AsyncClient(transport=transport, headers=HEADERS) as client:
            yield client


def hello() -> dict[str, Any]:
    """Return what a client of 2025-11-25 begins with."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
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
