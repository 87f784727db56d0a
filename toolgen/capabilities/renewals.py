"""Stored credentials in use: expired ones are renewed once for all calls and processes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, field, replace
from typing import Any, Final, Protocol

from toolgen.contract.credentials import Credential, note
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.contract.tasks import start_task
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme
from toolgen.stores.errors import StoreError

from .credential_places import CredentialPlace, CredentialScope, CredentialStore

_EARLY_S: Final = 30.0
"""Seconds before its expiry when a token is renewed."""
_LEASE_S: Final = 30.0
"""Seconds after which another process can take over a renewal of a process that ended."""
_POLL_S: Final = 0.2
"""Seconds between checks for the renewal of another process."""


@frozen_record
class AuthorizationPage:
    """A pending authorization that a person continues."""

    address: str
    """Page of the authorization server."""
    name: str
    """Name in the store, derived from its `state` without revealing it."""
    verifier: str = field(repr=False)


@frozen_record
class Authorization:
    """A pending authorization of a service for an owner, until the host's callback receives its code."""

    address: str
    """URL of the page, with `state` in its query."""
    verifier: str = field(repr=False)
    """PKCE code verifier (RFC 7636)."""
    service: str
    requirement: Requirement
    session_id: str
    user: str
    """User of the call, the only person who can finish it; "" if unknown."""
    scope: CredentialScope


class TokenSource(Protocol):
    """Source of OAuth 2 tokens: `toolgen.adapters.oauth.OAuth`.

    Each method raises a `ToolError` if the authorization server does not answer correctly.
    """

    async def issue(self, service: str, requirement: Requirement) -> Credential | None:
        """Return a token for the client itself (RFC 6749, section 4.4); None if the scheme has another
        flow."""
        ...

    async def renew(
        self, service: str, requirement: Requirement, credential: Credential
    ) -> Credential | None:
        """Return a renewed token; None if the server refuses permanently."""
        ...

    async def begin(self, service: str, requirement: Requirement) -> AuthorizationPage | None:
        """Return the page where a person authorizes; None if the scheme has another flow."""
        ...

    async def exchange(self, authorization: Authorization, code: str, issuer: str) -> Credential:
        """Return the token for the code of a person's authorization (RFC 6749, section 4.1.3).

        `issuer` is the server's issuer that accompanied the code (RFC 9207); "" for none.
        """
        ...


class Renewals:
    """Finds stored credentials; expired ones are renewed by one call at a time."""

    def __init__(self, store: CredentialStore, oauth: TokenSource | None, clock: Callable[[], float]) -> None:
        self.clock = clock
        """Returns seconds since 1970."""
        self._store = store
        self._oauth = oauth
        self._guard = threading.Lock()
        self._running: dict[CredentialPlace, Future[None]] = {}
        """Renewals of all event loops; each ends with its renewal."""
        self._tasks = set[asyncio.Task[Credential | None]]()

    async def find(
        self, place: CredentialPlace, service: str, requirement: Requirement, refused: Credential | None
    ) -> Credential | None:
        """Return the credential at a place that was not refused; None without a usable one."""
        stored = await self._load(place, requirement)
        if stored is not None and self._serves(stored, refused):
            return stored
        if self._oauth is None or requirement.scheme.kind != "oauth2":
            return None
        if stored is None and place.scope != "service":
            return None
        # In a task of its own: the server might have consumed the old token of a call that is canceled.
        return await asyncio.shield(
            start_task(self._tasks, self._renewed_once(place, service, requirement, refused))
        )

    async def _renewed_once(
        self, place: CredentialPlace, service: str, requirement: Requirement, refused: Credential | None
    ) -> Credential | None:
        own = Future[None]()
        own.set_running_or_notify_cancel()  # a canceled waiter cannot cancel it
        while (running := self._claim(place, own)) is not own:
            await asyncio.wrap_future(running)
        try:
            async with self._leased(place):
                stored = await self._load(place, requirement)  # another call may have renewed it
                if stored is not None and self._serves(stored, refused):
                    return stored
                return await self._renewed(place, service, requirement, stored)
        finally:
            with self._guard:
                del self._running[place]
            own.set_result(None)

    def _claim(self, place: CredentialPlace, own: Future[None]) -> Future[None]:
        """Return the running renewal of a place, or this one if there is none."""
        with self._guard:
            return self._running.setdefault(place, own)

    @asynccontextmanager
    async def _leased(self, place: CredentialPlace) -> AsyncIterator[None]:
        """Hold the lease of a place, so that no other process renews it in the meantime."""
        holder, lease = secrets.token_hex(16), lease_of(place)
        while not await self._store.lease(  # noqa: ASYNC110 - another process may have it
            lease, holder, expires_at=self.clock() + _LEASE_S
        ):
            await asyncio.sleep(_POLL_S)
        keeping = asyncio.create_task(self._keep(lease, holder))
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
            with suppress(StoreError):  # the lease expires anyway
                await self._store.lease(lease, holder, expires_at=self.clock())

    async def _keep(self, lease: CredentialPlace, holder: str) -> None:
        """Extend a lease repeatedly, until canceled."""
        while True:
            await asyncio.sleep(_LEASE_S / 3)
            with suppress(StoreError):
                await self._store.lease(lease, holder, expires_at=self.clock() + _LEASE_S)

    async def _renewed(
        self, place: CredentialPlace, service: str, requirement: Requirement, stored: Credential | None
    ) -> Credential | None:
        """Return the next token, stored before it is used; None if a person must authorize."""
        assert self._oauth is not None, "asked before"
        renewed = None
        if stored is not None and stored.refresh_token:
            note(stored)
            renewed = await self._oauth.renew(service, requirement, stored)
            if renewed is None:
                now = await self._load(place, requirement)
                if now is not None and now.secret != stored.secret:  # another process was faster
                    return now
                if now is not None:  # keep it: a faster process may be about to store its token
                    await self._store.save(place, asdict(replace(now, refresh_token="")))
            elif await self._store.load(place) is None:  # its owner was erased in the meantime
                return None
        if renewed is None and place.scope == "service":
            document = await self._store.load(place)
            renewed = await self._oauth.issue(service, widened(requirement, document))
        if renewed is not None:
            await self._store.save(place, asdict(renewed))
        return renewed

    async def _load(self, place: CredentialPlace, requirement: Requirement) -> Credential | None:
        """Return the stored credential if it has the scopes; a person may have entered it without scopes."""
        document = await self._store.load(place)
        if document is None:
            return None
        stored = credential_of(document)
        return stored if not stored.scopes or set(requirement.scopes) <= set(stored.scopes) else None

    def _serves(self, stored: Credential, refused: Credential | None) -> bool:
        if refused is not None and stored.secret == refused.secret:
            return False
        return stored.expires_at is None or stored.expires_at - _EARLY_S > self.clock()


def lease_of(place: CredentialPlace) -> CredentialPlace:
    """Return the place of the lease for renewing a place; it does not reveal the owner."""
    digest = hashlib.sha256(json.dumps([place.scope, place.owner, place.name]).encode()).hexdigest()
    return CredentialPlace("service", "", f"renewal:{digest}")


def credential_of(document: Mapping[str, Json]) -> Credential:
    """Return the credential in a stored document."""
    facts: dict[str, Any] = dict(document)
    facts["scopes"] = tuple(facts["scopes"])
    return Credential(**facts)


def widened(requirement: Requirement, stored: Mapping[str, Json] | None) -> Requirement:
    """Return a requirement with the scopes of a stored credential added, because the next one replaces it."""
    scopes = () if stored is None else credential_of(stored).scopes
    return replace(requirement, scopes=tuple(dict.fromkeys((*requirement.scopes, *scopes))))


def authorization_of(document: Mapping[str, Json]) -> Authorization:
    """Return the authorization in a stored document."""
    facts: dict[str, Any] = dict(document)
    requirement: dict[str, Any] = facts["requirement"]
    scheme: dict[str, Any] = dict(requirement["scheme"])
    if scheme["flow"] is not None:
        scheme["flow"] = OAuthFlow(**scheme["flow"])
    facts["requirement"] = Requirement(SecurityScheme(**scheme), tuple(requirement["scopes"]))
    return Authorization(**facts)
