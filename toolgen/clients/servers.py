"""Addresses of requests: servers of a design with their variables, and the check for public addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from toolgen.calls.errors import RegistrationError
from toolgen.contract.record import frozen_record
from toolgen.contract.transport import VARIABLE, Server, Variable

_IN_HOST: Final = re.compile(r"[A-Za-z0-9._~:\[\]-]+")
_IN_PATH: Final = re.compile(r"[A-Za-z0-9._~:/-]+")
_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses embedded in IPv6 (RFC 6052)."""
_NOT_PUBLIC: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            *("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32"),
            *("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100:0:0:1::/64"),
            *("3fff::/20", "5f00::/16", "fec0::/10"),
        ),
    )
)
"""Ranges of the IANA special-purpose registries that `ipaddress` of older Python versions treats as global,
deprecated and translated addresses, and the host of a virtual machine in Azure."""

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class PrivateAddressError(Exception):
    """A server that nobody has accepted is at a private address."""


@frozen_record
class Origin:
    """Scheme, host and port of a URL, which redirects must not change (RFC 6454)."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """Return the origin of an absolute URL.

        Raises:
            ValueError: The URL has no origin, or is not an HTTP URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{url!r} is not an http or https URL")
        return cls(scheme=parts.scheme, host=parts.hostname, port=parts.port or _PORTS[parts.scheme])


@frozen_record
class Base:
    """Base URL of a client's paths."""

    url: str
    """URL without a trailing slash."""
    origin: Origin
    is_guarded: bool
    """Whether the address must be public, because nobody has accepted it."""


def base_of(servers: Sequence[Server], server: str, variables: Mapping[str, str]) -> Base:
    """Return the base URL of a client.

    Args:
        servers: Servers of the design, in order of preference.
        server: URL of one of them exactly as in the design, or another URL that the host has chosen.
        variables: Values by name; the others have their defaults.

    Raises:
        RegistrationError: There is no server, or a variable does not fit.
    """
    chosen = next((listed for listed in servers if listed.url == server), Server(server)) if server else None
    if chosen is None:
        if not servers:
            raise RegistrationError("the client has no server", hint='pass one: server="https://…"')
        chosen = servers[0]
    declared = {variable.name: variable for variable in chosen.variables}
    if undeclared := variables.keys() - declared.keys():
        names = ", ".join(sorted(declared)) or "none"
        raise RegistrationError(f"{chosen.url} has no variable {min(undeclared)!r}; it has: {names}")
    host = chosen.url.partition("://")[2].partition("/")[0]
    values = {name: variables.get(name, variable.default) for name, variable in declared.items()}
    for name, value in values.items():
        _require_value(declared[name], value, in_host="{" + name + "}" in host)
    url = VARIABLE.sub(lambda match: values.get(match[1], match[0]), chosen.url).rstrip("/")
    try:
        origin, parts = Origin.of(url), urlsplit(url)
    except ValueError as error:
        raise RegistrationError(f"the server {url!r} has no address: {error}") from None
    if parts.username is not None or parts.query or parts.fragment or "{" in url:
        raise RegistrationError(
            f"the server {origin.host!r} has more in its address than scheme, host and path"
        )
    is_changed = any(value != declared[name].default for name, value in values.items())
    return Base(url=url, origin=origin, is_guarded=is_changed or not chosen.is_accepted)


def _require_value(variable: Variable, value: str, *, in_host: bool) -> None:
    """Refuse a value that the design does not list, or that would change other parts of the URL.

    Raises:
        RegistrationError: The value is not allowed.
    """
    if variable.values and value not in variable.values:
        listed = ", ".join(variable.values)
        raise RegistrationError(
            f"the server variable {variable.name!r} is {value!r}; it must be one of: {listed}"
        )
    pattern = _IN_HOST if in_host else _IN_PATH
    if value != variable.default and (not pattern.fullmatch(value) or ".." in value):
        raise RegistrationError(
            f"the server variable {variable.name!r} is {value!r}, which cannot be part of an address"
        )


async def public_addresses(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host, all of which are public.

    Raises:
        OSError: The host cannot be resolved.
        PrivateAddressError: One of them is not public (RFC 6890).
    """
    try:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:  # a label is empty or too long
        raise OSError(f"{host} is not a host name") from None
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in resolved))
    for text in addresses:
        if not is_public(ipaddress.ip_address(text.partition("%")[0])):
            raise PrivateAddressError(f"{host} is at {text}, which is not a public address")
    return addresses


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet, including IPv4 embedded in IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    is_special = address.is_multicast or any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not is_special
