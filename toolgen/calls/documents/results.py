"""A `ToolResult` as JSON: the one form in journals, events and the records of agents and HTTP clients.

Empty members are left out. `result_document` writes everything that `result_of` reads back. Events and HTTP
clients get `events.redaction.public_document`, which has no sensitive values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any, Final, cast

from pydantic_core import from_json, to_json

from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.limits import truncate_text
from toolgen.shapes.issues import FieldIssue, keys_of_path

from ..content import content_of
from ..errors import DeclaredError, NotBegunError, OutcomeUnknownError, RetryHint, ToolError, causes_of
from ..results import Artifact, ArtifactRef, RunLink, Telemetry, ToolResult, ToolStatus
from .types import (
    ArtifactDocument,
    BoundsDocument,
    ErrorDocument,
    IssueDocument,
    ResultDocument,
    RetryDocument,
    StoredResult,
)

FAILED: Final = frozenset({"error", "denied", "unknown"})
"""Statuses of calls that have an error instead of a result."""
_JOURNAL_LEVELS: Final = 12
"""Nesting levels of the journal documents around a value."""


def result_document(result: ToolResult, limit: int | None = None) -> StoredResult:
    """Return the document of a result, without the typed value and data that journals must not store.

    Error texts have at most `limit` bytes, and longer details are left out. Suspensions are left out too,
    because journals must not contain tokens.
    """
    facts = result_facts(result, limit)
    if result.json:
        facts |= _value_facts(result.json)
    if result.content:
        facts["content"] = [block.as_json() for block in result.content]
    if result.approved_by:
        facts["approved_by"] = result.approved_by
    if result.error is not None:
        facts |= _inexact_texts(result.error, result.retry_hint, limit)
    if result.retry_hint is not None and result.retry_hint.prior_input is not None:
        facts["prior_input"] = result.retry_hint.prior_input
    return cast(StoredResult, facts)


def result_facts(result: ToolResult, limit: int | None = None) -> dict[str, Any]:
    """Return the members of the document that events have too, except `result`."""
    facts: dict[str, Any] = {
        "tool": result.tool,
        "tool_call_id": result.tool_call_id,
        "status": result.status,
    }
    if result.error is not None:
        facts["error"] = _error_document(result.error, result, limit)
    if result.display:
        facts["display"] = result.display
    if (bounds := result.bounds) is not None:
        window: BoundsDocument = {"returned": bounds.returned, "truncated": bounds.truncated}
        if bounds.total is not None:
            window["total"] = bounds.total
        if bounds.refinement_hint is not None:
            window["refinement_hint"] = bounds.refinement_hint
        if bounds.next_cursor is not None:
            window["next_cursor"] = bounds.next_cursor
        facts["bounds"] = window
    if result.warnings:
        facts["warnings"] = [*map(issue_document, result.warnings)]
    if result.artifacts:
        facts["artifacts"] = [*map(artifact_document, result.artifacts)]
    if result.is_final:
        facts["is_final"] = True
    if (link := result.run_link) is not None:
        names = ("run_id", "agent", "parent_run_id", "parent_tool_call_id")
        facts["run_link"] = {name: getattr(link, name) for name in names}
        facts["run_link"]["children_count"] = result.children_count
    if result.telemetry is not None:
        facts["telemetry"] = {**vars(result.telemetry)}  # it is sparse, too
    return facts


def result_of(document: Mapping[str, Any]) -> ToolResult:
    """Return the result of a document, without the typed value and the artifacts, which need the tool."""
    link: dict[str, Any] = dict(document.get("run_link", {}))
    children = link.pop("children_count", 0)
    bounds, telemetry = document.get("bounds"), None
    if "telemetry" in document:
        telemetry = object.__new__(Telemetry)
        vars(telemetry).update(document["telemetry"])
    error = document.get("error")
    hint = None if error is None else hint_of(error, document["tool"])
    if hint is not None:
        texts = {name: document[name] for name in ("prior_input", "example_input") if name in document}
        hint = replace(hint, **texts)
    read = None if error is None else _error_of(error, hint, document["tool"], document["status"])
    if isinstance(read, DeclaredError) and "details_json" in document:
        read.details_json = document["details_json"].encode()
    return ToolResult(
        tool=document["tool"],
        status=document["status"],
        json=result_text(document).encode(),
        tool_call_id=document["tool_call_id"],
        error=read,
        retry_hint=hint,
        bounds=None if bounds is None else Bounds(**bounds),
        warnings=tuple(map(issue_of, document.get("warnings", ()))),
        content=tuple(map(content_of, document.get("content", ()))),
        display=document.get("display", ""),
        is_final=document.get("is_final", False),
        approved_by=document.get("approved_by", ""),
        run_link=RunLink(**link) if link else None,
        children_count=children,
        telemetry=telemetry,
    )


def result_text(document: Mapping[str, Any]) -> str:
    """Return the JSON text that the model reads; "" if there is nothing to read yet."""
    if "json" in document:
        return str(document["json"])
    return to_json(document["result"]).decode() if "result" in document else ""


def failure_document(
    tool: str, tool_call_id: str, status: ToolStatus, seen: dict[str, Json], **error: Any
) -> ResultDocument:
    """Return the document of a call without an executor's result; `seen` is the text for the model.

    `error` are further members of its `ErrorDocument`.
    """
    message = str(seen.get("error") or seen.get("unknown") or "")
    facts: dict[str, Any] = {"message": message, **error}
    if "code" in seen:
        facts["code"] = seen["code"]
    return {
        "tool": tool,
        "tool_call_id": tool_call_id,
        "status": status,
        "result": seen,
        "error": cast(ErrorDocument, facts),
    }


def _value_facts(text: bytes) -> dict[str, object]:
    """Return the model's result as a value, and also as text if encoding the value gives another text."""
    try:
        value, is_exact = _value(text)
    except ValueError:
        return {"json": text.decode(errors="replace")}
    return {"result": value} if is_exact else {"result": value, "json": text.decode()}


def _inexact_texts(error: ToolError, hint: RetryHint | None, limit: int | None) -> dict[str, str]:
    """Return the JSON texts of an error that encoding its values would not reproduce."""
    texts = {}
    if details := _details(error, limit):
        texts["details_json"] = details
    if hint is not None and hint.example_input is not None:
        texts["example_input"] = hint.example_input.encode(errors="replace")
    return {name: text.decode() for name, text in texts.items() if not _is_exact(text)}


def _details(error: ToolError, limit: int | None) -> bytes:
    """Return the details of an error; b"" if there are none, or if they are too long for the model."""
    details = error.details_json if isinstance(error, DeclaredError) else b""
    return details if limit is None or len(details) <= limit // 2 else b""


def _is_exact(text: bytes) -> bool:
    try:
        return _value(text)[1]
    except ValueError:
        return False


def journal_value(text: bytes) -> Json:
    """Return the value of JSON text for the documents of a journal.

    Raises:
        ValueError: a journal cannot store it: it is not JSON, is nested too deep, or has a number that Python
            or JSON lacks.
    """
    return _value(text)[0]


def _value(text: bytes) -> tuple[Json, bool]:
    """Return the value of `journal_value`, and whether encoding it reproduces the text."""
    nested = b"%b%b%b" % (b"[" * _JOURNAL_LEVELS, text, b"]" * _JOURNAL_LEVELS)
    value: Any = from_json(nested, allow_inf_nan=False)
    for _ in range(_JOURNAL_LEVELS):
        (value,) = value
    is_exact = to_json(value) == text
    if not is_exact and from_json(to_json(value, inf_nan_mode="null")) != value:
        raise ValueError("it contains an infinite number")
    return value, is_exact


def parsed(document: bytes) -> Json:
    """Return the value of a JSON document, with pydantic-core in a third of the time that `json` needs.

    `json` is the fallback for documents that pydantic-core rejects: more than 200 levels, an escaped lone
    surrogate.
    """
    try:
        value: Json = from_json(document)
    except ValueError:
        value = json.loads(document)
    return value


def _error_document(error: ToolError, result: ToolResult, limit: int | None) -> ErrorDocument:
    """Return the error of a call without a result; the code of a denial is taken from the model's text."""
    hint = result.retry_hint

    def text(value: str) -> str:
        return value if limit is None else truncate_text(value, limit)

    facts: dict[str, Any] = {"message": text(str(error))}
    if isinstance(error, DeclaredError | NotBegunError):
        facts["code"] = error.code
    elif result.status == "denied" and isinstance(seen := parsed(result.json), dict) and "code" in seen:
        facts["code"] = seen["code"]
    if details := _details(error, limit):
        with suppress(ValueError):
            facts["details"] = journal_value(details)
    if isinstance(error, NotBegunError):
        facts["has_begun"] = False
    if error.correlation_id is not None:
        facts["correlation_id"] = error.correlation_id
    if error.is_retryable:
        facts["is_retryable"] = True
    if causes := causes_of(error):
        facts["causes"] = [text(str(cause)) for cause in causes]
    if hint is not None:
        if hint.issues:
            facts["issues"] = [*map(issue_document, hint.issues)]
        if hint.more_issues:
            facts["more_issues"] = hint.more_issues
        if hint.example_input is not None:
            with suppress(ValueError):
                facts["example"] = journal_value(hint.example_input.encode(errors="replace"))
        facts["retry"] = _retry_document(hint, result.tool)
    return cast(ErrorDocument, facts)


def _retry_document(hint: RetryHint, tool: str) -> RetryDocument:
    facts: dict[str, Any] = {
        "reason": hint.reason,
        "tool": None if hint.tool == tool else hint.tool,
        "restrict_to_tool": hint.restrict_to_tool or None,
        "missing_fields": [*hint.missing_fields] or None,
        "question": hint.clarifying_question,
        "message": hint.message,
        "after_s": hint.retry_after if hint.retry_after is not None and isfinite(hint.retry_after) else None,
    }
    return cast(RetryDocument, {name: value for name, value in facts.items() if value is not None})


def hint_of(error: Mapping[str, Any], tool: str) -> RetryHint | None:
    """Return the retry hint in the error of a tool call; None if it has none."""
    retry = error.get("retry")
    if retry is None:
        return None
    return RetryHint(
        reason=retry["reason"],
        tool=retry.get("tool", tool),
        restrict_to_tool=retry.get("restrict_to_tool", False),
        missing_fields=tuple(retry.get("missing_fields", ())),
        issues=tuple(map(issue_of, error.get("issues", ()))),
        more_issues=error.get("more_issues", 0),
        example_input=to_json(error["example"]).decode() if "example" in error else None,
        clarifying_question=retry.get("question"),
        message=retry.get("message"),
        retry_after=retry.get("after_s"),
    )


def _error_of(error: Mapping[str, Any], hint: RetryHint | None, tool: str, status: str) -> ToolError:
    """Return the error of a document, with its class as far as the document contains it."""
    cause: ToolError | None = None
    for message in reversed(error.get("causes", ())):
        cause = ToolError(message, cause=cause)
    code = error.get("code")
    read: ToolError
    if error.get("has_begun") is False:
        read = NotBegunError(tool, "")
        ToolError.__init__(read, error["message"])
        read.code = str(code)
    elif code is not None and status == "error":
        details = to_json(error["details"]) if "details" in error else b""
        read = DeclaredError(error["message"], code=code, details_json=details)
    else:
        read = (OutcomeUnknownError if status == "unknown" else ToolError)(error["message"])
    read.cause, read.retry_hint = cause, hint
    read.correlation_id, read.is_retryable = error.get("correlation_id"), error.get("is_retryable", False)
    return read


def issue_document(issue: FieldIssue) -> IssueDocument:
    """Return an issue in the form for models, with its JSON Pointer for forms."""
    return cast(IssueDocument, {**issue.as_json(), "pointer": issue.pointer})


def issue_of(document: Mapping[str, Any]) -> FieldIssue:
    """Return the issue of a document."""
    allowed = document.get("allowed")
    return FieldIssue(
        keys=keys_of_path(document["path"]),
        constraint=document["constraint"],
        message=document["message"],
        expected=document.get("expected"),
        actual=document.get("actual"),
        allowed=None if allowed is None else tuple(allowed),
        limit=document.get("limit"),
    )


def artifact_document(artifact: Artifact) -> ArtifactDocument:
    """Return the reference to an artifact of a result, and the ID of the tool that created it."""
    from ..steps.result_storing import NO_STORE  # few results have artifacts

    ref = artifact.ref or ArtifactRef(kind=artifact.kind, not_stored_reason=NO_STORE)
    return ref_document(ref, artifact.source_tool)


def ref_document(ref: ArtifactRef, tool: str = "") -> ArtifactDocument:
    """Return the document of a reference to an artifact."""
    facts: ArtifactDocument = {
        "kind": ref.kind,
        "media_type": ref.media_type,
        "size": ref.size,
        "digest": ref.digest,
    }
    if ref.json:
        with suppress(ValueError):
            facts["data"] = journal_value(ref.json.encode())
    if ref.uri:
        facts["uri"] = ref.uri
    if ref.not_stored_reason:
        facts["not_stored_reason"] = ref.not_stored_reason
    if tool:
        facts["tool"] = tool
    return facts


def ref_of(document: Mapping[str, Any]) -> ArtifactRef:
    """Return the reference to an artifact."""
    return ArtifactRef(
        kind=document["kind"],
        uri=document.get("uri", ""),
        media_type=document["media_type"],
        size=document["size"],
        digest=document["digest"],
        json=to_json(document["data"]).decode() if "data" in document else "",
        not_stored_reason=document.get("not_stored_reason", ""),
    )
