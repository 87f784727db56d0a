"""The callback of authorizations: a browser delivers the code, which becomes a stored token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from toolgen.calls.errors import ToolError
from toolgen.capabilities import CredentialsCapability
from toolgen.capabilities.renewals import Authorization
from toolgen.contract.credentials import Credential, note
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.secrets import Secrets, hiding
from toolgen.runtime import Runtime, Suspended
from toolgen.stores import StoreError
from toolgen.stores.outages import until_back

from .exchanges import shown
from .tokens import name_of

_LONGEST: Final = 8_192
"""Maximum bytes of a query."""
_UNKNOWN: Final = "This authorization is unknown, was already used, or has expired."
_HEADERS: Final = (
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

log = logger("toolgen.adapters.oauth")


class OAuthCallback:
    """Receives authorization codes: an ASGI application that a host mounts at its `redirect_uri`."""

    def __init__(
        self,
        runtime: Runtime,
        credentials: CredentialsCapability,
        *,
        user_of: Callable[[Mapping[str, object]], Awaitable[str]] | None = None,
    ) -> None:
        """Create the callback.

        Args:
            runtime: Runtime with the suspended calls.
            credentials: Credentials capability of the runtime.
            user_of: Returns the signed-in user for the ASGI scope of a request; "" for nobody. If it is set,
                only the user of a call can finish its authorization. Otherwise anybody with the URL can.
        """
        self._runtime = runtime
        self._credentials = credentials
        self._user_of = user_of

    async def complete(self, query: Mapping[str, str], *, user: str | None = None) -> tuple[int, str]:
        """Exchange a code, store the token, answer the call; return an HTTP status and a text for the person.

        `user` is the user who delivers the code; None if unknown.
        """
        with hiding(Secrets()):
            code, state = query.get("code", ""), query.get("state", "")
            note(Credential(secret=code), Credential(secret=state))
            try:
                return await self._completed(code, state, query, user)
            except ToolError as error:
                log.warning("an authorization failed: %s", error)
                return 502, f"The authorization failed: {shown(error)}"
            except StoreError as error:  # the response names neither a file nor a server
                log.error("an authorization was not stored: %s", error)
                return (
                    503,
                    "The authorization could not be stored at the moment; try again later: "
                    f"{error.public_text}.",
                )
            except ToolgenError as error:
                log.warning("an authorization was not stored: %s", error)
                return 409, f"The authorization was not stored: {shown(error.message)}"

    async def _completed(
        self, code: str, state: str, query: Mapping[str, str], user: str | None
    ) -> tuple[int, str]:
        oauth, waiting_for = self._credentials.oauth, await self._credentials.authorization(name_of(state))
        if waiting_for is None or oauth is None:
            return 400, _UNKNOWN
        place, authorization = waiting_for
        if user is not None and authorization.user and user != authorization.user:
            return 403, "This authorization belongs to another user."
        if "error" in query or not code:
            reason = " ".join(filter(None, (query.get("error"), query.get("error_description"))))
            return 400, f"The service was not authorized: {shown(reason) or 'it returned no code'}"
        waiting = await self._waiting(authorization)
        if waiting is None:
            await self._credentials.store.drop(place)
            return 410, "No call waits for this authorization any more."
        if not await self._credentials.store.drop(place):
            return 400, _UNKNOWN  # another request has the code, which a provider accepts once
        try:
            credential = await oauth.exchange(authorization, code, query.get("iss", ""))
        except ToolError:
            await self._credentials.expect(place, authorization)  # the person can visit the page again
            raise
        by = user or authorization.user
        give = partial(
            self._runtime.suspensions.give, waiting.token, credential, scope=place.scope, by=by, wait_s=0.0
        )
        await until_back(give, "an authorization")  # a provider accepts its code once
        return 200, f"{authorization.service} is authorized. You may close this page."

    async def _waiting(self, authorization: Authorization) -> Suspended | None:
        """Return the suspended call that has shown the page of an authorization."""
        for suspended in await self._runtime.suspensions.list(authorization.session_id or None):
            if suspended.request is not None and suspended.request.get("address") == authorization.address:
                return suspended
        return None

    async def __call__(
        self,
        scope: Mapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Serve an ASGI 3 request."""
        assert scope["type"] == "http", "it is mounted for HTTP"
        query: bytes = scope.get("query_string", b"")
        if scope["method"] != "GET" or len(query) > _LONGEST:
            status, text = (405, "Only GET.") if scope["method"] != "GET" else (414, "Too long.")
        else:
            user = None if self._user_of is None else await self._user_of(scope)
            pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
            status, text = await self.complete(dict(pairs), user=user)
        await send({"type": "http.response.start", "status": status, "headers": [*_HEADERS]})
        await send({"type": "http.response.body", "body": text.encode(errors="replace")})
