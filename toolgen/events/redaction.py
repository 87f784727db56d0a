"""Public view of calls and results, for events, spans and commands."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from pydantic_core import from_json, to_json

from toolgen.calls.codec import Codec
from toolgen.calls.documents.results import (
    artifact_document,
    issue_document,
    journal_value,
    parsed,
    result_facts,
)
from toolgen.calls.documents.types import ArtifactDocument
from toolgen.calls.errors import DeclaredError, MalformedResultError, ToolValidationError
from toolgen.calls.results import Artifact, ToolResult
from toolgen.calls.sensitive import note_document, unvalidated_places
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.result_encoding import is_truncated, truncation_marker
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import HIDDEN, noting, scrubbed_json
from toolgen.shapes.issues import FieldIssue
from toolgen.shapes.sensitive import MARKER, redacted

from .document import Encoded, as_read
from .records import Event, EventHead

T = TypeVar("T")
E = TypeVar("E", bound=Event)

_NAMES: Final = frozenset(
    {
        "type", "tool", "name", "agent", "status", "code", "kind", "uri", "digest", "media_type", "toolset",
        "child_run_id", "parent_run_id", "parent_tool_call_id", "suspension_id", "answered_id",
        "correlation_id", "answer_schema", "bounds", "telemetry", "expires_at", "seq", "fraction", "number",
    }
)  # fmt: skip
"""Fields with names, ids and times, which relate events to each other."""
_PUBLIC_RETRY: Final = ("reason", "tool", "restrict_to_tool", "after_s")
_HEAD: Final = frozenset(field.name for field in fields(EventHead))


def without_secrets(event: E) -> E:
    """Return the event with the sensitive values of the running call redacted, wherever they appear."""
    return _scrubbed(as_read(event))


def _scrubbed(record: T) -> T:
    values: dict[str, Any] = {}
    for field in fields(record):  # type: ignore[arg-type]  # records are dataclasses
        if field.name in _NAMES or field.name in _HEAD or not field.init:
            continue
        value = getattr(record, field.name)
        if field.name == "artifacts":
            values[field.name] = [*map(_scrubbed_members, value)]
        elif field.name == "error" and isinstance(value, dict):
            values[field.name] = _scrubbed_members(value)
        elif isinstance(value, str | dict | list | tuple):
            values[field.name] = scrubbed_json(value)
    return replace(record, **values) if values else record  # type: ignore[type-var]  # as above


def _scrubbed_members(document: Mapping[str, Any]) -> dict[str, object]:
    return {name: value if name in _NAMES else scrubbed_json(value) for name, value in document.items()}


def is_public(document: bytes, codec: Codec) -> bool:
    """Return whether arguments, as received, have a public view: each sensitive value is at its place.

    If they do not fit the schema, the places of the values are unknown, and no values are shown.
    """
    if codec.sensitive:
        try:
            codec.decode_null_as_absent(document)
        except ToolValidationError:
            return False
    return True


def note_result(spec: ToolSpec, text: str, *, is_whole: bool) -> None:
    """Add the sensitive values of a stored result, or of its beginning, to those of the running call.

    If the result might not fit its type, all its values count as sensitive: a stored lenient result can lack
    its warnings.
    """
    note_document(spec.result, text)
    if not (spec.is_lenient and spec.result.sensitive) or (secrets := noting()) is None:
        return
    if not (is_whole and is_public(text.encode(), spec.result)):
        with suppress(ValueError):  # the beginning can end in the middle of an escape
            secrets.add([from_json(text, allow_partial="trailing-strings")], spec.result.keys)


def public_document(result: ToolResult, spec: ToolSpec | None, limit: int | None = None) -> dict[str, Any]:
    """Return the `ResultDocument` of a result for clients: without its sensitive values."""
    facts = public_facts(result, spec, limit)
    if result.content:
        facts["content"] = [block.as_json() for block in result.content]
    if result.approved_by:
        facts["approved_by"] = result.approved_by
    return facts


def public_facts(result: ToolResult, spec: ToolSpec | None, limit: int | None = None) -> dict[str, Any]:
    """Return the members of a result's public document that an event has.

    Error texts and the value have at most `limit` bytes.
    """
    facts = result_facts(result, limit)
    if result.json:
        facts["result"] = public_result(result, spec, limit)
    if spec is None or not spec.is_sensitive:
        return facts
    error, hint = facts.get("error", {}), result.retry_hint
    if "details" in error:
        codec = _codec_of(result, spec)
        error["details"] = error["details"] if codec is None else codec.public(error["details"])
    if "issues" in error and hint is not None:
        known = spec.payload.keys
        error["issues"] = [issue_document(issue.without_other_keys(known)) for issue in hint.issues]
    if hint is not None:  # the texts of the hint quote the keys of the issues
        retry = error["retry"]
        error["retry"] = {name: retry[name] for name in _PUBLIC_RETRY if name in retry}
    if result.warnings:
        facts["warnings"] = [*map(issue_document, public_warnings(result, spec))]
    if result.artifacts:
        facts["artifacts"] = [public_artifact(artifact, spec) for artifact in result.artifacts]
    return facts


def public_result(result: ToolResult, spec: ToolSpec | None, limit: int | None = None) -> Json:
    """Return the model's JSON of a result without sensitive values; None without a result.

    It has at most `limit` bytes of JSON; without a limit, a truncated result keeps its size. If no journal
    can store the value, it is the text of the value, or a marker if the tool is sensitive.
    """
    if not result.json:
        return None
    if spec is None or not spec.is_sensitive:
        return Encoded(result.json).value()
    try:
        return _shown(result, spec, journal_value(result.json), limit)
    except ValueError:
        return dict(MARKER)


def _shown(result: ToolResult, spec: ToolSpec[Any, Any] | None, seen: Json, limit: int | None) -> Json:
    if spec is not None and result.status == "error" and spec.is_sensitive:
        seen = _without_unknown_keys(seen, result, spec)
    codec = None if spec is None else _codec_of(result, spec)
    if codec is None or not codec.sensitive:
        return seen
    if result.status == "error":
        shown = seen
        if isinstance(seen, dict) and "details" in seen:
            shown = {**seen, "details": codec.public(seen["details"])}
    elif spec is not None and spec.is_lenient and (unvalidated := _unvalidated(result, codec)):
        shown = dict(MARKER) if is_truncated(result.json) else redacted(seen, unvalidated)
    else:
        complete = seen if result.result is None else _encoded(codec, result.result, seen)
        if limit is None and complete != seen:  # a truncated result can begin with any value
            limit = len(result.json)
        shown = codec.public(complete)
    document = to_json(shown)
    return shown if limit is None or len(document) <= limit else parsed(truncation_marker(document, limit))


def _without_unknown_keys(seen: Json, result: ToolResult, spec: ToolSpec) -> Json:
    """Return the document of invalid arguments; its paths quote only keys of the schema."""
    if not isinstance(seen, dict) or not isinstance(issues := seen.get("issues"), list):
        return seen
    known = result.retry_hint.issues if result.retry_hint else ()
    paths = {issue.path: issue.without_other_keys(spec.payload.keys).path for issue in known}
    shown_issues: list[Json] = [
        {**issue, "path": paths.get(str(issue.get("path")), HIDDEN)}
        for issue in issues
        if isinstance(issue, dict)
    ]
    return {**seen, "issues": shown_issues}


def _unvalidated(result: ToolResult, codec: Codec) -> tuple[str, ...]:
    """Return the sensitive places of a result that does not fit; the whole result if its warnings are
    missing."""
    if result.warnings:
        return unvalidated_places(codec, result.warnings)
    return () if result.result is not None or is_public(result.json, codec) else ("",)


def public_warnings(result: ToolResult, spec: ToolSpec | None) -> tuple[FieldIssue, ...]:
    """Return the warnings of a result; if it is sensitive, their paths have only keys of the type."""
    if spec is None or not spec.result.sensitive:
        return result.warnings
    return tuple(issue.without_other_keys(spec.result.keys) for issue in result.warnings)


def public_artifact(artifact: Artifact, spec: ToolSpec | None) -> ArtifactDocument:
    """Return the reference to an artifact; its data has no sensitive values."""
    document = artifact_document(artifact)
    declared = None if spec is None else spec.artifacts.get(artifact.kind)
    if declared is not None and declared.codec.sensitive and "data" in document:
        document["data"] = declared.codec.public(document["data"])
    return document


def _codec_of(result: ToolResult, spec: ToolSpec) -> Codec | None:
    """Return the codec of the model's document; for an error, the codec of its details."""
    match result.status:
        case "ok":
            return spec.result
        case "pending":
            return spec.long_running.ack if spec.long_running else None
        case "error" if isinstance(result.error, DeclaredError):
            declared = spec.errors.get(result.error.code)
            return declared.codec if declared else None
        case _:
            return None


def _encoded(codec: Codec, value: object, otherwise: Json) -> Json:
    try:
        return parsed(codec.encode(value))
    except MalformedResultError:
        return otherwise
