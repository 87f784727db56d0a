"""Errors as problem details (RFC 9457), and the mapping from exceptions to problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import from_json, to_json
from starlette.responses import Response

from toolgen.agents import (
    BadFileError,
    EndedSessionError,
    InterruptsNotAllowedError,
    SessionBusyError,
    UnknownSessionError,
)
from toolgen.calls.documents.results import issue_document
from toolgen.calls.errors import UnknownArtifactError
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import log_failure, logger
from toolgen.engines import UnknownRunError, UnsettledAnswerError
from toolgen.runtime import FieldIssue, UnknownToolError
from toolgen.stores import StoreError
from toolgen.waiting import errors as waiting
from toolgen.waiting.once_call import ResolveError

log = logger("toolgen.http")

TYPE: Final = "urn:toolgen:problem:"
"""Prefix of the `type` of each problem."""
MEDIA_TYPE: Final = "application/problem+json"
FRESH: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of dynamic responses: they are never cached, and browsers do not guess their media type."""

PROBLEMS: Final[Mapping[str, tuple[int, str]]] = {
    "invalid-request": (400, "Invalid request"),
    "unauthenticated": (401, "Unauthenticated"),
    "forbidden": (403, "Forbidden"),
    "not-found": (404, "Not found"),
    "unknown-tool": (404, "Unknown tool"),
    "method-not-allowed": (405, "Method not allowed"),
    "request-timeout": (408, "Request timeout"),
    "conflict": (409, "Conflict"),
    "suspension-ended": (409, "The suspension has ended"),
    "not-sealed": (409, "The suspension is not sealed"),
    "content-too-large": (413, "Content too large"),
    "unsupported-media-type": (415, "Unsupported media type"),
    "misdirected-request": (421, "Misdirected request"),
    "invalid-arguments": (422, "Invalid arguments"),
    "invalid-answer": (422, "Invalid answer"),
    "idempotency-key-reused": (422, "The idempotency key was used for another request"),
    "too-many-requests": (429, "Too many requests"),
    "internal-error": (500, "Internal error"),
    "not-implemented": (501, "Not implemented by this server"),
    "unavailable": (503, "Unavailable"),
}
"""Status and title of each problem."""
_RETRY_STATUSES: Final = (429, 503)

_OF_ERRORS: Final[Sequence[tuple[type[Exception], str]]] = (
    (UnknownToolError, "unknown-tool"),
    (UnknownRunError, "not-found"),
    (UnknownSessionError, "not-found"),
    (UnknownArtifactError, "not-found"),
    (waiting.UnknownSuspensionError, "not-found"),
    (waiting.UnknownGrantError, "not-found"),
    (waiting.ForeignAnswerError, "not-found"),
    (waiting.BadAnswerError, "invalid-answer"),
    (waiting.NotAllowedAnswerError, "forbidden"),
    (waiting.LateAnswerError, "suspension-ended"),
    (waiting.TamperedSuspensionError, "not-sealed"),
    (waiting.UnsealedSuspensionError, "not-sealed"),
    (waiting.NoEngineError, "not-implemented"),
    (waiting.MissingToolError, "unavailable"),
    (waiting.SuspensionError, "conflict"),
    (UnsettledAnswerError, "unavailable"),
    (InterruptsNotAllowedError, "forbidden"),
    (BadFileError, "invalid-request"),
    (SessionBusyError, "conflict"),
    (EndedSessionError, "conflict"),
    (ResolveError, "conflict"),
)
"""Problem for each error type; the first matching type applies."""


class HTTPProblem(Exception):
    """Refused request, reported as problem details."""

    def __init__(
        self,
        name: str,
        detail: str = "",
        *,
        hint: str = "",
        issues: Sequence[FieldIssue] = (),
        example: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Create one of `PROBLEMS`, with the issues of a document, and the JSON text of a valid example."""
        super().__init__(detail)
        self.name = name
        self.status, self._title = PROBLEMS[name]
        self._headers = dict(headers or {})
        facts: dict[str, Any] = {"detail": detail, "hint": hint, "issues": [*map(issue_document, issues)]}
        self._facts = {key: value for key, value in facts.items() if value}
        self._example = example

    def response(self) -> Response:
        """Return the HTTP response for this problem."""
        head = {"type": f"{TYPE}{self.name}", "title": self._title, "status": self.status}
        if self._example is not None:
            self._facts["example"] = from_json(self._example)
        retry = {"Retry-After": "1"} if self.status in _RETRY_STATUSES else {}
        headers = {**FRESH, **retry, **self._headers}
        return Response(to_json({**head, **self._facts}), self.status, headers, MEDIA_TYPE)


def problem_of(error: Exception, operation: str) -> HTTPProblem:
    """Return the problem for an error.

    Unexpected errors are logged, and the problem contains the log reference.
    """
    if isinstance(error, HTTPProblem):
        return error
    if isinstance(error, StoreError):  # the response names neither a file nor a server
        log.error("%s failed: %s", operation, error)
        return HTTPProblem("unavailable", error.public_text)
    for kind, name in _OF_ERRORS:
        if isinstance(error, kind):
            message = error.message if isinstance(error, ToolgenError) else str(error)
            hint = (error.hint or "") if isinstance(error, ToolgenError) else ""
            issues = error.issues if isinstance(error, waiting.BadAnswerError) else ()
            return HTTPProblem(name, message, hint=hint, issues=issues)
    reference = log_failure(log, error, "%s failed", operation)
    return HTTPProblem(
        "internal-error", f"the request failed; the log has the details (reference {reference})"
    )
