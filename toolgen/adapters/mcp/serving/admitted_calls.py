"""Limits of concurrent calls over HTTP, in total and per identity, and the shutdown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final

import anyio
from pydantic_core import from_json
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolgen.contract.limits import Limits

from ...ports.admission import most_of_one
from ...ports.requests import waits_for_client
from ..scanning import exceeded, id_of
from .executing import SLOT, CallSlot, ExecutingCalls
from .identity import IDENTITY, owner_of

_PARSERS: Final[tuple[Callable[[bytes], object], ...]] = (from_json, json.loads)
"""Parsers of the SDK, through 2025-11-25 and since 2026-07-28.

The second one accepts input that the first one rejects: escaped surrogates, a byte order mark.
"""


class AdmittedCalls:
    """Limits concurrent `tools/call` requests, refuses them during shutdown, and limits every message.

    It must be inside a body limit, which passes each body as a whole; oversized messages are not decoded.
    """

    def __init__(
        self,
        app: ASGIApp,
        executing: ExecutingCalls,
        limits: Limits,
        max_calls: int,
        max_calls_per_owner: int,
    ) -> None:
        self._app = app
        self._limits = limits
        self._executing = executing
        self._max_calls = max_calls
        self._max_calls_per_owner = max_calls_per_owner
        self._is_closing = False
        self._streams: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":  # endless stream of server messages for a client of 2025-11-25
            await self._stream(scope, receive, send)
            return
        first = await receive()
        receive = _again(first, receive)
        body = first.get("body", b"")
        if (too_much := exceeded(body, self._limits)) is not None:
            await _too_large(body, too_much)(scope, receive, send)
            return
        if not _is_call(body):
            await self._app(scope, receive, send)
            return
        if self._is_closing:
            await _refusal(503, "the server is shutting down; call another server, or try again later")(
                scope, receive, send
            )
            return
        owner = owner_of(scope[IDENTITY]) if IDENTITY in scope else None
        if (text := self._too_many(owner)) is not None:
            await _refusal(429, text)(scope, receive, send)
            return
        slot = CallSlot(self._executing, owner, lambda: self._too_many(owner) is not None)
        with slot.held():
            try:
                await self._app({**scope, SLOT: slot}, receive, send)
            finally:
                slot.end_client()

    def _too_many(self, owner: str | None) -> str | None:
        """Return why a further call of an owner is refused; None if it is admitted."""
        if self._executing.count >= self._max_calls:
            return f"too many concurrent calls ({self._max_calls} running); try again later"
        if owner is None:
            return None
        own = self._executing.count_of(owner)
        if own >= most_of_one(self._max_calls, self._max_calls_per_owner, self._executing.count - own):
            return f"too many concurrent calls from this caller ({own} running); try again later"
        return None

    async def drain(self, timeout_s: float) -> None:
        """Refuse new calls, wait for running ones, and end the streams without calls."""
        self._is_closing = True
        try:
            async with asyncio.timeout(timeout_s):
                await self._executing.ended()
        except TimeoutError:
            pass  # the server cancels them
        for stream in tuple(self._streams):
            stream.cancel()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        with waits_for_client(scope), anyio.CancelScope() as stream:
            self._streams.add(stream)
            try:
                await self._app(scope, receive, send)
            finally:
                self._streams.discard(stream)


def _is_call(body: bytes) -> bool:
    """Return whether a request is a `tools/call` for any of the SDK's parsers."""
    return any(_is_call_by(parse, body) for parse in _PARSERS)


def _is_call_by(parse: Callable[[bytes], object], body: bytes) -> bool:
    try:
        document = parse(body)
    except (ValueError, RecursionError):
        return False  # the SDK reports the error
    return isinstance(document, dict) and document.get("method") == "tools/call"


def _again(first: Message, receive: Receive) -> Receive:
    """Return a channel that delivers the first message once more."""
    messages = [first]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _too_large(body: bytes, too_much: str) -> JSONResponse:
    """Return the JSON-RPC error for a message that was not decoded, with its id if it was found."""
    error = {"code": -32600, "message": f"the message has {too_much}; Runtime(limits=) sets the limit"}
    return JSONResponse({"jsonrpc": "2.0", "id": id_of(body), "error": error}, 413)


def _refusal(status: int, text: str) -> JSONResponse:
    """Return a JSON-RPC error without an id, as the SDK does for requests that it does not process."""
    error = {"code": -32603, "message": text}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status)
