"""The record of a call for clients: its result without sensitive values."""

from __future__ import annotations

import json
from typing import cast
from urllib.parse import quote

from toolgen.calls.documents.results import FAILED
from toolgen.calls.documents.types import ArtifactDocument
from toolgen.calls.reports import Trace
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import scrubbed_json
from toolgen.events.redaction import public_artifact, public_document
from toolgen.runtime import (
    Limits,
    Runtime,
    ToolResult,
    ToolSpec,
    ToolValidationError,
    UnknownToolError,
)
from toolgen.runtime.public_views import hiding_arguments

from .problems import HTTPProblem
from .records import Call, Suspension

_Spec = ToolSpec


def spec_of(runtime: Runtime, tool: str) -> _Spec | None:
    """Return the spec of a registered tool; None if no tool has this name."""
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
    """Return the JSON record of a call with these arguments."""
    with hiding_arguments(arguments, spec):
        facts = public_document(result, spec)
        if result.status in FAILED:
            del facts["result"]  # the error contains it
        if result.artifacts:
            facts["artifacts"] = _artifacts(runtime, result, spec)
        if following := _next_arguments(result, spec, arguments):
            facts["next_arguments"] = following
        names = ("tool", "tool_call_id", "status")
        record = {name: value if name in names else scrubbed_json(value) for name, value in facts.items()}
    if waits:
        record["suspensions"] = waits
    if trace is not None:
        record["trace"] = [{"step": step.name, "duration_s": step.duration_s} for step in trace.steps]
    return cast(Call, {"id": call_id, **record})


def refusal_of(result: ToolResult, spec: _Spec, arguments: bytes, limits: Limits) -> HTTPProblem | None:
    """Return the problem for a call whose arguments were rejected before execution.

    None for any other call.
    """
    hint = result.retry_hint
    if result.status != "error" or hint is None or not hint.issues:
        return None
    try:
        spec.payload.decode_null_as_absent(arguments, limits)
    except ToolValidationError:
        more = f", and {hint.more_issues} more" if hint.more_issues else ""
        issues = hint.issues
        if spec.is_sensitive:
            issues = tuple(issue.without_other_keys(spec.payload.keys) for issue in issues)
        return HTTPProblem(
            "invalid-arguments", f"{hint.message}{more}", issues=issues, example=hint.example_input
        )
    return None  # the executor rejected the arguments that it was called with


def artifact_record(document: ArtifactDocument, view: str | None = None) -> ArtifactDocument:
    """Return a reference whose data is public already, with its URL for clients and its view."""
    if view:
        document["view"] = view
    if "uri" in document:
        document["href"] = artifact_href(document["uri"])
    return document


def artifact_href(uri: str) -> str:
    """Return the relative URL under which clients read the data of a URI."""
    return f"artifacts?uri={quote(uri, safe='')}"


def _artifacts(runtime: Runtime, result: ToolResult, spec: _Spec | None) -> list[ArtifactDocument]:
    records = []
    for artifact in result.artifacts:
        own = spec if spec is not None and artifact.source_tool in ("", spec.id) else None
        own = own or spec_of(runtime, artifact.source_tool)
        kind = None if own is None else own.artifacts.get(artifact.kind)
        records.append(artifact_record(public_artifact(artifact, own), None if kind is None else kind.view))
    return records


def _next_arguments(result: ToolResult, spec: _Spec | None, arguments: bytes) -> dict[str, Json] | None:
    """Return the arguments of the next page; None if there is none, or if they would be incomplete."""
    if result.bounds is None or not result.bounds.next_cursor or spec is None:
        return None
    cursor = spec.bounded.cursor if spec.bounded else None
    if cursor is None or spec.payload.sensitive:
        return None
    document = json.loads(arguments)
    return {**document, cursor: result.bounds.next_cursor} if isinstance(document, dict) else None
