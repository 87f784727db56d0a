"""The Python types of a JSON value, its compact text, and the equality of JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final, TypeAlias

_compact: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Created once, because `json.dumps` with these options creates an encoder each time."""
_quoted: Final = json.encoder.encode_basestring
"""Returns a text as JSON; an encoder would look for its type first."""
_HEAD: Final = 1_000
_HTML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
HTML_HINT: Final = "it is a web page; save the JSON itself, which the page may link as 'raw' or 'download'"
"""Hint for an HTML page instead of JSON."""
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""


def compact(value: Json) -> str:
    """Return JSON without spaces and without escaping non-ASCII characters."""
    return without_surrogates(_compact(value))


def indented(value: Any, margin: str = "\n") -> str:
    """Return JSON with a line for each value, like `json.dumps` with an indent of two, but faster."""
    if isinstance(value, str):
        return _quoted(value)
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        texts = map(indented, value.values(), repeat(inner))  # one frame per level
        lines = [f"{_quoted(key)}: {text}" for key, text in zip(value, list(texts), strict=True)]
        return f"{{{inner}{f',{inner}'.join(lines)}{margin}}}"
    if isinstance(value, (list, tuple)) and value:
        return f"[{inner}{f',{inner}'.join(map(indented, value, repeat(inner)))}{margin}]"
    return _compact(value)


def is_json(value: Json) -> bool:
    """Return whether a value can be written as JSON: no number in it is infinite or NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def without_surrogates(text: str) -> str:
    """Return the JSON text with lone surrogates escaped, because UTF-8 cannot encode them."""
    if text.isascii():
        return text
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def is_html(data: bytes) -> bool:
    """Return whether a file is an HTML page, which people often save instead of JSON."""
    return _HTML.match(data[:_HEAD]) is not None


def values_in(value: object) -> Iterator[object]:
    """Yield a JSON value and all values in it, each after the value that contains it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part


def size_of(value: object) -> int:
    """Return the number of values in a JSON value, including itself."""
    size = 1
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if (
            items := part.values()
            if isinstance(part, dict)
            else part
            if isinstance(part, (list, tuple))
            else ()
        ):
            size += len(items)
            waiting += [each for each in items if isinstance(each, (dict, list, tuple))]
    return size


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a JSON value, including itself."""
    return (part for part in values_in(value) if isinstance(part, dict))


def identity(value: object) -> object:
    """Return a key that is equal for values that JSON Schema treats as equal: 1 and 1.0, never 1 and true."""
    match value:
        case bool():
            return "boolean", value
        case list():
            return "array", tuple(map(identity, value))
        case dict():
            return "object", frozenset((key, identity(inner)) for key, inner in value.items())
        case _:
            return "scalar", value
