"""Limits for the data that a server sends over HTTP besides the bytes of its responses.

httpcore reads any number of interim responses (1xx) until the response arrives, so the connection limits the
data before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

MOST_CHUNKS: Final = 10_000
"""Small chunks of one response: each takes some 15 µs, whatever it holds."""
SMALL_CHUNK: Final = 1_024
"""Bytes below which a chunk is small."""
TOO_MANY_CHUNKS: Final = f"more than {MOST_CHUNKS} chunks of fewer than {SMALL_CHUNK} bytes"
MOST_HEAD_BYTES: Final = 2**18
"""Bytes of interim responses and of the head of a response, together."""

Refuse = Callable[[str], Exception]
"""Returns the error of a response, whose text is what the server has sent too much of."""


def limit_heads(transport: Any, refuse: Refuse) -> None:
    """Limit what the connections of a transport of httpx read before a response; `end_head` ends that."""
    pool = transport._pool
    pool._network_backend = _LimitedBackend(pool._network_backend, refuse)


def limit_client_heads(client: Any, refuse: Refuse) -> None:
    """Limit what a client of httpx reads before a response, directly and by proxies, as `limit_heads`."""
    for transport in (client._transport, *client._mounts.values()):
        if hasattr(transport, "_pool"):
            limit_heads(transport, refuse)


def end_head(response: Any) -> None:
    """Take note that the head of a response has come."""
    stream = response.extensions.get("network_stream")
    if isinstance(stream, _LimitedStream):
        stream.left = None


class _LimitedBackend:
    """A network backend of httpcore."""

    def __init__(self, backend: Any, refuse: Refuse) -> None:
        self._backend = backend
        self._refuse = refuse

    async def connect_tcp(self, *args: Any, **options: Any) -> _LimitedStream:
        return _LimitedStream(await self._backend.connect_tcp(*args, **options), self._refuse)

    async def connect_unix_socket(self, *args: Any, **options: Any) -> _LimitedStream:
        return _LimitedStream(await self._backend.connect_unix_socket(*args, **options), self._refuse)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class _LimitedStream:
    """A network stream of httpcore; what is written begins a request."""

    def __init__(self, stream: Any, refuse: Refuse) -> None:
        self._stream = stream
        self._refuse = refuse
        self.left: int | None = MOST_HEAD_BYTES
        """Bytes that may come before the response; None once its head is there."""

    async def read(self, *args: Any, **options: Any) -> bytes:
        if self.left is not None and self.left <= 0:
            raise self._refuse(f"more than {MOST_HEAD_BYTES} bytes before its response")
        data: bytes = await self._stream.read(*args, **options)
        if self.left is not None:
            self.left -= len(data)
        return data

    async def write(self, *args: Any, **options: Any) -> None:
        self.left = MOST_HEAD_BYTES
        await self._stream.write(*args, **options)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *args: Any, **options: Any) -> _LimitedStream:
        return _LimitedStream(await self._stream.start_tls(*args, **options), self._refuse)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
