"""What hostile clients of MCP send, as exact bytes: lines for stdio, or bodies for HTTP.

`MESSAGES` has the attacks by name; each is a generator of messages without line ends. Nothing here reads an
answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

MESSAGES: dict[str, Callable[[], Iterator[bytes]]] = {}
"""The messages of an attack, by its name."""


def attack(messages: Callable[[], Iterator[bytes]]) -> Callable[[], Iterator[bytes]]:
    """Make an attack of a generator, under its name."""
    MESSAGES[messages.__name__] = messages
    return messages


def request(id: Any, method: str, **params: Any) -> bytes:
    """Return a request."""
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def call(id: Any, tool: str, arguments: bytes = b"{}") -> bytes:
    """Return a call whose arguments are these bytes, whatever they are; the id is a number or a text."""
    head = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call"}).encode()[:-1]
    return (
        head + b', "params": {"name": ' + json.dumps(tool).encode() + b', "arguments": ' + arguments + b"}}"
    )


def opening() -> Iterator[bytes]:
    """Yield what opens a session of 2025-11-25."""
    info = {"name": "hostile", "version": "1"}
    yield request(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
    yield b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'


@attack
def ping() -> Iterator[bytes]:
    """Attack with nothing: what an honest client sends beside the others."""
    yield request(1, "ping")
