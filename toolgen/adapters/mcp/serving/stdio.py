"""A server on the standard streams of its process."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from .mcp_server import MCPServer
from .signals import on_signal
from .stdin_lines import StdinLines, claimed_stdin


async def serve_stdio(served: MCPServer) -> None:
    """Serve one client until it closes its side, no longer reads, or the process gets SIGINT or SIGTERM.

    Calls that are executed then are cancelled. Meanwhile stdout holds nothing but the protocol: what
    executors and their children print goes to stderr.
    """
    stdout = sys.stdout
    try:
        with anyio.CancelScope() as serving, claimed_stdin() as descriptor:

            async def close() -> None:
                serving.cancel()

            lines: Any = StdinLines(descriptor)  # of a file the SDK uses the lines alone
            async with on_signal(close), stdio_server(stdin=lines) as (read, write):
                with redirect_stdout(sys.stderr):
                    await served.sdk.run(read, write, served.sdk.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client is gone
    finally:
        stdout.flush()  # what somebody wrote to it before is not to follow the protocol
