"""Measures the content of MCP messages before the SDK decodes them, in both directions.

A decoder creates an object for each brace, so the size of a message hardly tells its cost. The work here is
linear in the bytes. Text that is not JSON is left to the decoder.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Final

from toolgen.contract.limits import Limits, exceeded_limit

ROOM_KEYS: Final = 1_000
"""Keys and items allowed in a message besides those of its document, for example for `_meta`."""
ROOM_DEPTH: Final = 8
_ENDS: Final = 2**10
"""Number of bytes at each end in which an id is searched."""
_BRACKET: Final = re.compile(rb"[\[{\]}]")
_ESCAPED_PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_ESCAPED_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]', re.DOTALL)
_METHOD: Final = re.compile(rb'"method"\s*:\s*(?:"([a-zA-Z/_]{1,100})")?')
_ID: Final = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,15}|"[^"\\\x00-\x1f]{0,200}")\s*[,}]')


def message_limits(document: Limits, size_bytes: int) -> Limits:
    """Return the limits of a message of `size_bytes` that contains one document with these limits."""
    keys, depth = document.keys + ROOM_KEYS, document.depth + ROOM_DEPTH
    return replace(document, bytes=size_bytes, keys=keys, depth=depth)


def exceeded(message: bytes, limits: Limits) -> str | None:
    """Return which limit a message exceeds, for example "more than 64 bytes of JSON"; None if none."""
    if (excess := exceeded_limit(message, limits)) is not None:
        return f"more than {excess.limit} {excess.what}"
    # In UTF-16, bytes of other characters look like quotes.
    return "a null byte, which JSON in UTF-8 never contains" if b"\0" in message else None


def cut_to_depth(message: bytes, limits: Limits) -> bytes:
    """Return a message in which arrays and objects beyond the depth limit are replaced by null.

    A message with far more strings and brackets than the key limit, or one that is not JSON, is unchanged.
    """
    parts: list[bytes] = []
    end = level = 0
    for number, token in enumerate(_TOKEN.finditer(message)):
        if number > 4 * limits.keys:
            return message
        if token[0] in (b"[", b"{"):
            level += 1
            if level == limits.depth + 1:
                parts += (message[end : token.start()], b"null")
        elif token[0] in (b"]", b"}"):
            if level == limits.depth + 1:
                end = token.end()
            level -= 1
    return message if level else b"".join((*parts, message[end:]))


def without_lone_surrogates(message: bytes) -> bytes:
    """Return a message with U+FFFD for each escaped lone surrogate, which UTF-8 cannot encode.

    Servers that cut a text within an emoji write such escapes. The message must have been measured, and is
    unchanged if it is not JSON.
    """
    if _ESCAPED_SURROGATE.search(message) is None:
        return message
    escapes = message.replace(rb"\\", b"")
    if _ESCAPED_SURROGATE.search(_ESCAPED_PAIR.sub(b"", escapes)) is None:
        return message
    try:
        text = json.dumps(json.loads(message), ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return message
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def id_of(message: bytes) -> int | str | None:
    """Return the id of a JSON-RPC message without decoding it; None if none is found.

    The id is searched before the first inner object or array of the message, and after the last one.
    """
    match = _ID.search(_head(message)) or _ID.search(_tail(message))
    if match is None:
        return None
    id_: int | str = json.loads(match[1])
    return id_


def is_answer(message: bytes) -> bool:
    """Return whether a message looks like a response, which has no method, without decoding it."""
    return _found_method(message) is None


def method_of(message: bytes) -> str:
    """Return the method of a JSON-RPC message without decoding it; "" if none is found."""
    match = _found_method(message)
    return "" if match is None else (match[1] or b"").decode()


def _found_method(message: bytes) -> re.Match[bytes] | None:
    return _METHOD.search(_head(message)) or _METHOD.search(_tail(message))


def _head(message: bytes) -> bytes:
    start = message[:_ENDS]
    brackets = [bracket.end() for bracket in _BRACKET.finditer(start)]
    return start[: brackets[1]] if len(brackets) > 1 else start


def _tail(message: bytes) -> bytes:
    end = message[-_ENDS:]
    brackets = [bracket.end() for bracket in _BRACKET.finditer(end)]
    return end[brackets[-2] :] if len(brackets) > 1 else end
