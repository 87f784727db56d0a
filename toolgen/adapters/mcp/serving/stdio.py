"""A server on the standard streams of its process that can stop even if its client sends nothing.

A blocking read cannot be cancelled. The SDK's reader waits for it, so SIGINT, or a client that no longer
reads, would stop the server only after the next line.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from toolgen.contract.limits import Limits
from toolgen.contract.logs import logger

from ...ports.signals import on_signal
from ..credit import Credit
from ..scanning import exceeded, id_of, is_answer, message_limits
from .executing import CallsAtOnce
from .mcp_server import MCPServer

_CHUNK: Final = 2**16
"""Bytes of one read; the next read waits for the loop."""
MOST_NOTIFICATIONS: Final = 1_000
"""Maximum burst of client messages that are not requests; further notifications are dropped."""
NOTIFICATIONS_PER_S: Final = 100
MOST_DROPPED: Final = 10_000
"""Messages beyond these after which the connection is closed."""
_MOST_IN_ALL: Final = MOST_NOTIFICATIONS + MOST_DROPPED
_SETTINGS: Final = "Runtime(limits=) and serve_stdio(max_line_bytes=)"

log = logger("toolgen.mcp")


async def serve_stdio(served: MCPServer, *, max_line_bytes: int = 4 * 2**20, max_calls: int = 100) -> None:
    """Serve one client until it closes its side or stops reading, or the process gets SIGINT or SIGTERM.

    Calls that are executed then are cancelled. While serving, stdout contains only protocol messages: output
    of executors and their child processes goes to stderr.

    Args:
        served: Server to serve.
        max_line_bytes: Maximum size of one message; a larger one is refused without storing the rest.
        max_calls: Maximum number of concurrently executed calls; a further one is refused.

    Raises:
        ValueError: A limit is less than 1.
    """
    for name, limit in (("max_line_bytes", max_line_bytes), ("max_calls", max_calls)):
        if limit < 1:
            raise ValueError(f"serve_stdio({name}={limit}); it must be at least 1")
    stdout = sys.stdout
    limits = message_limits(served.limits, max_line_bytes)
    at_once = CallsAtOnce(served.executing, max_calls)
    served.sdk.middleware.insert(0, at_once)
    try:
        with anyio.CancelScope() as serving, claimed_stdin() as descriptor:

            async def close() -> None:
                serving.cancel()

            refusals = _Refusals()
            lines: Any = StdinLines(descriptor, limits, refusals.send)  # the SDK only iterates over the lines
            async with on_signal(close), stdio_server(stdin=lines) as (read, write):
                refusals.begin(write)
                with redirect_stdout(sys.stderr):
                    await served.sdk.run(read, write, served.sdk.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client has disconnected
    finally:
        served.sdk.middleware.remove(at_once)
        stdout.flush()  # earlier output must not follow the protocol messages


@contextmanager
def claimed_stdin() -> Iterator[int]:
    """Yield a duplicate of stdin; meanwhile stdin is empty for tools and their child processes."""
    duplicate = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        yield duplicate
    finally:
        os.dup2(duplicate, 0)  # the duplicate stays open, because a thread may still read it


class _Refusals:
    """Sends errors for requests that never reach the SDK."""

    def __init__(self) -> None:
        self._stream: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def begin(self, stream: Any) -> None:
        """Store the stream to the client."""
        self._stream.set_result(stream)

    async def send(self, id: int | str | None, why: str) -> None:
        """Answer the request with this id with an error; None if the id is unknown."""
        error = types.JSONRPCError(
            jsonrpc="2.0", id=id, error=types.ErrorData(code=types.INVALID_REQUEST, message=why)
        )
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await (await self._stream).send(SessionMessage(error))


class StdinLines:
    """Lines of a descriptor that are within the message limits, as text.

    Invalid UTF-8 is replaced. If a client sends far too many messages, its input ends.
    """

    def __init__(
        self,
        descriptor: int,
        limits: Limits,
        refuse: Callable[[int | str | None, str], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store a function that refuses a request by its id, with the reason, and a clock in seconds."""
        self._descriptor = descriptor
        self._limits = limits
        self._refuse = refuse
        self._clock = clock
        self._credit = Credit(MOST_NOTIFICATIONS, NOTIFICATIONS_PER_S, clock())

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines():
            if not self._is_request(line) and (remaining_credit := self._credit.take(self._clock(), 1)) < 0:
                if remaining_credit < -MOST_DROPPED:
                    log.warning(
                        "closing the connection: the client sent %d messages beyond its requests",
                        _MOST_IN_ALL,
                    )
                    return
                if not is_answer(line):
                    continue
            if (too_much := exceeded(line, self._limits)) is None:
                yield line.decode(errors="replace")
                continue
            why = f"the message has {too_much}; {_SETTINGS} set the limits"
            log.info("refused a message of the client: %s", why)
            if is_answer(line) and (id_ := id_of(line)) is not None:  # releases the waiting request
                error = types.ErrorData(code=types.INVALID_REQUEST, message=why)
                yield types.JSONRPCError(jsonrpc="2.0", id=id_, error=error).model_dump_json()
            else:
                await self._refuse(id_of(line), why)

    def _is_request(self, line: bytes) -> bool:
        return id_of(line) is not None and not is_answer(line)

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield each line without its newline; cut a line just beyond the limit."""
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[bytes] = asyncio.Queue(1)
        thread = threading.Thread(target=self._read, args=(loop, chunks), name="stdin of MCP", daemon=True)
        thread.start()
        line = bytearray()
        while chunk := await chunks.get():
            *parts, last = chunk.split(b"\n")
            for part in parts:
                line += part[: self._room(line)]
                yield bytes(line)
                line = bytearray()
            line += last[: self._room(line)]
        if line:
            yield bytes(line)

    def _room(self, line: bytearray) -> int:
        return self._limits.bytes + 1 - len(line)

    def _read(self, loop: asyncio.AbstractEventLoop, chunks: asyncio.Queue[bytes]) -> None:
        """Pass on chunks, and an empty chunk at the end, until nobody receives them."""
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:
                chunk = b""
            put = chunks.put(chunk)
            try:
                asyncio.run_coroutine_threadsafe(put, loop).result()
            except (RuntimeError, CancelledError):  # the loop is closed or ending
                put.close()
                return
