"""Errors of requests, phrased for the tool that made the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import ClassVar, Final
from urllib.parse import urlsplit

from toolgen.calls.errors import OutcomeUnknownError, ToolError
from toolgen.calls.results import RetryHint, RetryReason
from toolgen.contract.printable import visible
from toolgen.contract.record import frozen_record
from toolgen.contract.secrets import scrubbed

_LONGEST: Final = 2_000
"""Maximum number of characters of a server's failure text."""
_MOST_READ: Final = 10 * _LONGEST
_CHARSET: Final = re.compile(
    r"""charset="?(utf-16(?:le|be)?|us-ascii|latin-?1|iso-8859-(?:1[013-6]?|[2-9])|windows-125[0-8]"""
    r"""|koi8-[ru]|ibm866|macintosh|gb2312|gbk|gb18030|big5|euc-jp|euc-kr|shift_jis)(?![\w.:-])""",
    re.IGNORECASE,
)
"""Web encodings (WHATWG) that Python supports and that are compatible with ASCII, and UTF-16.

Other names are not looked up, because Python's codecs include `zlib` and `unicode_escape`.
"""
_BUSY: Final[Mapping[int, RetryReason]] = {
    429: "rate_limited",
    502: "tool_unavailable",
    503: "tool_unavailable",
    504: "tool_unavailable",
}
"""Statuses of temporary failures (RFC 9110, section 15.6; RFC 6585, section 4)."""


class NotConnectedError(Exception):
    """The connection failed: nothing of the request was sent."""

    may_pass: ClassVar = True
    """Whether another attempt might succeed."""


class RefusedAddressError(NotConnectedError):
    """The host is at an address that the design does not allow."""

    may_pass: ClassVar = False


class AnswerLostError(Exception):
    """The request was sent, but no complete answer arrived."""

    may_pass: ClassVar = True
    """Whether another request might get an answer."""


@frozen_record
class RequestFacts:
    """Facts of a request for errors."""

    name: str
    """Name of the tool; for a request without a tool, `Service.method`."""
    tool: str
    """Id of the tool."""
    server: str
    """Host of the service."""
    may_repeat: bool
    """Whether repeating the request has no further effect."""

    def hint(self, reason: RetryReason, message: str, retry_after: float | None = None) -> RetryHint:
        return RetryHint(reason=reason, tool=self.tool, message=message, retry_after=retry_after)


def not_connected(request: RequestFacts, why: str, *, may_pass: bool = True) -> ToolError:
    """Return the error for a request that was not sent."""
    message = f"{request.name} was not run: {request.server} cannot be reached: {shown(why)}"
    hint = request.hint("tool_unavailable", message) if may_pass else None
    return ToolError(message, retry_hint=hint, is_retryable=may_pass)


def answer_lost(
    request: RequestFacts, why: str, reason: RetryReason = "tool_unavailable", *, may_pass: bool = True
) -> ToolError:
    """Return the error for a request without an answer; its outcome is unknown if it must not be repeated."""
    message = f"{request.name} has no result: {shown(why)}"
    if not request.may_repeat:
        return OutcomeUnknownError(f"{message}; it may have run")
    return ToolError(message, retry_hint=request.hint(reason, message), is_retryable=may_pass)


def malformed(request: RequestFacts, why: str) -> ToolError:
    """Return the error for an answer that is not a valid result: the request has been executed."""
    message = f"{request.name} ran; its result could not be read: {request.server} answered {shown(why)}"
    hint = request.hint("malformed_response", message) if request.may_repeat else None
    return ToolError(message, retry_hint=hint)


def refused(request: RequestFacts, status: int, headers: Mapping[str, str], body: bytes) -> ToolError:
    """Return the error for a status that the design does not declare, with the beginning of the body."""
    quoted = shown(text_of_body(headers, body))
    message = (
        f"{request.name} failed: {request.server} answered with status {status}{quoted and ': '}{quoted}"
    )
    hint = busy(request, status, headers, message)
    return ToolError(message, retry_hint=hint, is_retryable=hint is not None)


def busy(request: RequestFacts, status: int, headers: Mapping[str, str], message: str) -> RetryHint | None:
    """Return when to retry a request, by its status and Retry-After; None if the failure is not temporary."""
    if status not in _BUSY:
        return None
    return request.hint(_BUSY[status], message, retry_after_s(headers))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in the header Retry-After; None without it (RFC 9110, section 10.2.3).

    A date is relative to the Date of the answer, because it is based on the server's clock.
    """
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        until, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def text_of_body(headers: Mapping[str, str], body: bytes) -> str:
    """Return the beginning of an answer's body as text."""
    return body[: 4 * _MOST_READ].decode(charset_of(headers), errors="replace")


def charset_of(headers: Mapping[str, str]) -> str:
    """Return the encoding in Content-Type, in lower case; UTF-8 if it is missing or unsupported."""
    charset = _CHARSET.search(headers.get("content-type", ""))
    return "utf-8" if charset is None else charset[1].lower()


def shown(text: str) -> str:
    """Return a third-party text on one line, shortened, without the secrets of the running call."""
    line = " ".join(scrubbed(text[:_MOST_READ]).split())
    clean = scrubbed(visible(line))
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 1]}…"


def place(url: str) -> str:
    """Return a URL without parts that may be secret: no user, no query."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "no address"
    host = f"{parts.scheme}://{parts.hostname}{port}" if parts.hostname else ""
    return shown(f"{host}{parts.path}")
