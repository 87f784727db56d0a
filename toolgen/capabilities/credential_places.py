"""Places of stored credentials: owner, name and store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

CredentialScope: TypeAlias = Literal["session", "user", "service"]
"""Owner of a credential; one with `service` is used for everybody."""
SCOPES: Final[tuple[CredentialScope, ...]] = ("session", "user", "service")
"""Order in which a call looks for a credential."""


@frozen_record(kw_only=False)
class CredentialPlace:
    """Place of a credential or a pending authorization in a store: its owner and its name."""

    scope: CredentialScope
    owner: str
    """The id of the session or of the user; "" for a service."""
    name: str


class CredentialStore(Protocol):
    """Keeps documents with secrets. Each method is one atomic step, over all processes."""

    async def load(self, place: CredentialPlace) -> dict[str, Json] | None:
        """Return a document; None if it is missing or has expired.

        Raises:
            StoreError: it cannot be read; the class says why.
        """
        ...

    async def save(
        self, place: CredentialPlace, document: Mapping[str, Json], *, expires_at: float | None = None
    ) -> None:
        """Store a document, replacing an existing one; `expires_at` is in seconds since 1970."""
        ...

    async def drop(self, place: CredentialPlace) -> bool:
        """Delete a document; return whether it existed. Of several concurrent deletions, one returns true."""
        ...

    async def find(self, name: str) -> CredentialPlace | None:
        """Return the place of a document by its name, which only one owner has."""
        ...

    async def forget(self, scope: CredentialScope, owner: str) -> int:
        """Drop all documents of an owner; return how many."""
        ...

    async def lease(self, place: CredentialPlace, holder: str, *, expires_at: float) -> bool:
        """Let a holder have a place until a time, in seconds since 1970; return whether it has it.

        One holder at a time has a place, over all processes. It may have it longer by another time, or give
        it back by one that is over.
        """
        ...


def place_of(scope: CredentialScope, owner: str, service: str, scheme: str) -> CredentialPlace:
    """Return the place of the credential for a scheme of a service."""
    return CredentialPlace(scope, owner, json.dumps([service, scheme]))
