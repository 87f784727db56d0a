"""Endpoints of authorization servers, from a design or from their metadata (RFC 8414)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from toolgen.calls.errors import ToolError
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.contract.transport import OAuthFlow

from .exchanges import ask, shown

_FRESH_S: Final = 3600.0
"""Seconds for which metadata is cached."""
_PORTS: Final = {"http": 80, "https": 443}


@frozen_record
class Endpoints:
    """Endpoints of an authorization server; "" for unknown ones."""

    is_guarded: bool
    """Whether the addresses must be public, because nobody has accepted them."""
    token: str
    authorize: str
    refresh: str
    issuer: str = ""
    names_issuer: bool = False
    """Whether each code is accompanied by the issuer (RFC 9207)."""

    def may_be_of(self, issuer: str) -> bool:
        """Return whether a code can be from this server, by its issuer (RFC 9207, section 2.4).

        `issuer` is "" if the code was not accompanied by one.
        """
        if not issuer:
            return not self.names_issuer
        return issuer == self.issuer if self.issuer else _origin(issuer) == _origin(self.authorize)


class Discovery:
    """Finds endpoints; metadata is requested once an hour."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Create the discovery; `seconds` is the time limit of one request."""
        self._seconds = seconds
        self._clock = clock
        self._metadata_by_address: dict[str, tuple[float, dict[str, Json]]] = {}

    async def endpoints(self, service: str, flow: OAuthFlow) -> Endpoints:
        """Return the endpoints of a flow; values of the design take precedence over the metadata.

        Raises:
            ToolError: The metadata cannot be read, or is not trustworthy.
        """
        is_guarded = not flow.is_accepted
        metadata = await self._metadata(service, flow.discovery, is_guarded) if flow.discovery else {}
        token = flow.token or metadata.get("token_endpoint", "")
        return Endpoints(
            is_guarded=is_guarded,
            token=token,
            authorize=flow.authorize or metadata.get("authorization_endpoint", ""),
            refresh=flow.refresh or token,
            issuer=metadata.get("issuer", ""),
            names_issuer=metadata.get("authorization_response_iss_parameter_supported") is True,
        )

    async def _metadata(self, service: str, address: str, is_guarded: bool) -> dict[str, Any]:
        until, metadata = self._metadata_by_address.get(address, (0.0, {}))
        if until > self._clock():
            return metadata
        status, metadata = await ask(service, "GET", address, is_guarded=is_guarded, seconds=self._seconds)
        if status != 200:
            raise ToolError(
                f"the metadata of the authorization server of {service} answered {status}; "
                "write its address as discovery=… into the flow"
            )
        _require_own(service, address, metadata)
        self._metadata_by_address[address] = self._clock() + _FRESH_S, metadata
        return metadata


def _require_own(service: str, address: str, metadata: dict[str, Any]) -> None:
    """Raise if metadata belongs to another issuer, or names endpoints of another origin.

    Raises:
        ToolError: The issuer or an origin differs (RFC 8414, section 3.3).
    """
    issuer = metadata.get("issuer")
    names = ("issuer", "token_endpoint", "authorization_endpoint")
    for name in names:
        value = metadata.get(name, "")
        if not isinstance(value, str) or (value and _origin(value) != _origin(address)):
            raise ToolError(
                f"the metadata of the authorization server of {service} names the {name} {shown(value)}, "
                "whose origin differs from that of the metadata; write that address into the design"
            )
    if not issuer or issuer.rstrip("/") not in _issuers(address):
        raise ToolError(
            f"the metadata of the authorization server of {service} names the issuer {shown(issuer)}, not "
            "the one at whose address it was read; write the address of its metadata as discovery=… into "
            "the flow"
        )


def _origin(address: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return address, "", -1


def _issuers(address: str) -> set[str]:
    """Return the possible issuers of a metadata address, without a trailing slash (RFC 8414, section 3.1)."""
    parts = urlsplit(address)
    before, _, after = parts.path.partition("/.well-known/")
    _, _, path = after.partition("/")
    start = f"{parts.scheme}://{parts.netloc}"
    return {f"{start}{before}".rstrip("/"), f"{start}/{path}".rstrip("/")}
