"""The requests of a port's connections, as an ASGI application gets them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, TypeAlias

from .admission import Place, Refused

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]

PLACE: Final = "toolgen.place"
"""Key of an ASGI scope's `state`: the `Place` of its connection. Another server than ours has none."""
_RETRY_S: Final = b"1"
_RETRY_STATUSES: Final = (429, 503)


class AdmittedRequests:
    """Lets requests through for which there is a place, and says with each refusal when to try again."""

    def __init__(self, app: _App) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        place = _place_of(scope)
        if place is None:
            await self._app(scope, receive, _with_retry(send))
            return
        if (refused := place.admission.begin(place)) is not None:
            await _refuse(refused, send)
            return
        try:
            await self._app(scope, receive, _with_retry(_held(place, send)))
        finally:
            place.admission.end(place)


def assign(scope: _Message, identity: str) -> Refused | None:
    """Count a request that has begun, and its connection, for an identity, unless that has too many."""
    place = _place_of(scope)
    return None if place is None else place.admission.assign(place, identity)


def waits_for_client(scope: _Message) -> AbstractContextManager[None]:
    """Return a context in which a request that has begun waits for its client alone, and so for the longest
    one makes room for others."""
    place = _place_of(scope)
    return nullcontext() if place is None else place.admission.waiting(place)


def waits(scope: _Message) -> bool:
    """Return whether a request waits for its client alone, as `waits_for_client` says."""
    place = _place_of(scope)
    return place is not None and place.waits > 0


def _place_of(scope: _Message) -> Place | None:
    place = scope.get("state", {}).get(PLACE)
    return place if isinstance(place, Place) else None


def _held(place: Place, send: _Send) -> _Send:
    """Return a channel that counts what has to wait for it."""

    async def held(message: _Message) -> None:
        place.admission.hold(place, len(message.get("body", b"")))
        await send(message)

    return held


def _with_retry(send: _Send) -> _Send:
    async def with_retry(message: _Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in _RETRY_STATUSES:
            headers = list(message.get("headers", ()))
            if not any(name.lower() == b"retry-after" for name, _ in headers):
                message = {**message, "headers": [*headers, (b"retry-after", _RETRY_S)]}
        await send(message)

    return with_retry


async def _refuse(refused: Refused, send: _Send) -> None:
    body = refused.text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", _RETRY_S),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
