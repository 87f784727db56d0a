"""The limits of documents: incoming ones are checked before they are decoded, outgoing ones truncated.

Sizes are first bounded by counts, which cost almost nothing compared with decoding. Only a document whose
counts exceed a limit is measured exactly. Text that is not JSON is measured as far as its quotes allow, and
rejected by the decoder.

A text for people can be a template, with fields of a payload or of a result in braces, each truncated.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from .record import frozen_record

LEAST_RESULT_BYTES: Final = 100
"""Minimum size limit in bytes, enough for the marker of a truncated result."""
LONGEST_CHARACTER: Final = 4
"""Maximum number of bytes per character in UTF-8."""
ELLIPSIS: Final = "…"
_LONG: Final = 4_096
"""Number of characters above which a document is searched instead of counted."""
_PART: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_LONGEST_SHOWN: Final = 200
"""Maximum number of characters of one value that are shown to a person."""
_PIECE: Final = 2**16
"""Number of bytes to measure at a time, so that measuring needs little additional memory."""
_NO_BRACKETS: Final = bytes(code for code in range(256) if code not in b"[]{}")
_AS_ARRAYS: Final = bytes.maketrans(b"{}", b"[]")


@frozen_record
class Limits:
    """Maximum sizes of documents, for all tools of a runtime.

    The defaults are far above what tools need: of 3,980 recorded arguments and results of real tools, the
    longest has 2,867 bytes, the deepest 9 levels and the fullest 163 keys.

    Raises:
        ValueError: A limit is below 1, `result_bytes` is below 100, or one of the last two is negative.
    """

    bytes: int = 4 * 2**20
    """Size of an incoming document: arguments, an answer, a delivered result."""
    depth: int = 64
    """Levels of nested arrays and objects in an incoming document."""
    keys: int = 10_000
    """Number of all object members and array items of an incoming document."""
    issues: int = 20
    """Number of issues that are reported for a document; further ones are counted."""
    result_bytes: int = 4 * 2**20
    """Size of an outgoing document: a result, an error, an acknowledgement, a text of an event.

    A tool's own `max_result_bytes` takes precedence.
    """
    inline_artifact_bytes: int = 16 * 2**10
    """Size up to which the data of an artifact is part of its reference, in events and conversations."""
    attached_bytes: int = 10 * 2**20
    """Size of a person's file, and of all files of a model request together."""
    small_bytes: int = field(init=False, repr=False, compare=False)
    """Internal: a document up to this size is within all limits."""

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises:
            ValueError: a limit is not positive, or leaves no room for a marker.
        """
        for name in ("bytes", "depth", "keys", "issues"):
            if getattr(self, name) < 1:
                raise ValueError(f"Limits({name}={getattr(self, name)}); it must be at least 1")
        if self.result_bytes < LEAST_RESULT_BYTES:
            raise ValueError(
                f"Limits(result_bytes={self.result_bytes}); it must be at least {LEAST_RESULT_BYTES}, "
                "the size of the marker of a truncated result"
            )
        for name in ("inline_artifact_bytes", "attached_bytes"):
            if getattr(self, name) < 0:
                raise ValueError(f"Limits({name}={getattr(self, name)}); it must be at least 0")
        # A level takes two bytes, a key takes one byte and its comma.
        small = min(self.bytes // LONGEST_CHARACTER, 2 * self.depth, self.keys)
        object.__setattr__(self, "small_bytes", small)


DEFAULT_LIMITS: Final = Limits()
UNLIMITED: Final = Limits(bytes=sys.maxsize, depth=sys.maxsize, keys=sys.maxsize, result_bytes=sys.maxsize)
"""Limits of documents that were within the limits when they arrived, or that an executor created.

They have no limit of size, depth or keys, but still at most 20 issues are built.
"""


@frozen_record
class LimitExceeded:
    """A limit that a document exceeds."""

    limit: int
    what: str
    """Counted parts, such as "bytes of JSON"."""
    size: int | None = None
    """Number of counted parts; None if they were not counted."""

    @property
    def message(self) -> str:
        """Sentence for the model: "must have at most 64 bytes of JSON, not 80"."""
        counted = "" if self.size is None else f", not {self.size}"
        return f"must have at most {self.limit} {self.what}{counted}"


def exceeded_limit(data: bytes | str, limits: Limits) -> LimitExceeded | None:
    """Return the limit that a JSON document exceeds; None if it is within all limits."""
    size = len(data)
    if size > limits.bytes // LONGEST_CHARACTER and isinstance(data, str):
        size = len(data.encode(errors="replace"))
    if size > limits.bytes:
        return LimitExceeded(limit=limits.bytes, what="bytes of JSON", size=size)
    is_deep = _opens_more(data, limits.depth)
    if (
        size > limits.keys
        and (keys := count_keys(data, limits.keys, None if is_deep else limits.depth)) > limits.keys
    ):
        return LimitExceeded(limit=limits.keys, what="keys and items in all", size=keys)
    if is_deep and _is_deeper(data, limits.depth):
        return LimitExceeded(limit=limits.depth, what="arrays and objects inside one another")
    return None


def count_keys(data: bytes | str, most: int, opened: int | None = None) -> int:
    """Return the number of members and items of a JSON document, or an upper bound that is at most `most`.

    `opened` is an upper bound of its arrays and objects, if one is known.
    """
    if opened is None:
        opened = _count(data, "{") + _count(data, "[")
    bound = _count(data, ",") + opened
    return bound if bound <= most else _keys(data)


def _opens_more(data: bytes | str, most: int) -> bool:
    """Return whether a document has more than `most` opening brackets, including those in strings."""
    if len(data) < _LONG:
        return _count(data, "{") + _count(data, "[") > most
    remaining = most  # searching for the next one is 40 times as fast as counting
    for character in "{[":
        wanted = character if isinstance(data, str) else character.encode()
        at = data.find(wanted)  # type: ignore[arg-type]  # of the same type
        while at >= 0:
            remaining -= 1
            if remaining < 0:
                return True
            at = data.find(wanted, at + 1)  # type: ignore[arg-type]  # as above
    return False


def _count(data: bytes | str, character: str) -> int:
    return data.count(character) if isinstance(data, str) else data.count(character.encode())


def _keys(data: bytes | str) -> int:
    """Return the number of members and items: the commas, plus one for each non-empty array or object."""
    keys, last = 0, b""
    for values in _values(data):
        keys += values.count(b",") + values.count(b"{") + values.count(b"[")
        joined = last + values  # a bracket may be closed in the next piece
        keys -= joined.count(b"{}") + joined.count(b"[]")
        last = joined[-1:]
    return keys


def _is_deeper(data: bytes | str, depth: int) -> bool:
    """Return whether arrays and objects are nested deeper than `depth`."""
    brackets = b"".join(values.translate(_AS_ARRAYS, _NO_BRACKETS) for values in _values(data))
    if brackets.count(b"[") != brackets.count(b"]"):
        return False  # not JSON; the decoder rejects it
    for _ in range(depth):
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets


def _values(data: bytes | str) -> Iterator[bytes]:
    """Yield a document in pieces without white space, with 0 in place of each string."""
    data = data if isinstance(data, bytes) else data.encode(errors="replace")
    start, is_text = 0, False
    while start < len(data):
        piece = data[start : start + _PIECE]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and len(piece) > 1:  # no piece ends within an escape
            piece = piece[:-1]
        start += len(piece)
        for escape in (b"\\\\", b'\\"'):  # in this order: an escaped backslash does not escape a quote
            piece = piece.replace(escape, b"")
        parts = piece.split(b'"')
        outside = parts[is_text::2]
        is_text ^= len(parts) % 2 == 0
        yield b"0".join([*outside, b""] if is_text else outside).translate(None, b" \t\r\n")


def portable_text(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, replaced with question marks.

    They come from file names that are not UTF-8 (PEP 383), and from JSON with half of an escaped surrogate
    pair.
    """
    return text if text.isascii() else text.encode(errors="replace").decode()


def truncate_text(text: str, limit: int) -> str:
    """Truncate a text to `limit` bytes of UTF-8; a truncated text ends with an ellipsis."""
    if len(text) * LONGEST_CHARACTER <= limit:
        return portable_text(text)
    data = text[: limit + 1].encode(errors="replace")
    return data.decode() if len(data) <= limit else beginning(data, limit - len(ELLIPSIS.encode())) + ELLIPSIS


def decode_truncated(data: bytes, limit: int) -> str:
    """Decode an incoming document to a text of at most `limit` bytes."""
    if len(data) * LONGEST_CHARACTER <= limit:  # an invalid byte becomes three bytes
        return data.decode(errors="replace")
    return truncate_text(data[: limit + 1].decode(errors="replace"), limit)


def beginning(data: bytes, size: int) -> str:
    """Return the first bytes as text, without an incomplete character at the end."""
    return data[: max(0, size)].decode(errors="ignore")


def render_template(template: str, values: Mapping[str, Any], *, longest: int | None = _LONGEST_SHOWN) -> str:
    """Render a hint template with its values; `{{` is a brace, an absent value is empty.

    Each value is truncated to `longest` characters, followed by the number of further characters; None for no
    limit.
    """

    def part(match: re.Match[str]) -> str:
        return match[0][0] if match[1] is None else _text(values.get(match[1]), longest)

    return _PART.sub(part, template)


def is_shortened_by(template: str, values: Mapping[str, Any]) -> bool:
    """Return whether rendering the template shortens a value."""
    names = [match[1] for match in _PART.finditer(template) if match[1] is not None]
    return any(len(_whole(values.get(name))) > _LONGEST_SHOWN for name in names)


def _text(value: Any, longest: int | None) -> str:
    text = _whole(value)
    if longest is None or len(text) <= longest:
        return text
    return f"{text[:longest]}… [{len(text) - longest:,} more characters]"


def _whole(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
