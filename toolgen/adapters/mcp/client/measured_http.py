"""Responses of a server over HTTP, whose bodies and events are measured before the SDK decodes them.

A body that holds too much is replaced by an error of JSON-RPC; so is an event. A body that is longer than a
message may be is passed on as it is, for who bounds it to refuse.
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
"""Lines of one event."""
_EMPTY_LINES: Final = re.compile(b"\n{3,}")
"""The end of an event, and empty lines after it, which mean nothing and would cost what other lines do."""


def measured_by(intake: Intake) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return the hook of an HTTP client that measures responses; it stands before others that read them."""

    async def measure(response: httpx2.Response) -> None:
        end_head(response)
        assert isinstance(response.stream, httpx2.AsyncByteStream), "the client is asynchronous"
        if response.headers.get("content-type", "").lower().startswith(_EVENTS):
            response.headers["content-type"] = _EVENTS  # in UTF-8, whatever else it says
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
    """Takes a stream of events apart (HTML, Server-sent events), and admits each with data."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._parts: list[bytes] = []
        """The beginning of a line whose end has not come."""
        self._lines: list[bytes] = []
        """The lines of an event whose end has not come."""
        self._size_bytes = 0
        self._follows_return = False

    def admitted(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the events that end in a chunk, as far as they are admitted.

        Raises:
            SSEError: an event is too long.
            MCPServerError: the server has sent more than it may.
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
        """Yield nothing, or an event that is too long, which whoever reads it refuses by its size.

        Raises:
            SSEError: it has too many lines, or was not refused.
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
