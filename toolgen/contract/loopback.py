"""Names and addresses that only this machine can reach."""

from __future__ import annotations

import ipaddress
from typing import Final

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
"""Host names of this machine in the URLs of local clients."""


def is_loopback(host: str) -> bool:
    """Return whether a host is only reachable from this machine: `localhost`, or a loopback address.

    Any other name could belong to another machine. IPv6 addresses are passed without brackets.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
