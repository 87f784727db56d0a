"""Names of headers and cookies, and the headers that the client sends itself."""

from __future__ import annotations

from typing import Final

from toolgen.contract.transport import CONNECTION_HEADERS, TOKEN

_INSTEAD: Final = {
    "authorization": "write Security(BearerSecurity(…)), or another scheme",
    "proxy-authorization": "the host sets up the proxy",
    "cookie": 'write Cookie("…")',
    "content-type": 'write Body(content_type="…")',
}


def is_token(name: str) -> bool:
    """Return whether a text is the name of a header or a cookie."""
    return bool(TOKEN.fullmatch(name))


def header_fault(name: str, *, is_credential: bool = False) -> str:
    """Return the fault of the name of a request header or a cookie; "" if there is none.

    A credential can be in the header Authorization.
    """
    if not is_token(name):
        return "has characters that are not allowed in headers"
    lower = name.lower()
    owned = lower in CONNECTION_HEADERS or (
        lower in _INSTEAD and not (is_credential and lower == "authorization")
    )
    return "the client sends itself" if owned else ""


def header_hint(name: str) -> str:
    """Return the hint for a header name that is not allowed."""
    if not is_token(name):
        return 'write a name of letters, digits and hyphens, such as "X-Request-Id"'
    return _INSTEAD.get(name.lower(), "remove it; the client sends it automatically")
