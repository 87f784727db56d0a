"""Requests of a port's connections, for an ASGI application."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .admission import ConnectionPlace, Refused

PLACE: Final = "toolgen.place"
"""Key in the `state` of an ASGI scope for the `ConnectionPlace` of its connection.

Only our server sets it.
"""
_RETRY_S: Final = "1"
_RETRY_STATUSES: Final = (429, 503)


class AdmittedRequests:
    """Admits requests for which there is a place, and adds `Retry-After` to each refusal."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = _place_of(scope)
        if place is None:
            await self._app(scope, receive, _with_retry(send))
            return
        if (refused := place.admission.begin(place)) is not None:
            response = PlainTextResponse(refused.text, refused.status, {"Connection": "close"})
            await response(scope, receive, _with_retry(send))
            return
        try:
            await self._app(scope, receive, _with_retry(_held(place, send)))
        finally:
            place.admission.end(place)


def assign(scope: Scope, identity: str) -> Refused | None:
    """Count a request and its connection for an identity, unless the identity has too many requests."""
    place = _place_of(scope)
    return None if place is None else place.admission.assign(place, identity)


def waits_for_client(scope: Scope) -> AbstractContextManager[None]:
    """Return a context in which a request only waits for its client.

    The connection of the request that waits for longest is closed for others.
    """
    place = _place_of(scope)
    return nullcontext() if place is None else place.admission.waiting(place)


def waits(scope: Scope) -> bool:
    """Return whether a request only waits for its client, as marked by `waits_for_client`."""
    place = _place_of(scope)
    return place is not None and place.waits > 0


def _place_of(scope: Scope) -> ConnectionPlace | None:
    place = scope.get("state", {}).get(PLACE)
    return place if isinstance(place, ConnectionPlace) else None


def _held(place: ConnectionPlace, send: Send) -> Send:
    """Return a channel that counts the bytes that wait to be sent."""

    async def held(message: Message) -> None:
        place.admission.hold(place, len(message.get("body", b"")))
        await send(message)

    return held


def _with_retry(send: Send) -> Send:
    async def with_retry(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in _RETRY_STATUSES:
            message = {**message, "headers": [*message.get("headers", ())]}
            MutableHeaders(scope=message).setdefault("retry-after", _RETRY_S)
        await send(message)

    return with_retry
