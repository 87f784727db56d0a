"""Limits for the data that a server sends over HTTP in addition to the bodies of its responses.

httpcore reads any number of interim responses (1xx) until the response arrives, so the connection limits the
data before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

MOST_CHUNKS: Final = 10_000
"""Maximum number of small chunks in one response: each takes about 15 µs, whatever its content."""
SMALL_CHUNK: Final = 1_024
"""Number of bytes below which a chunk is small."""
TOO_MANY_CHUNKS: Final = f"more than {MOST_CHUNKS} chunks of fewer than {SMALL_CHUNK} bytes"
MOST_HEAD_BYTES: Final = 2**18
"""Maximum bytes of interim responses and of the head of a response together."""

Refuse = Callable[[str], Exception]
"""Returns the error for a response, given the text that describes the exceeded limit."""


def limit_heads(transport: Any, refuse: Refuse) -> None:
    """Limit the data that the connections of an httpx transport read before a response; see `end_head`."""
    pool = transport._pool
    pool._network_backend = _LimitedBackend(pool._network_backend, refuse)


def limit_client_heads(client: Any, refuse: Refuse) -> None:
    """Limit the data that an httpx client reads before a response, directly and through proxies."""
    for transport in (client._transport, *client._mounts.values()):
        if hasattr(transport, "_pool"):
            limit_heads(transport, refuse)


def end_head(response: Any) -> None:
    """Record that the head of a response has arrived."""
    stream = response.extensions.get("network_stream")
    if isinstance(stream, _LimitedStream):
        stream.bytes_left = None


class _LimitedBackend:
    """A network backend of httpcore that limits its streams."""

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
    """A network stream of httpcore with a limit for the head; each write begins a request."""

    def __init__(self, stream: Any, refuse: Refuse) -> None:
        self._stream = stream
        self._refuse = refuse
        self.bytes_left: int | None = MOST_HEAD_BYTES
        """Bytes that may still arrive before the response; None once its head has arrived."""

    async def read(self, *args: Any, **options: Any) -> bytes:
        if self.bytes_left is not None and self.bytes_left <= 0:
            raise self._refuse(f"more than {MOST_HEAD_BYTES} bytes before its response")
        data: bytes = await self._stream.read(*args, **options)
        if self.bytes_left is not None:
            self.bytes_left -= len(data)
        return data

    async def write(self, *args: Any, **options: Any) -> None:
        self.bytes_left = MOST_HEAD_BYTES
        await self._stream.write(*args, **options)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *args: Any, **options: Any) -> _LimitedStream:
        return _LimitedStream(await self._stream.start_tls(*args, **options), self._refuse)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
