"""The protocol of one connection of HTTP: that of uvicorn, with a limit of the chunks of a body."""

from __future__ import annotations

from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CHUNKS: Final = 1_000
"""Chunks of a body, and one more for each of `BYTES_OF_A_CHUNK`: each takes some 10 µs, whatever it holds."""
BYTES_OF_A_CHUNK: Final = 1_024


class HttpConnection(H11Protocol):
    """Serves one connection; a body of too many chunks is refused with 400, and the connection closed."""

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.conn = _CountedChunks(h11.SERVER, self.conn._max_incomplete_event_size)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, and close the connection; where an answer has begun, close it alone."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()


class _CountedChunks(h11.Connection):
    _chunks = 0
    _size_bytes = 0

    def next_event(self) -> Any:
        """Return the next event.

        Raises:
            RemoteProtocolError: the peer breaks the protocol, or the body has too many chunks.
        """
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._size_bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._size_bytes += len(event.data)
            if self._chunks > MOST_CHUNKS + self._size_bytes // BYTES_OF_A_CHUNK:
                raise h11.RemoteProtocolError("a body has too many chunks")
        return event
