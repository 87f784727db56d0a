"""Credentials of services: of a session, of a user, or of the service itself for every caller.

A secret goes directly into a store, and from there to the client of its service. No journal, event or log
contains it: the secrets that a call gets are noted, so that they are redacted during the call.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Final, TypeVar

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import CallScope
from toolgen.calls.context import Key
from toolgen.calls.steps.bridge import Wait
from toolgen.contract.credentials import Credential, Credentials, note
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.names import CREDENTIALS_CAPABILITY
from toolgen.contract.transport import Requirement
from toolgen.stores.environment import EnvironmentCredentials

from .credential_places import SCOPES, CredentialPlace, CredentialScope, CredentialStore, place_of
from .renewals import Authorization, Renewals, TokenSource, authorization_of, widened

T = TypeVar("T")

CREDENTIALS: Final[Key[Credentials]] = Key(CREDENTIALS_CAPABILITY)


class CallCredentials(Credentials):
    """Credentials that one call can use; calls retry this store like any other."""

    def __init__(self, capability: CredentialsCapability, call: CallScope) -> None:
        self._capability = capability
        self._call = call

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        return await self._read(
            service, partial(self._capability.find, self._call.meta, service, requirement)
        )

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        find = partial(self._capability.find, self._call.meta, service, requirement, refused=refused)
        return await self._read(service, find)

    async def address(self, service: str, requirement: Requirement) -> str:
        begin = partial(self._capability.authorize, self._call.meta, service, requirement)
        return await self._read(service, begin)

    async def _read(self, service: str, step: Callable[[], Awaitable[T]]) -> T:
        return await self._call.retry_step(step, f"credentials of {service}", is_idempotent=True)


class ThreadCredentials:
    """Credentials of a call for its synchronous executor."""

    def __init__(self, credentials: CallCredentials, wait: Wait) -> None:
        self._credentials = credentials
        self._wait = wait

    def get(self, service: str, requirement: Requirement) -> Credential | None:
        """Return the credential of a service, like `Credentials.get`."""
        credential: Credential | None = self._wait(self._credentials.get, service, requirement)
        if credential is not None:
            note(credential)
        return credential


class CredentialsCapability:
    """Provides `ctx.credentials`, which generated clients use."""

    name = CREDENTIALS_CAPABILITY

    def __init__(
        self,
        store: CredentialStore,
        *,
        oauth: TokenSource | None = None,
        environment: EnvironmentCredentials | None = None,
        user: Callable[[CallMeta], str] = lambda meta: meta.labels.get("user", ""),
        authorization_s: float = 7 * 86_400,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the capability on a store.

        Args:
            store: Stores credentials that people and callbacks deliver, and OAuth 2 tokens.
            oauth: Source of these tokens: `toolgen.adapters.oauth.OAuth`.
            environment: Fallback for credentials that are not stored; by default that of this process.
            user: Returns the user of a call, like `StateCapability(user=)`.
            authorization_s: Seconds for a person to authorize at the page that a call waits for.
            clock: Returns seconds since 1970.
        """
        self.store = store
        self.oauth = oauth
        self._environment = EnvironmentCredentials() if environment is None else environment
        self._user = user
        self._renewals = Renewals(store, oauth, clock)
        self._authorization_s = authorization_s

    def open(self, call: CallScope) -> CallCredentials:
        return CallCredentials(self, call)

    def for_thread(self, opened: CallCredentials, wait: Wait) -> ThreadCredentials:
        return ThreadCredentials(opened, wait)

    async def close(self, opened: Sequence[tuple[CallCredentials, bool]]) -> None:
        """Do nothing: calls change no credentials."""

    async def find(
        self, meta: CallMeta, service: str, requirement: Requirement, *, refused: Credential | None = None
    ) -> Credential | None:
        """Return the first credential for a call that differs from the refused one; None if there is none.

        Raises:
            StoreError: The store cannot be read.
            ToolError: An authorization server does not answer.
        """
        for scope, owner in self._owners(meta):
            place = place_of(scope, owner, service, requirement.scheme.name)
            if (stored := await self._renewals.find(place, service, requirement, refused)) is not None:
                note(stored)
                return stored
        if refused is None:
            return await self._environment.get(service, requirement)
        return await self._environment.replace(service, requirement, refused)

    async def authorize(self, meta: CallMeta, service: str, requirement: Requirement) -> str:
        """Return the URL at which a person authorizes a service for a call; "" if there is none.

        The callback of the host receives its `state` (`toolgen.adapters.oauth.OAuthCallback`).
        """
        owners = dict(self._owners(meta))
        scope: CredentialScope = "user" if "user" in owners else "session"
        if self.oauth is None or scope not in owners:
            return ""
        place = place_of(scope, owners[scope], service, requirement.scheme.name)
        requirement = widened(requirement, await self.store.load(place))
        page = await self.oauth.begin(service, requirement)
        if page is None:
            return ""
        authorization = Authorization(
            address=page.address,
            verifier=page.verifier,
            service=service,
            requirement=requirement,
            session_id=meta.session_id,
            user=self._user(meta),
            scope=scope,
        )
        await self.expect(CredentialPlace(scope, place.owner, page.name), authorization)
        return page.address

    async def expect(self, place: CredentialPlace, authorization: Authorization) -> None:
        """Store an authorization until the callback delivers its code, or until it expires."""
        expires_at = self._renewals.clock() + self._authorization_s
        await self.store.save(place, asdict(authorization), expires_at=expires_at)

    async def authorization(self, name: str) -> tuple[CredentialPlace, Authorization] | None:
        """Return a pending authorization by its name in the store, with its place; None if there is none."""
        place = await self.store.find(name)
        document = None if place is None else await self.store.load(place)
        return None if place is None or document is None else (place, authorization_of(document))

    async def keep(
        self,
        meta: CallMeta,
        request: Mapping[str, Json],
        credential: Credential,
        scope: CredentialScope | None = None,
    ) -> None:
        """Store the credential for a suspended call: by default for its user, otherwise for its session.

        Raises:
            ToolgenError: The call does not determine the owner, or the request does not name the credential.
        """
        service, scheme = request.get("service"), request.get("scheme")
        owners = dict(self._owners(meta))
        scope = scope or ("user" if "user" in owners else "session")
        if scope not in owners or not isinstance(service, str) or not isinstance(scheme, str):
            raise ToolgenError(
                f"the credential cannot be stored for the {scope}: the request needs a service, a scheme "
                "and a known scope, and the CallMeta a value for it",
                hint="choose another scope: give(…, scope='service') stores it for everybody",
            )
        await self.put(service, scheme, credential, scope=scope, owner=owners[scope])

    async def put(
        self,
        service: str,
        scheme: str,
        credential: Credential,
        *,
        scope: CredentialScope = "service",
        owner: str = "",
    ) -> None:
        """Store the credential of a service, replacing an existing one.

        Args:
            service: Name of the service in the design.
            scheme: Name of the security scheme.
            credential: Credential to store.
            scope: Owner type of the credential.
            owner: Id of the session or of the user; "" for `service`.
        """
        await self.store.save(place_of(scope, owner, service, scheme), asdict(credential))

    async def forget(self, session_id: str) -> int:
        """Delete the credentials of a session; return their number. For a user: `store.forget("user", …)`."""
        return await self.store.forget("session", session_id) if session_id else 0

    def _owners(self, meta: CallMeta) -> list[tuple[CredentialScope, str]]:
        """Return the owners whose credentials a call can use, in lookup order."""
        ids = {"session": meta.session_id, "user": self._user(meta)}
        return [(scope, ids.get(scope, "")) for scope in SCOPES if scope == "service" or ids[scope]]
