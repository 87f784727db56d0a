"""HTTP responses of a server, whose bodies and events are measured before the SDK decodes them.

A body or event that exceeds the limits is replaced by a JSON-RPC error. A body that exceeds the maximum
message size is passed on unchanged, because the component that limits its size refuses it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

import httpx2

from toolgen.contract.response_limits import end_head

from ..scanning import id_of
from .errors import MCPServerError
from .intake import Intake
from .messages import LONGEST_MESSAGE

_EVENTS: Final = "text/event-stream"
_MOST_LINES: Final = 10_000
"""Maximum number of lines of one event."""
_EMPTY_LINES: Final = re.compile(b"\n{3,}")
"""End of an event with further empty lines, which have no meaning and would cost as much as other lines."""


def measured_by(intake: Intake) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return an HTTP client hook that measures responses; install it before hooks that read them."""

    async def measure(response: httpx2.Response) -> None:
        end_head(response)
        assert isinstance(response.stream, httpx2.AsyncByteStream), "the client is asynchronous"
        if response.headers.get("content-type", "").lower().startswith(_EVENTS):
            response.headers["content-type"] = _EVENTS  # always UTF-8, whatever charset is declared
            response.stream = _MeasuredEvents(response.stream, intake)
        else:
            request_id = id_of(await response.request.aread())
            response.stream = _MeasuredBody(response.stream, intake, request_id)

    return measure


class _MeasuredBody(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, intake: Intake, request_id: int | str | None) -> None:
        self._stream = stream
        self._intake = intake
        self._request_id = request_id or 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: list[bytes] = []
        size_bytes = 0
        async for chunk in self._stream:
            if size_bytes > LONGEST_MESSAGE:
                yield chunk
                continue
            try:
                self._intake.count_chunk(len(chunk))
            except MCPServerError as error:
                yield self._intake.error_of(error.message, self._request_id)
                return
            chunks.append(chunk)
            size_bytes += len(chunk)
            if size_bytes > LONGEST_MESSAGE:
                yield b"".join(chunks)
        if size_bytes <= LONGEST_MESSAGE:
            yield self._intake.measured(b"".join(chunks), self._request_id)

    async def aclose(self) -> None:
        await self._stream.aclose()


class _MeasuredEvents(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, intake: Intake) -> None:
        self._stream = stream
        self._intake = intake

    async def __aiter__(self) -> AsyncIterator[bytes]:
        events = _Events(self._intake)
        async for chunk in self._stream:
            try:
                for event in events.admitted(chunk):
                    yield event
            except MCPServerError as error:
                self._intake.end(error)
                raise httpx2.SSEError(error.message) from None

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Events:
    """Parser of a stream of events (HTML, Server-sent events) that admits each event with data."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._parts: list[bytes] = []
        """Beginning of an incomplete line."""
        self._lines: list[bytes] = []
        """Lines of an incomplete event."""
        self._size_bytes = 0
        self._follows_return = False

    def admitted(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the events that end in a chunk, if they are admitted.

        Raises:
            SSEError: An event is too long.
            MCPServerError: The server has exceeded its credit.
        """
        if self._follows_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._follows_return = chunk.endswith(b"\r")
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = _EMPTY_LINES.sub(b"\n\n", chunk)
        self._intake.count_chunk(len(lines), empty_lines=len(chunk) - len(lines))
        *ends, rest = lines.split(b"\n")
        for end in ends:
            line = b"".join((*self._parts, end))
            self._parts = []
            if line:
                self._lines.append(line)
                yield from self._counted(end)
            else:
                yield from self._event()
        if rest:
            self._parts.append(rest)
            yield from self._counted(rest)

    def _counted(self, part: bytes) -> Iterator[bytes]:
        """Yield nothing; for an event that is too long, yield it so that its reader refuses it by size.

        Raises:
            SSEError: The event has too many lines, or the reader did not refuse it.
        """
        self._size_bytes += len(part)
        if self._size_bytes > LONGEST_MESSAGE:
            yield b"\n".join((*self._lines, b"".join(self._parts)))
        if self._size_bytes > LONGEST_MESSAGE or len(self._lines) > _MOST_LINES:
            raise httpx2.SSEError(f"an event has more than {LONGEST_MESSAGE} bytes or {_MOST_LINES} lines")

    def _event(self) -> Iterator[bytes]:
        lines, self._lines, self._size_bytes = self._lines, [], 0
        if not lines:
            return
        values = [line[5:] for line in lines if line == b"data" or line.startswith(b"data:")]
        data = b"\n".join(value.removeprefix(b" ") for value in values)
        message = self._intake.admitted(data)
        if message is data:
            yield b"\n".join((*lines, b"", b""))
        elif message is not None:
            yield b"data: " + message + b"\n\n"
