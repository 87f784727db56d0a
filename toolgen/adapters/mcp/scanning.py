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
"""Keys and items of a message beside those of the document in it, such as of its `_meta`."""
ROOM_DEPTH: Final = 8
_ENDS: Final = 2**10
"""Bytes at the beginning and at the end in which an id is looked for."""
_BRACKET: Final = re.compile(rb"[\[{\]}]")
_ESCAPED_PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_ESCAPED_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]', re.DOTALL)
_METHOD: Final = re.compile(rb'"method"\s*:\s*(?:"([a-zA-Z/_]{1,100})")?')
_ID: Final = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,15}|"[^"\\\x00-\x1f]{0,200}")\s*[,}]')


def message_limits(document: Limits, size_bytes: int) -> Limits:
    """Return the limits of a message of so many bytes that holds one document with these limits."""
    keys, depth = document.keys + ROOM_KEYS, document.depth + ROOM_DEPTH
    return replace(document, bytes=size_bytes, keys=keys, depth=depth)


def exceeded(message: bytes, limits: Limits) -> str | None:
    """Return what a message has too much of, such as "more than 64 bytes of JSON"; None where it has not."""
    if (excess := exceeded_limit(message, limits)) is not None:
        return f"more than {excess.limit} {excess.what}"
    # Quotes of UTF-16 are found in other characters too.
    return "a null byte, which JSON in UTF-8 never contains" if b"\0" in message else None


def cut_to_depth(message: bytes, limits: Limits) -> bytes:
    """Return a message with null for each array and object beyond the depth of the limits.

    One with far more texts and brackets than the limits have keys, or that is no JSON, is returned as it is.
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
    """Return a message with U+FFFD for each escaped surrogate that is half of no pair; UTF-8 cannot hold it.

    Servers that cut a text within an emoji write such escapes. The message is measured, and one that is no
    JSON is returned as it is.
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
    """Return the id of a message of JSON-RPC without decoding it; None where there is none in sight.

    It is looked for before the first object or array in the message, and after the last one.
    """
    match = _ID.search(_head(message)) or _ID.search(_tail(message))
    if match is None:
        return None
    id_: int | str = json.loads(match[1])
    return id_


def is_answer(message: bytes) -> bool:
    """Return whether a message looks like a response, which has no method; it is not decoded."""
    return _found_method(message) is None


def method_of(message: bytes) -> str:
    """Return the method of a message of JSON-RPC without decoding it; "" where there is none in sight."""
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
