"""Watched streams of a session, which notify their owner as soon as the server closes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage

from .messages import REPLY, origin_of
from .servers import Streams


@asynccontextmanager
async def watched(
    transport: Callable[[], AbstractAsyncContextManager[Streams]],
    ended: Callable[[], None],
    read: Callable[[dict[str, Any]], dict[str, Any]],
) -> AsyncIterator[Streams]:
    """Open a transport in the SDK's form that calls `ended` when its input ends.

    `read` receives each result before the SDK validates it, and returns it or a replacement.
    """
    async with transport() as (incoming, outgoing):
        yield _WatchedStream(incoming, ended, read), outgoing


class _WatchedStream:
    """Stream of messages that the SDK reads by iteration."""

    def __init__(
        self, stream: Any, ended: Callable[[], None], read: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> None:
        self._stream = stream
        self._ended = ended
        self._read = read

    @property
    def last_context(self) -> Any:
        """Context variables of the last message's sender, if the stream has them."""
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
