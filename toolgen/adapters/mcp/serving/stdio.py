"""A server on the standard streams of its process, which can stop even if its client sends nothing.

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
"""Bytes of one read, of which the next one waits for the loop."""
MOST_NOTIFICATIONS: Final = 1_000
"""Messages of the client that ask nothing, and more each second; further notifications are dropped."""
NOTIFICATIONS_PER_S: Final = 100
MOST_DROPPED: Final = 10_000
"""Messages beyond these after which the client is ended."""
_MOST_IN_ALL: Final = MOST_NOTIFICATIONS + MOST_DROPPED
_SETTINGS: Final = "Runtime(limits=) and serve_stdio(max_line_bytes=)"

log = logger("toolgen.mcp")


async def serve_stdio(served: MCPServer, *, max_line_bytes: int = 4 * 2**20, max_calls: int = 100) -> None:
    """Serve one client until it closes its side, no longer reads, or the process gets SIGINT or SIGTERM.

    Calls that are executed then are cancelled. Meanwhile stdout holds nothing but the protocol: what
    executors and their children print goes to stderr.

    Args:
        served: What it serves.
        max_line_bytes: Size of one message; a larger one is refused, and no more of it is kept.
        max_calls: Calls executed at once; a further one is refused.

    Raises:
        ValueError: a limit is less than 1.
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
            lines: Any = StdinLines(
                descriptor, limits, refusals.send
            )  # of a file the SDK uses the lines alone
            async with on_signal(close), stdio_server(stdin=lines) as (read, write):
                refusals.begin(write)
                with redirect_stdout(sys.stderr):
                    await served.sdk.run(read, write, served.sdk.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client is gone
    finally:
        served.sdk.middleware.remove(at_once)
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


class _Refusals:
    """Answers requests that the SDK does not get to see."""

    def __init__(self) -> None:
        self._stream: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def begin(self, stream: Any) -> None:
        """Take the stream of what is sent to the client."""
        self._stream.set_result(stream)

    async def send(self, id: int | str | None, why: str) -> None:
        """Answer the request of an id with an error; None where it is not known."""
        error = types.JSONRPCError(
            jsonrpc="2.0", id=id, error=types.ErrorData(code=types.INVALID_REQUEST, message=why)
        )
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await (await self._stream).send(SessionMessage(error))


class StdinLines:
    """The lines of a descriptor that are within the limits of messages, as text.

    Bytes that are no UTF-8 are replaced. A client that sends far too many is at its end.
    """

    def __init__(
        self,
        descriptor: int,
        limits: Limits,
        refuse: Callable[[int | str | None, str], Awaitable[None]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what refuses a request, by its id and with the reason, and a clock in seconds."""
        self._descriptor = descriptor
        self._limits = limits
        self._refuse = refuse
        self._clock = clock
        self._credit = Credit(MOST_NOTIFICATIONS, NOTIFICATIONS_PER_S, clock())

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines():
            if not self._is_request(line) and (left := self._credit.take(self._clock(), 1)) < 0:
                if left < -MOST_DROPPED:
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
            if is_answer(line) and (id_ := id_of(line)) is not None:  # whoever waits for it waits no more
                error = types.ErrorData(code=types.INVALID_REQUEST, message=why)
                yield types.JSONRPCError(jsonrpc="2.0", id=id_, error=error).model_dump_json()
            else:
                await self._refuse(id_of(line), why)

    def _is_request(self, line: bytes) -> bool:
        return id_of(line) is not None and not is_answer(line)

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield each line without its end; of one that is too long no more than shows that."""
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
            except (RuntimeError, CancelledError):  # the loop is closed, or ends
                put.close()
                return
