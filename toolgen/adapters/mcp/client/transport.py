"""The streams of a session, watched: whoever owns it learns at once that the server has ended them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage

from .messages import REPLY, origin_of
from .servers import Streams


class Watched:
    """A transport, as the SDK takes one, that calls `ended` when there is nothing more to read.

    `read` gets each result before the SDK validates it, and returns it or what stands in its place.
    """

    def __init__(
        self,
        transport: Callable[[], AbstractAsyncContextManager[Streams]],
        ended: Callable[[], None],
        read: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> None:
        self._inner = transport()
        self._ended = ended
        self._read = read

    async def __aenter__(self) -> Streams:
        read, write = await self._inner.__aenter__()
        return _WatchedStream(read, self._ended, self._read), write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, where)


class _WatchedStream:
    """A stream of messages; the SDK reads it by iteration."""

    def __init__(
        self, stream: Any, ended: Callable[[], None], read: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> None:
        self._stream = stream
        self._ended = ended
        self._read = read

    @property
    def last_context(self) -> Any:
        """The context variables of the last message's sender, where the stream has them."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            message = await self._stream.__anext__()
        except StopAsyncIteration:
            self._ended()
            raise
        match message:
            case SessionMessage(message=types.JSONRPCResponse() as response):
                response.result = self._read(response.result)
            case SessionMessage(message=types.JSONRPCError(error=error)):
                context = self.last_context
                reply = None if context is None else context.get(REPLY)
                if (origin := origin_of(error, reply)) is not None:
                    error.data = origin
            case _:
                pass
        return message

    async def __aenter__(self) -> _WatchedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool | None:
        is_suppressed: bool | None = await self._stream.__aexit__(kind, error, where)
        return is_suppressed
