"""Credentials of services in environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toolgen.contract.credentials import Credential, client_names, environment_name, note
from toolgen.contract.transport import Requirement, SecurityScheme


class EnvironmentCredentials:
    """Finds the credentials of services in environment variables, one set for all users.

    The variable of a service and a scheme is `TOOLGEN_<SERVICE>__<SCHEME>`: `TOOLGEN_BOOKS__API_KEY` for
    `api_key` of `books`. The value for `basic` is `user:password`. An OAuth 2 scheme uses a token that
    another program renews; its client is in `…__CLIENT_ID` and `…__CLIENT_SECRET`.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Construct it with the variables of this process, which are read at each call, or with a mapping."""
        self._environment = os.environ if environment is None else environment

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        """Return the credential of a service; None if its variable is missing or empty."""
        scheme = requirement.scheme
        text = self._environment.get(environment_name(service, scheme.name), "")
        username, _, password = text.partition(":") if scheme.kind == "basic" else ("", "", text)
        if not text:
            return None
        credential = Credential(secret=password, username=username)
        note(credential)
        return credential

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        """Return the current credential if it differs from the refused one; None otherwise."""
        now = await self.get(service, requirement)
        return None if now == refused else now

    def client(self, service: str, scheme: SecurityScheme) -> tuple[str, str] | None:
        """Return id and secret of an OAuth 2 client, with "" for a missing secret; None without an id."""
        client_id, secret = (self._environment.get(name, "") for name in client_names(service, scheme.name))
        return (client_id, secret) if client_id else None

    async def address(self, service: str, requirement: Requirement) -> str:
        """Return "": environment variables have no page where a user could grant access."""
        return ""
