"""The requests of a port's connections, as an ASGI application gets them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .admission import ConnectionPlace, Refused

PLACE: Final = "toolgen.place"
"""Key of an ASGI scope's `state`: the `ConnectionPlace` of its connection. Other servers have none."""
_RETRY_S: Final = "1"
_RETRY_STATUSES: Final = (429, 503)


class AdmittedRequests:
    """Lets requests through for which there is a place, and says with each refusal when to try again."""

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
    """Count a request that has begun, and its connection, for an identity, unless that has too many."""
    place = _place_of(scope)
    return None if place is None else place.admission.assign(place, identity)


def waits_for_client(scope: Scope) -> AbstractContextManager[None]:
    """Return a context in which a request that has begun waits for its client alone, and so for the longest
    one makes room for others."""
    place = _place_of(scope)
    return nullcontext() if place is None else place.admission.waiting(place)


def waits(scope: Scope) -> bool:
    """Return whether a request waits for its client alone, as `waits_for_client` says."""
    place = _place_of(scope)
    return place is not None and place.waits > 0


def _place_of(scope: Scope) -> ConnectionPlace | None:
    place = scope.get("state", {}).get(PLACE)
    return place if isinstance(place, ConnectionPlace) else None


def _held(place: ConnectionPlace, send: Send) -> Send:
    """Return a channel that counts what has to wait for it."""

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
