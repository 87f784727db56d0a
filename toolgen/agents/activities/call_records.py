"""The result of a call as it crosses the engine: its document, with what the loop has to know beside it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from toolgen.calls.content import TextContent
from toolgen.calls.documents.results import artifact_document, kept_value, result_document
from toolgen.calls.results import Artifact, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.result_storing import NO_STORE
from toolgen.contract.json_value import Json
from toolgen.events.event_reporter import CallEvents

from ..loop.documents import CallRecord, StepCall


def call_record(
    result: ToolResult, call: StepCall, spec: ToolSpec | None, events: CallEvents, limit: int
) -> CallRecord:
    """Return a result as the JSON record for the loop; error texts have at most `limit` bytes.

    Of one that waits, the record of the call is still to be added.
    """
    done = cast(CallRecord, {**result_document(result, limit), "events": events.kept})
    content = result.content
    if spec is not None and spec.reminder and content and content[-1] == TextContent(text=spec.reminder):
        done["reminder"] = spec.reminder
        done["content"] = [block.as_json() for block in content[:-1]]
    if result.artifacts:
        done["run_artifacts"] = [_run_artifact(artifact, call) for artifact in result.artifacts]
    return done


def waiting_record(call: StepCall, frozen: dict[str, Json]) -> CallRecord:
    """Return the record of a call that waits on as it did: its own record was not verified."""
    head = {"tool": call["tool"], "tool_call_id": call["id"], "status": "suspended"}
    return cast(CallRecord, {**head, "events": [], "frozen": frozen})


def _run_artifact(artifact: Artifact, call: StepCall) -> dict[str, Json]:
    """Return an artifact as one of its run: by its reference, with all its data where there is no store."""
    facts: dict[str, Any] = {**artifact_document(artifact), "tool_call_id": call["id"]}
    if facts.get("not_stored_reason") == NO_STORE:
        with suppress(ValueError):
            facts["data"] = kept_value(artifact.json)
    return facts
