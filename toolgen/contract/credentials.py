"""Credentials of the services behind tools, as generated clients ask for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from .transport import Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a security scheme takes: an API key, a password with its user, or a token."""

    secret: str = field(repr=False)
    username: str = ""
    """Who signs in, where the scheme is `basic`; "" for the others."""
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    """Seconds since the epoch; None where nobody said."""
    scopes: tuple[str, ...] = ()


class Credentials(Protocol):
    """The credentials that one call may use: `ctx.credentials`."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        """Return the credential of a service, refreshed where its time is over; None where there is none."""
        ...

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        """Return another credential for one that the service has refused; None where there is none."""
        ...
