"""Truncates outgoing documents and texts to their limits.

A truncated document is still JSON: an error of the same shape, or a marker in the place of a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic_core import from_json, to_json

from toolgen.contract.limits import LONGEST_CHARACTER
from toolgen.contract.portable import portable_text

from ..errors import ToolValidationError
from ..results import RetryHint

_ELLIPSIS: Final = "…"
_BY: Final = b"toolgen's size limit"


def truncate_text(text: str, limit: int) -> str:
    """Truncate a text to `limit` bytes of UTF-8; a truncated one ends with an ellipsis."""
    if len(text) * LONGEST_CHARACTER <= limit:
        return portable_text(text)
    data = text[: limit + 1].encode(errors="replace")
    return (
        data.decode() if len(data) <= limit else _beginning(data, limit - len(_ELLIPSIS.encode())) + _ELLIPSIS
    )


def decode_truncated(data: bytes, limit: int) -> str:
    """Decode an incoming document to a text of at most `limit` bytes."""
    if len(data) * LONGEST_CHARACTER <= limit:  # what is no UTF-8 becomes three bytes
        return data.decode(errors="replace")
    return truncate_text(data[: limit + 1].decode(errors="replace"), limit)


def truncate_document(document: bytes, limit: int, kept: str = "") -> bytes:
    """Return a JSON document, or the marker of a truncated one: its size, beginning and URI."""
    if len(document) <= limit:
        return document
    head = b'{"truncated_by":"%b","bytes":%d' % (_BY, len(document))
    where = b',"kept":%b' % to_json(kept) if kept else b""
    room = limit - len(b'%b,"shown":%d,"beginning":}' % (head, limit))
    if len(where) > room // 2:
        where = b""
    beginning = _literal(document, room - len(where), "")
    shown = len(from_json(beginning).encode())
    return b'%b,"shown":%d%b,"beginning":%b}' % (head, shown, where, beginning)


def is_truncated(document: bytes) -> bool:
    """Return whether a document is the marker of a truncated one."""
    return document.startswith(b'{"truncated_by":"%b",' % _BY)


def error_document(
    message: str, limit: int, *, code: str = "", details: bytes = b"", is_retryable: bool = False
) -> bytes:
    """Return the JSON document of an error, with its code if it has one, within `limit` bytes.

    Details that take more than half of the limit are left out, and the document says so.
    """
    tail = b',"code":%b' % to_json(code) if code else b""
    if is_retryable:
        tail += b',"retryable":true'
    if details:
        tail += b',"details":%b' % details if len(details) <= limit // 2 else b',"details_left_out":true'
    room = limit - len(b'{"error":%b}' % tail)
    return b'{"error":%b%b}' % (_literal(message.encode(errors="replace"), room, _ELLIPSIS), tail)


def unknown_document(message: str, limit: int) -> bytes:
    """Return the JSON document of a call whose outcome nobody knows, truncated to `limit` bytes."""
    room = limit - len(b'{"unknown":}')
    return b'{"unknown":%b}' % _literal(message.encode(errors="replace"), room, _ELLIPSIS)


def issues_document(message: str, limit: int, error: ToolValidationError, example: str | None) -> bytes:
    """Return the JSON document of invalid arguments: the issues that fit, the count of others, an example."""
    texts = [issue.as_bytes() for issue in error.issues]
    shown = b'"example":%b' % example.encode() if example is not None else b""
    whole = _refusal(to_json(message), texts, error, shown)
    if len(whole) <= limit:
        return whole
    least = len(_refusal(b"", [], error, b""))
    literal = _literal(message.encode(errors="replace"), limit - least, _ELLIPSIS)
    room = limit - least - len(literal)
    if len(shown) > room // 2:
        shown = b""
    room -= len(shown) + 1
    fitting = []
    for text in texts:
        if len(text) + 1 <= room:
            fitting.append(text)
            room -= len(text) + 1
    return _refusal(literal, fitting, error, shown)


def truncate_hint(hint: RetryHint, limit: int) -> RetryHint:
    """Truncate each text of a retry hint to `limit` bytes of UTF-8."""

    def within(text: str | None) -> str | None:
        return text and truncate_text(text, limit)

    texts = (hint.example_input, hint.prior_input, hint.clarifying_question, hint.message)
    whole = "".join([text for text in (*texts, hint.tool, *hint.missing_fields) if text])
    if whole.isascii() and len(whole) <= limit:
        return hint
    return replace(
        hint,
        tool=portable_text(hint.tool),
        missing_fields=tuple(map(portable_text, hint.missing_fields)),
        example_input=within(hint.example_input),
        prior_input=within(hint.prior_input),
        clarifying_question=within(hint.clarifying_question),
        message=within(hint.message),
    )


def _refusal(message: bytes, issues: Sequence[bytes], error: ToolValidationError, example: bytes) -> bytes:
    left = len(error.issues) - len(issues) + error.more
    name = b"more_issues" if error.is_counted else b"more_issues_at_least"
    more = b',"%b":%d' % (name, left) if left else b""
    after = b"," + example if example else b""
    return b'{"error":%b,"issues":[%b]%b%b}' % (message, b",".join(issues), more, after)


def _literal(data: bytes, limit: int, end: str) -> bytes:
    """Return the beginning of a text as a JSON string of at most `limit` bytes, its quotes included."""
    if len(data) <= limit and len(literal := to_json(data.decode())) <= limit:
        return literal
    shown = _beginning(data, limit - len(to_json(end)))
    excess = len(to_json(shown + end)) - limit
    if excess > 0:  # what is escaped is longer; a byte less of the text is at least one less of the literal
        whole = shown.encode()
        shown = _beginning(whole, len(whole) - excess)
    return to_json(shown + end)


def _beginning(data: bytes, size: int) -> str:
    return data[: max(0, size)].decode(errors="ignore")
