"""The Python types of a JSON value, its compact text, and the equality of JSON values."""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import Any, Final, TypeAlias

_compact: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""`json.dumps` with these options makes an encoder each time."""
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def compact(value: Json) -> str:
    """Return JSON without spaces, characters as they are."""
    return without_surrogates(_compact(value))


def indented(value: Json, step: str, margin: str = "") -> str:
    """Return JSON on several lines, characters as they are.

    `margin` is that of the line on which the value begins. The text is that of `json.dumps` with `indent`, in
    half of its time.
    """
    parts: list[str] = []
    _indent(value, step, f"\n{margin}", parts)
    return "".join(parts)


def _indent(value: Json, step: str, line: str, parts: list[str]) -> None:
    inner = line + step
    if isinstance(value, str):
        parts.append(encode_basestring(value))
    elif isinstance(value, dict) and value:
        before = "{"
        for key, part in value.items():
            start = f"{before}{inner}{encode_basestring(key)}: "
            before = ","
            if isinstance(part, str):
                parts.append(start + encode_basestring(part))
            else:
                parts.append(start)
                _indent(part, step, inner, parts)
        parts.append(f"{line}}}")
    elif isinstance(value, list) and value:
        before = "["
        for part in value:
            parts.append(before + inner)
            before = ","
            _indent(part, step, inner, parts)
        parts.append(f"{line}]")
    else:
        parts.append(json.dumps(value))


def without_surrogates(text: str) -> str:
    """Return the JSON text with lone surrogates escaped, which UTF-8 cannot hold."""
    if text.isascii():
        return text
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def identity(value: Any) -> Any:
    """Return a key that is equal for values that JSON Schema holds equal: 1 and 1.0, never 1 and true."""
    match value:
        case bool():
            return "boolean", value
        case list():
            return "array", tuple(map(identity, value))
        case dict():
            return "object", frozenset((key, identity(inner)) for key, inner in value.items())
        case _:
            return "scalar", value
