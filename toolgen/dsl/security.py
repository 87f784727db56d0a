"""The credentials that a service asks for, and how they are got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, TypeAlias

from .clause import Clause


@dataclass(frozen=True, eq=False, repr=False)
class APIKeySecurity(Clause):
    """A key that stands in a header, a query parameter or a cookie.

    Example: `http.APIKeySecurity("library_key", "Key of the library.", header="X-Api-Key")`
    """

    name: str
    description: str
    _: KW_ONLY
    header: str | None = None
    query: str | None = None
    cookie: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class BasicSecurity(Clause):
    """A user name and a password (RFC 7617).

    Example: `http.BasicSecurity("account", "Account at the library.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False)
class BearerSecurity(Clause):
    """A token in the header Authorization (RFC 6750).

    Example: `http.BearerSecurity("token", "Token of the library.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False)
class Scope(Clause):
    """What a token of OAuth 2 is good for.

    Example: `http.Scope("calendar.read", "Read calendars.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuthorizationCodeFlow(Clause):
    """A person signs in and consents (RFC 6749, 4.1), at these addresses or those of metadata (RFC 8414).

    Example: `http.AuthorizationCodeFlow(authorize="https://example.org/auth", token="https://example.org/token")`
    """

    authorize: str | None = None
    token: str | None = None
    refresh: str | None = None
    """Where a token is renewed; None for `token`."""
    discovery: str | None = None
    accepted: bool = True
    """Whether somebody has chosen the addresses; private ones of another flow are refused."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClientCredentialsFlow(Clause):
    """The host itself is known (RFC 6749, 4.4), at this address or that of metadata (RFC 8414).

    Example: `http.ClientCredentialsFlow(token="https://example.org/token")`
    """

    token: str | None = None
    discovery: str | None = None
    accepted: bool = True
    """Whether somebody has chosen the addresses; private ones of another flow are refused."""


class OAuth2Security(Clause):
    """A token of OAuth 2, how it is got, and all scopes that it may have.

    Example: `http.OAuth2Security("office", "Sign in.", http.ClientCredentialsFlow(token="https://example.org/token"))`
    """

    name: Final[str]
    description: Final[str]
    flow: Final[AuthorizationCodeFlow | ClientCredentialsFlow]
    children: Final[tuple[Scope, ...]]

    def __init__(
        self,
        name: str,
        description: str,
        flow: AuthorizationCodeFlow | ClientCredentialsFlow,
        *children: Scope,
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.flow = flow
        self.children = children


Scheme: TypeAlias = APIKeySecurity | BasicSecurity | BearerSecurity | OAuth2Security


class Security(Clause):
    """The credentials of a request, all at once; several clauses are alternatives, the preferred one first.

    Example: `http.Security(http.APIKeySecurity("key", "Key of the library.", query="key"))`
    """

    children: Final[tuple[Scheme, ...]]
    scopes: Final[Sequence[str]]
    """Those that a token needs, of the schemes that have them."""
    header: Final[str | None]
    """A further header that has the key or token of the first scheme."""
    query: Final[str | None]
    """A query parameter that has it."""
    body: Final[str | None]
    """A field of the form, or a key of the JSON object, that has it."""

    def __init__(
        self,
        scheme: Scheme,
        /,
        *children: Scheme,
        scopes: Sequence[str] = (),
        header: str | None = None,
        query: str | None = None,
        body: str | None = None,
    ) -> None:
        super().__init__()
        self.children = (scheme, *children)
        self.scopes = scopes
        self.header = header
        self.query = query
        self.body = body


class NoSecurity(Clause):
    """No credential: for a method of a service that asks for one, or as an alternative to it.

    Example: `d.Method("ping", "Say hello.", http.NoSecurity(), http.HTTP(http.GET("/ping")))`
    """
