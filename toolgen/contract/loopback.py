"""Names and addresses that only this machine can reach."""

from __future__ import annotations

import ipaddress
from typing import Final

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
"""Names by which clients on this machine reach it, as they stand in a URL."""


def is_loopback(host: str) -> bool:
    """Return whether a host is reached from this machine only: `localhost`, or an address of loopback.

    Any other name may be that of another machine. IPv6 addresses stand without brackets.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
