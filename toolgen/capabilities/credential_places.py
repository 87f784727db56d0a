"""Places of stored credentials: owner, name and store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

CredentialScope: TypeAlias = Literal["session", "user", "service"]
"""Owner type of a credential; credentials with `service` are used for every caller."""
SCOPES: Final[tuple[CredentialScope, ...]] = ("session", "user", "service")
"""Order in which a call looks for a credential."""


@frozen_record(kw_only=False)
class CredentialPlace:
    """Place of a credential or a pending authorization in a store: its owner and its name."""

    scope: CredentialScope
    owner: str
    """Id of the session or of the user; "" for a service."""
    name: str


class CredentialStore(Protocol):
    """Store of documents with secrets. Each method is atomic across processes."""

    async def load(self, place: CredentialPlace) -> dict[str, Json] | None:
        """Return a document; None if it is missing or has expired.

        Raises:
            StoreError: The document cannot be read; the subclass tells why.
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
        """Return the place of a document by its name, which must be unique among owners."""
        ...

    async def forget(self, scope: CredentialScope, owner: str) -> int:
        """Delete all documents of an owner; return their number."""
        ...

    async def lease(self, place: CredentialPlace, holder: str, *, expires_at: float) -> bool:
        """Lease a place to a holder until a time, in seconds since 1970; return whether the holder has it.

        A place has one holder at a time, across processes. The holder can extend the lease with a later time,
        or release it with a time in the past.
        """
        ...


def place_of(scope: CredentialScope, owner: str, service: str, scheme: str) -> CredentialPlace:
    """Return the place of the credential for a scheme of a service."""
    return CredentialPlace(scope, owner, json.dumps([service, scheme]))
