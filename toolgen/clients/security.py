"""The credentials of a request: the alternative that is used, and its place in the request."""

from __future__ import annotations

import itertools
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from toolgen.calls.errors import CredentialNeededError, ToolError
from toolgen.contract.credentials import Credential, Credentials, forms_of, note
from toolgen.contract.secrets import HIDDEN
from toolgen.contract.transport import Media, Requirement, Security

from .call import ServedCall

_UNFIT: Final = re.compile(r"[^\x20-\x7e]|^ | $")
"""Characters that a credential in a header must not have."""

_ESCAPES: Final[tuple[dict[int, str], ...]] = (
    {ord("/"): "\\/"},
    {ord("&"): "\\u0026"},
    {ord("&"): "\\u0026", ord("+"): "\\u002B"},
)
"""ASCII characters that JSON encoders of PHP, Go and .NET escape."""
_ALONE: Final = "access_token"
"""Name of a token in the query or the body that must not be sent in another way (RFC 6750, section 2)."""
_SHORTEST: Final = 8
"""Minimum length of texts that are redacted in an answer; a shorter text may be an ordinary value."""

Used: TypeAlias = "tuple[tuple[Requirement, Credential], ...]"


def credentials_of(own: Credentials | None, call: ServedCall | None) -> Credentials:
    """Return the client's own credentials, or those of the call, or those of the environment."""
    if own is not None:
        return own
    from toolgen.capabilities import CREDENTIALS, EnvironmentCredentials  # most clients need none

    if call is not None:
        try:
            return call.context.capability(CREDENTIALS)
        except AttributeError:  # its runtime provides none
            pass
    return EnvironmentCredentials()


def query_keys(security: Security) -> frozenset[str]:
    """Return the names of credentials that can be in a query."""
    requirements = [requirement for alternative in security for requirement in alternative]
    schemes = [requirement.scheme for requirement in requirements]
    keys = {scheme.key for scheme in schemes if scheme.kind == "api_key" and scheme.place == "query"}
    return frozenset(keys.union(requirement.query for requirement in requirements) - {""})


class Keyring:
    """The credentials of one service for one request."""

    def __init__(self, credentials: Credentials, service: str, security: Security, server: str) -> None:
        self._credentials = credentials
        self._service = service
        self._security = security
        self._server = server
        self._first = next(requirement for alternative in security for requirement in alternative)

    async def first(self) -> Used:
        """Return the credentials of the first complete alternative.

        Raises:
            CredentialNeededError: No alternative is complete; it names the first missing credential of the
                first.
        """
        missing: Requirement | None = None
        for alternative in self._security:
            used = []
            for requirement in alternative:
                credential = await self._credentials.get(self._service, requirement)
                if credential is None:
                    missing = missing or requirement
                    break
                note(credential)
                used.append((requirement, credential))
            else:
                return tuple(used)
        raise await self._missing(missing or self._first)

    async def others(self, refused: Used) -> Used:
        """Return replacements for credentials that the service has refused.

        Raises:
            CredentialNeededError: There are no others.
        """
        replaced = list[tuple[Requirement, Credential]]()
        is_changed = False
        for requirement, credential in refused:
            other = await self._credentials.replace(self._service, requirement, credential)
            if other is not None:
                note(other)
                is_changed = True
            replaced.append((requirement, credential if other is None else other))
        if not is_changed:
            raise await self.needed(refused)
        return tuple(replaced)

    async def needed(self, refused: Used) -> CredentialNeededError:
        """Return the error for credentials that the service has refused."""
        return await self._missing(refused[0][0] if refused else self._first, is_refused=bool(refused))

    async def _missing(self, requirement: Requirement, *, is_refused: bool = False) -> CredentialNeededError:
        address = (await self._credentials.address(self._service, requirement)) or self._server
        return CredentialNeededError(self._service, requirement, address, is_refused=is_refused)


def written_forms(used: Used, charset: str) -> tuple[bytes, ...]:
    """Return the forms in which an answer in a charset can repeat credentials, including JSON escapes."""
    forms = (form for _, credential in used for form in forms_of(credential) if len(form) >= _SHORTEST)
    written = (text for form in forms for text in (form, json.dumps(form)[1:-1], *_escaped(form)))
    own = ("utf-16-le", "utf-16-be") if charset.startswith("utf-16") else (charset,)
    pairs = itertools.product(dict.fromkeys(("utf-8", *own)), dict.fromkeys(written))
    return tuple(dict.fromkeys(data for encoding, text in pairs if (data := _encoded(text, encoding))))


def _encoded(text: str, encoding: str) -> bytes:
    """Return a text in an encoding; empty if it cannot be encoded."""
    try:
        return text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "strict")
    except UnicodeError:
        return b""


def _escaped(form: str) -> list[str]:
    return [form.translate(escapes) for escapes in _ESCAPES]


def without(secrets: Iterable[bytes], data: bytes, charset: str = "utf-8") -> bytes:
    """Return a part of an answer without the credentials of its request."""
    for secret in secrets:
        if secret in data:
            data = data.replace(secret, HIDDEN.encode(charset, "replace"))
    return data


@dataclass(slots=True, kw_only=True)
class Applied:
    """Places of credentials in a request."""

    headers: list[tuple[str, str]] = field(default_factory=list)
    query: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Form fields, or keys of a JSON object."""


NO_CREDENTIALS: Final = Applied()


def applied(used: Used) -> Applied:
    """Return the parts of a request that contain its credentials.

    Raises:
        ToolError: A credential is not allowed at its place.
    """
    parts = Applied()
    for requirement, credential in used:
        scheme, secret = requirement.scheme, credential.secret
        if scheme.kind == "basic":
            pair = f"{credential.username}:{secret}".encode(errors="surrogatepass")
            parts.headers.append(("Authorization", f"Basic {b64encode(pair).decode()}"))
            continue
        if _UNFIT.search(secret):
            raise ToolError(
                f"the credential {scheme.name!r} has characters that a request must not have; enter it again"
            )
        if scheme.kind != "api_key":
            if _ALONE not in (requirement.query, requirement.body):
                parts.headers.append(("Authorization", f"Bearer {secret}"))
        elif scheme.place == "header":
            parts.headers.append((scheme.key, secret))
        else:
            (parts.query if scheme.place == "query" else parts.cookies).append(_pair(scheme.key, secret))
        if requirement.header:
            parts.headers.append((requirement.header, secret))
        if requirement.query:
            parts.query.append(_pair(requirement.query, secret))
        if requirement.body:
            parts.fields.append((requirement.body, secret))
    return parts


def with_fields(
    content: Mapping[str, Any], media: Media, fields: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    """Return the body of a request for httpx, with credentials among its fields.

    Raises:
        ToolError: The body is JSON, but not an object.
    """
    if "files" in content or media == "multipart":
        parts = [(name, (None, secret, None)) for name, secret in fields]
        return {"files": [*content.get("files", ()), *parts]}
    body: bytes = content.get("content") or b""
    if media != "json":
        return {"content": b"&".join(filter(None, [body, *(_pair(*each).encode() for each in fields)]))}
    rest = (body if body not in (b"", b"null") else b"{}").removeprefix(b"{")
    if rest == body:
        raise ToolError("the credential is part of the body, which is not an object")
    own = json.dumps(dict(fields))[:-1].encode()
    return {"content": own + (b"" if rest == b"}" else b", ") + rest}


def _pair(name: str, secret: str) -> str:
    return f"{quote(name, safe='')}={quote(secret, safe='')}"
