"""The record of a call: its result as clients get it, without sensitive values."""

from __future__ import annotations

import json
from typing import Any, cast
from urllib.parse import quote

from pydantic_core import from_json

from toolgen.calls.errors import causes_of
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import scrubbed_json
from toolgen.events.redaction import public_artifact, public_result, public_warnings
from toolgen.runtime import (
    ArtifactRef,
    Bounds,
    DeclaredError,
    FieldIssue,
    Limits,
    NotBegunError,
    Runtime,
    ToolResult,
    ToolSpec,
    ToolValidationError,
    Trace,
    UnknownToolError,
)
from toolgen.runtime.public_views import hiding_arguments

from .problems import Problem, issue_record
from .records import ArtifactRecord, Call, CallFailure, Suspension
from .records import Bounds as BoundsRecord

_Spec = ToolSpec[Any, Any]


def spec_of(runtime: Runtime, tool: str) -> _Spec | None:
    """Return the spec of a registered tool; None where there is none of this name."""
    try:
        return runtime.tools.spec(tool)
    except UnknownToolError:
        return None


def call_record(
    runtime: Runtime,
    call_id: str,
    result: ToolResult,
    spec: _Spec | None,
    arguments: bytes,
    *,
    waits: list[Suspension] | None = None,
    trace: Trace | None = None,
) -> Call:
    """Return the record of a call with these arguments, as JSON."""
    with hiding_arguments(arguments, spec):
        shown = public_result(result, spec)
        facts: dict[str, Any] = {
            "result": shown if result.status in ("ok", "pending") else None,
            "error": _failure(result, spec, shown),
            "display": result.display,
            "bounds": None if result.bounds is None else bounds_record(result.bounds),
            "warnings": [*map(issue_record, public_warnings(result, spec))],
            "next_arguments": _next_arguments(result, spec, arguments),
            "artifacts": _artifacts(runtime, result, spec),
            "content": [block.as_json() for block in result.content],
            "run_id": "" if result.run_link is None else result.run_link.run_id,
        }
        record = scrubbed_json({key: value for key, value in facts.items() if value not in (None, "", [])})
    if result.status == "ok" and "result" not in record:
        record["result"] = shown  # null, an empty text or an empty list is a result
    head: dict[str, Any] = {
        "id": call_id,
        "tool": result.tool,
        "tool_call_id": result.tool_call_id,
        "status": result.status,
    }
    if waits:
        record["suspensions"] = waits
    if trace is not None:
        record["trace"] = [{"step": step.name, "duration_s": step.duration_s} for step in trace.steps]
    return cast(Call, head | record)


def refusal_of(result: ToolResult, spec: _Spec, arguments: bytes, limits: Limits) -> Problem | None:
    """Return the problem of a call whose arguments were refused before anything ran; None for any other."""
    hint = result.retry_hint
    if result.status != "error" or hint is None or not hint.issues:
        return None
    try:
        spec.payload.decode_lenient(arguments, limits)
    except ToolValidationError:
        more = f", and {hint.more_issues} more" if hint.more_issues else ""
        issues = _public_issues(hint.issues, spec)
        return Problem(
            "invalid-arguments", f"{hint.message}{more}", issues=issues, example=hint.example_input
        )
    return None  # the executor says so of what it was called with


def artifact_record(ref: ArtifactRef, view: str | None = None, **facts: str) -> ArtifactRecord:
    """Return the record of a reference whose data is public already."""
    optional: dict[str, Any] = {
        "view": view,
        "data": from_json(ref.json) if ref.json else None,
        "uri": ref.uri,
        "href": f"artifacts?uri={quote(ref.uri, safe='')}" if ref.uri else "",
        "not_stored_reason": ref.not_kept,
        **facts,
    }
    head: dict[str, Any] = {
        "kind": ref.kind,
        "media_type": ref.media_type,
        "size": ref.size,
        "digest": ref.digest,
    }
    return cast(ArtifactRecord, head | {key: value for key, value in optional.items() if value})


def bounds_record(bounds: Bounds) -> BoundsRecord:
    """Return the record of bounds."""
    optional: dict[str, Any] = {
        "total": bounds.total,
        "refinement_hint": bounds.refinement_hint,
        "next_cursor": bounds.next_cursor,
    }
    record: dict[str, Any] = {"returned": bounds.returned, "truncated": bounds.truncated}
    return cast(BoundsRecord, record | {key: value for key, value in optional.items() if value is not None})


def _artifacts(runtime: Runtime, result: ToolResult, spec: _Spec | None) -> list[ArtifactRecord]:
    records = []
    for artifact in result.artifacts:
        own = spec if spec is not None and artifact.source_tool in ("", spec.id) else None
        own = own or spec_of(runtime, artifact.source_tool)
        kind = None if own is None else own.artifacts.get(artifact.kind)
        records.append(artifact_record(public_artifact(artifact, own), None if kind is None else kind.view))
    return records


def _failure(result: ToolResult, spec: _Spec | None, shown: Json) -> CallFailure | None:
    """Return why a call has no result; None where it has one, or will have."""
    if result.status not in ("error", "denied", "unknown"):
        return None
    error, hint = result.error, result.retry_hint
    seen: dict[str, Any] = shown if isinstance(shown, dict) else {}
    message = str(error) if error is not None else str(seen.get("error") or seen.get("unknown") or "")
    code = error.code if isinstance(error, DeclaredError | NotBegunError) else seen.get("code", "")
    issues = () if hint is None else _public_issues(hint.issues, spec)
    retry: dict[str, Any] = {}
    if hint is not None:
        retry = {
            "reason": hint.reason,
            "restrict_to_tool": hint.restrict_to_tool,
            "after_s": hint.retry_after,
        }
    facts: dict[str, Any] = {
        "code": code,
        "details": seen.get("details"),
        "issues": [*map(issue_record, issues)],
        "example": from_json(hint.example_input) if hint is not None and hint.example_input else None,
        "causes": [*map(str, causes_of(error))],
        "correlation_id": error.correlation_id if error is not None else None,
        "retry": {key: value for key, value in retry.items() if value},
    }
    failure: dict[str, Any] = {"message": message or "it has no result"}
    return cast(CallFailure, failure | {key: value for key, value in facts.items() if value})


def _public_issues(issues: tuple[FieldIssue, ...], spec: _Spec | None) -> tuple[FieldIssue, ...]:
    """Return issues that quote no key which may be a sensitive value."""
    if spec is None or not spec.is_sensitive:
        return issues
    return tuple(issue.without_other_keys(spec.payload.keys) for issue in issues)


def _next_arguments(result: ToolResult, spec: _Spec | None, arguments: bytes) -> dict[str, Json] | None:
    """Return the arguments of the next page; None where there is none, or they would not be whole."""
    if result.bounds is None or not result.bounds.next_cursor or spec is None:
        return None
    cursor = spec.bounded.cursor if spec.bounded else None
    if cursor is None or spec.payload.sensitive:
        return None
    made = json.loads(arguments)
    return {**made, cursor: result.bounds.next_cursor} if isinstance(made, dict) else None
