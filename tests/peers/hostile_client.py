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


@attack
def braces() -> Iterator[bytes]:
    """Send 3.9 MB of objects in the arguments of one call."""
    yield call(7, "count", b'{"a": [' + b"{}," * 1_300_000 + b"{}]}")


@attack
def members() -> Iterator[bytes]:
    """Send 330,000 members."""
    yield call("seven", "count", b"{" + b",".join(b'"%d": 1' % n for n in range(330_000)) + b"}")


@attack
def depth() -> Iterator[bytes]:
    """Send arrays inside one another."""
    yield call(7, "count", b'{"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}")


@attack
def hidden() -> Iterator[bytes]:
    """Send objects between quotes that are halves of other characters, in UTF-16."""
    text = call(7, "count", b'{"a": "\\u2200"}').decode().replace("\\u2200", "\u2200")
    yield text.replace('"a": ', '"b": [' + "{}," * 20_000 + '0], "a": ').encode("utf-16-le")


@attack
def answer() -> Iterator[bytes]:
    """Answer a question that nobody asked with 100,000 values."""
    yield (
        b'{"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": [' + b"1," * 100_000 + b"1]}}"
    )


@attack
def long_line() -> Iterator[bytes]:
    """Send 64 MB in one message."""
    yield call(7, "count", b'{"a": "' + b"x" * 64_000_000 + b'"}')


@attack
def notifications() -> Iterator[bytes]:
    """Send 5,000 notifications, of which the server does nothing."""
    for number in range(5_000):
        yield b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d}}' % number


@attack
def flood() -> Iterator[bytes]:
    """Send 11,001 notifications."""
    for _ in range(11_001):
        yield b'{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}'


@attack
def questions() -> Iterator[bytes]:
    """Send 5,000 requests, as an honest client may that waits for none."""
    for number in range(5_000):
        yield request(number, "ping")


@attack
def calls_at_once() -> Iterator[bytes]:
    """Make 1,500 calls that do not end."""
    for number in range(1_500):
        yield call(1_000 + number, "hang")
