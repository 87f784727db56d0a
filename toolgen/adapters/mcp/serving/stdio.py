"""A server on the standard streams of its process, which ends although its client is silent.

A read that blocks cannot be cancelled. The reader of the SDK waits for it, so that SIGINT, or a client that
no longer reads, would end the server only with the next line.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import anyio
from mcp.server.stdio import stdio_server

from .mcp_server import MCPServer
from .signals import on_signal

_CHUNK: Final = 2**16
"""Bytes of one read, of which the next one waits for the loop."""


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


@contextmanager
def claimed_stdin() -> Iterator[int]:
    """Yield a descriptor of what stdin was; meanwhile stdin is empty for tools and their children."""
    duplicate = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        yield duplicate
    finally:
        os.dup2(duplicate, 0)  # the duplicate stays open: a thread may still read it


class StdinLines:
    """The lines of a descriptor, as text; what is no UTF-8 is replaced."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[bytes] = asyncio.Queue(1)
        thread = threading.Thread(target=self._read, args=(loop, chunks), name="stdin of MCP", daemon=True)
        thread.start()
        rest = io.BytesIO()
        while chunk := await chunks.get():
            *lines, last = chunk.split(b"\n")
            for line in lines:
                rest.write(line)
                yield rest.getvalue().decode(errors="replace")
                rest = io.BytesIO()
            rest.write(last)
        if line := rest.getvalue():
            yield line.decode(errors="replace")

    def _read(self, loop: asyncio.AbstractEventLoop, chunks: asyncio.Queue[bytes]) -> None:
        """Hand over what is read, and at the end an empty chunk, until nobody takes it."""
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:
                chunk = b""
            put = chunks.put(chunk)
            try:
                asyncio.run_coroutine_threadsafe(put, loop).result()
            except RuntimeError:  # the loop is closed
                put.close()
                return
