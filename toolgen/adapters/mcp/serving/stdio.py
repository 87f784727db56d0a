"""A server on the standard streams of its process."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from mcp.server.stdio import stdio_server

from .mcp_server import McpServer


async def serve_stdio(served: McpServer) -> None:
    """Serve one client until it closes its side.

    Meanwhile stdout holds nothing but the protocol: what executors and their children print goes to stderr.
    """
    stdout = sys.stdout
    async with stdio_server() as (read, write):
        try:
            with redirect_stdout(sys.stderr):
                await served.sdk.run(read, write, served.sdk.create_initialization_options())
        finally:
            stdout.flush()  # what somebody wrote to it before is not to follow the protocol
