"""The credentials that a service requires, and how toolgen gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, TypeAlias

from .clause import Clause


@dataclass(frozen=True, eq=False, repr=False)
class APIKeySecurity(Clause):
    """API key in a header, a query parameter or a cookie.

    Args:
        name: Name of the credential, written `like_this`.
        description: One sentence for the person who provides the credential.
        header: Name of the header. Write exactly one of the three.
        query: Name of the query parameter.
        cookie: Name of the cookie.

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
    """User name and password in the header Authorization (RFC 7617).

    Args:
        name: Name of the credential, written `like_this`.
        description: One sentence for the person who provides the credential.

    Example: `http.BasicSecurity("account", "Account at the library.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False)
class BearerSecurity(Clause):
    """Token in the header Authorization (RFC 6750).

    Args:
        name: Name of the credential, written `like_this`.
        description: One sentence for the person who provides the credential.

    Example: `http.BearerSecurity("token", "Token of the library.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False)
class Scope(Clause):
    """Permission that an OAuth 2 token can have.

    Args:
        name: The scope, as the provider writes it.
        description: One sentence for the person who authorizes it.

    Example: `http.Scope("calendar.read", "Read calendars.")`
    """

    name: str
    description: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuthorizationCodeFlow(Clause):
    """Get a token after a person signs in and consents (RFC 6749, 4.1).

    If there is no token, the call is suspended and the person receives the address of the sign-in page.

    Args:
        authorize: URL of the sign-in page.
        token: URL that issues tokens.
        refresh: URL that renews tokens. By default, `token`.
        discovery: URL of the metadata (RFC 8414), from which the client reads the other URLs.
        accepted: Whether you trust the URLs. If `False`, as in imported documents, private addresses are
            refused.

    Example: `http.AuthorizationCodeFlow(authorize="https://example.org/auth", token="https://example.org/token")`
    """

    authorize: str | None = None
    token: str | None = None
    refresh: str | None = None
    discovery: str | None = None
    accepted: bool = True


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClientCredentialsFlow(Clause):
    """Get a token with the ID and secret of the host (RFC 6749, 4.4).

    Args:
        token: URL that issues tokens.
        discovery: URL of the metadata (RFC 8414), from which the client reads `token`.
        accepted: Whether you trust the URLs. If `False`, as in imported documents, private addresses are
            refused.

    Example: `http.ClientCredentialsFlow(token="https://example.org/token")`
    """

    token: str | None = None
    discovery: str | None = None
    accepted: bool = True


class OAuth2Security(Clause):
    """OAuth 2 token, which toolgen requests and renews.

    Args:
        name: Name of the credential, written `like_this`.
        description: One sentence for the person who authorizes it.
        flow: How toolgen gets the token.
        *children: All scopes that `Security` can require.

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
    """Send credentials with the requests of a method, or of all methods of a service.

    Several clauses are alternatives, the preferred one first. The clauses of a method replace those of its
    service.

    Args:
        scheme: A credential. The same one can be in several clauses.
        *children: Further credentials, which are sent together with it.
        scopes: OAuth 2 scopes that the token needs.
        header: Further header for the key or token of the first credential, if the API reads it there.
        query: Query parameter for it. A token in the parameter `access_token` is sent only there (RFC 6750,
            2).
        body: Field of the form, or key of the JSON object, for it. The same applies to `access_token`.

    Example: `http.Security(http.APIKeySecurity("key", "Key of the library.", query="key"))`
    """

    children: Final[tuple[Scheme, ...]]
    scopes: Final[Sequence[str]]
    header: Final[str | None]
    query: Final[str | None]
    body: Final[str | None]

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
    """Send no credential.

    Use it for a method of a service that has a `Security`, or after a `Security` as an alternative for hosts
    without the credential.

    Example: `d.Method("ping", "Say hello.", http.NoSecurity(), http.HTTP(http.GET("/ping")))`
    """
