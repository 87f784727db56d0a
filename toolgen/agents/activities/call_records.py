"""The result of a call as it is passed through the engine: its document and the facts for the loop."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

from toolgen.calls.content import ResourceContent, TextContent
from toolgen.calls.documents.results import artifact_document, journal_value, result_document
from toolgen.calls.results import Artifact, ToolResult
from toolgen.calls.sensitive import is_for_model
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.result_storing import NO_STORE
from toolgen.contract.json_value import Json
from toolgen.events.event_reporter import CallEvents

from ..loop.documents import CallRecord, StepCall

FOR_MODEL: Final[dict[str, Json]] = {"audience": ["assistant"]}
"""MCP annotations of a link to an artifact that is for models."""


def call_record(
    result: ToolResult, call: StepCall, spec: ToolSpec | None, events: CallEvents, limit: int
) -> CallRecord:
    """Return a result as the JSON record for the loop; error texts have at most `limit` bytes.

    The caller adds the frozen call to the record of a suspended call.
    """
    done = cast(CallRecord, {**result_document(result, limit), "events": events.recorded})
    content = result.content
    if spec is not None and spec.reminder and content and content[-1] == TextContent(text=spec.reminder):
        done["reminder"] = spec.reminder
        done["content"] = [block.as_json() for block in content[:-1]]
    if result.artifacts:
        done["run_artifacts"] = [_run_artifact(artifact, call) for artifact in result.artifacts]
        if spec is not None and (links := _links(result.artifacts, spec, call["id"])):
            done["content"] = [*done.get("content", []), *links]
    return done


def _links(artifacts: Sequence[Artifact], spec: ToolSpec, call: str) -> list[dict[str, Json]]:
    """Return links to the stored artifacts that are for models."""
    links: list[dict[str, Json]] = []
    for number, artifact in enumerate(artifacts):
        ref = artifact.ref
        if ref is not None and ref.uri and is_for_model(spec, artifact.kind):
            name = f"{artifact.kind}-{call}{f'-{number}' if number else ''}.json"
            link = ResourceContent(uri=ref.uri, name=name, media_type=ref.media_type, size=ref.size)
            links.append({**link.as_json(), "annotations": FOR_MODEL})
    return links


def waiting_record(call: StepCall, frozen: dict[str, Json]) -> CallRecord:
    """Return the record of a call that stays suspended because its frozen call could not be verified."""
    head = {"tool": call["tool"], "tool_call_id": call["id"], "status": "suspended"}
    return cast(CallRecord, {**head, "events": [], "frozen": frozen})


def _run_artifact(artifact: Artifact, call: StepCall) -> dict[str, Json]:
    """Return an artifact as a run artifact: by reference, or with all its data if there is no store."""
    facts: dict[str, Any] = {**artifact_document(artifact), "tool_call_id": call["id"]}
    if facts.get("not_stored_reason") == NO_STORE:
        with suppress(ValueError):
            facts["data"] = journal_value(artifact.json)
    return facts
