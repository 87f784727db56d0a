"""Addresses that options name."""

from __future__ import annotations

from toolgen.contract.errors import ToolgenError


def host_and_port(option: str, text: str) -> tuple[str, int]:
    """Return the address and the port of `HOST:PORT`; a port alone is one of 127.0.0.1.

    Raises:
        ToolgenError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 0xFFFF or (colon and not host):
        raise ToolgenError(f"{option} {text!r} is not HOST:PORT", hint=f"write {option} 127.0.0.1:8000")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
