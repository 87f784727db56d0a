"""Credentials of the services behind tools, as generated clients request them.

Credential requests and texts never contain the secret itself; it is redacted during the call.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote, quote_plus

from .json_value import Json
from .record import frozen_record
from .secrets import noting

if TYPE_CHECKING:
    from .transport import Requirement

_KINDS: Final = {"api_key": "API key", "basic": "password", "bearer": "token", "oauth2": "authorization"}
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
"""Boundaries between the words of a name."""
_ESCAPE: Final = re.compile("%[0-9A-F]{2}")


@frozen_record
class Credential:
    """A credential for a security scheme: an API key, a password with its user, or a token."""

    secret: str = field(repr=False)
    username: str = ""
    """User name for the scheme `basic`; "" for other schemes."""
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    """Expiry in seconds since the epoch; None if it is unknown."""
    scopes: tuple[str, ...] = ()


class Credentials(Protocol):
    """The credentials that one call can use: `ctx.credentials`."""

    async def get(self, service: str, requirement: Requirement) -> Credential | None:
        """Return the credential of a service, refreshed if it has expired; None if there is none."""
        ...

    async def replace(self, service: str, requirement: Requirement, refused: Credential) -> Credential | None:
        """Return another credential for one that the service rejected; None if there is none."""
        ...

    async def address(self, service: str, requirement: Requirement) -> str:
        """Return the page where a person grants a missing credential; "" if there is none."""
        ...


def environment_name(service: str, scheme: str) -> str:
    """Return the environment variable of a credential: `TOOLGEN_BOOKS__API_KEY` for `api_key` of `books`.

    The scheme name comes from an imported document. The prefix avoids clashes with the variables of other
    programs, and the name of the service avoids clashes with other services.
    """
    service, scheme = ("_".join(filter(None, _PARTS.split(name))) for name in (service, scheme))
    return f"TOOLGEN_{service}__{scheme}".upper()


def client_names(service: str, scheme: str) -> tuple[str, str]:
    """Return the environment variables of an OAuth 2 client: for its ID and for its secret."""
    name = environment_name(service, scheme)
    return f"{name}__CLIENT_ID", f"{name}__CLIENT_SECRET"


def needed_text(service: str, requirement: Requirement, *, is_refused: bool) -> str:
    """Return a sentence that a credential is missing or was rejected, with its environment variable."""
    scheme = requirement.scheme
    why = "the service rejected" if is_refused else "is missing"
    scopes = f" with the scopes {', '.join(requirement.scopes)}" if requirement.scopes else ""
    name = environment_name(service, scheme.name)
    variable = f"{name} as user:password" if scheme.kind == "basic" else name
    if scheme.flow is not None and scheme.flow.kind == "client_credentials":
        variable = " and ".join(client_names(service, scheme.name))
    return (
        f"{service} needs the {_KINDS[scheme.kind]} {scheme.name!r}{scopes}, which {why}; "
        f"set it in the environment as {variable}"
    )


def request_of(service: str, requirement: Requirement, address: str) -> dict[str, Json]:
    """Return the request for a missing credential."""
    scheme = requirement.scheme
    request: dict[str, Json] = {"service": service, "scheme": scheme.name, "kind": scheme.kind}
    if scheme.description:
        request["description"] = scheme.description
    return request | {"scopes": list(requirement.scopes), "address": address}


def is_of_service(request: Mapping[str, Json] | None) -> bool:
    """Return whether a request is one of `request_of`, for a credential that the host stores."""
    return request is not None and {"service", "scheme", "kind"} <= request.keys()


def note(*credentials: Credential) -> None:
    """Redact credentials in all reports of the running call, in each form that a request contains."""
    if (secrets := noting()) is not None:
        secrets.add(dict.fromkeys(form for credential in credentials for form in forms_of(credential)))


def forms_of(credential: Credential) -> Iterator[str]:
    """Yield the texts that reveal a credential: as it is, in URLs and in headers."""
    pair = f"{credential.username}:{credential.secret}"
    for text in (credential.secret, credential.refresh_token, pair if credential.username else ""):
        if text:
            encoded = text.encode(errors="surrogatepass")
            for form in (quote(encoded), quote(encoded, safe=""), quote_plus(encoded)):
                yield from (form, _ESCAPE.sub(lambda match: match[0].lower(), form))  # .NET uses lowercase
            yield text
            yield b64encode(encoded).decode()
