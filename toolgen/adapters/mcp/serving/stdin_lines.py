"""The lines of stdin, read so that a server can end while its client is silent.

A read that blocks cannot be cancelled. The reader of the SDK waits for it, so that SIGINT, or a client that
no longer reads, would end the server only with the next line.
"""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

_CHUNK: Final = 2**16
"""Bytes of one read, of which the next one waits for the loop."""


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
        os.dup2(duplicate, 0)  # `kept` stays open: a thread may still read it


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
