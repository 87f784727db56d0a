"""The result of a call as it crosses the engine: JSON, without the typed values."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import to_jsonable_python

from toolgen.calls.content import TextContent
from toolgen.calls.errors import causes_of
from toolgen.calls.results import Artifact, EndStatus, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.artifact_refs import NO_STORE
from toolgen.contract.json_value import Json
from toolgen.contract.limits import truncate_text
from toolgen.events.event_reporter import CallEvents
from toolgen.waiting.call_results import artifact_document

from ..loop.documents import CallRecord, StepCall


def call_record(
    result: ToolResult, call: StepCall, spec: ToolSpec[Any, Any] | None, events: CallEvents, limit: int
) -> CallRecord:
    """Return a result as the JSON record for the loop; error texts have at most `limit` bytes.

    Of one that waits, the record of the call is still to be added.
    """
    content, reminder = result.content, ""
    refs = [to_jsonable_python(artifact.ref) for artifact in result.artifacts if artifact.ref is not None]
    if spec is not None and spec.reminder and content and content[-1] == TextContent(text=spec.reminder):
        content, reminder = content[:-1], spec.reminder
    status = cast(EndStatus, result.status)
    done: CallRecord = {
        "status": status,
        "answer": {
            "id": call["id"],
            "name": call["name"],
            "status": status,
            "text": result.json.decode(),
            "reminder": reminder,
            "content": [block.as_json() for block in content],
            "bounds": to_jsonable_python(result.bounds),
            "artifacts": refs,
        },
        "events": events.kept,
        "is_final": result.is_final and status == "ok",
        "display": result.display,
        "artifacts": [_run_artifact(artifact, call) for artifact in result.artifacts],
        "children": result.children_count,
    }
    if result.error is not None:
        done["errors"] = [
            truncate_text(str(cause), limit) for cause in (result.error, *causes_of(result.error))
        ]
    if result.retry_hint is not None:
        done["hint"] = to_jsonable_python(result.retry_hint)
    return done


def waiting_record(call: StepCall, frozen: dict[str, Any]) -> CallRecord:
    """Return the record of a call that waits on as it did: its own record was not verified."""
    answer = {"id": call["id"], "name": call["name"], "status": "suspended", "text": "", "reminder": ""}
    return {
        "status": "suspended",
        "answer": {**answer, "content": []},
        "events": [],
        "frozen": frozen,
    }


def _run_artifact(artifact: Artifact, call: StepCall) -> dict[str, Json]:
    """Return an artifact as a `RunArtifact`: by its reference, with all its data where there is no store."""
    facts = artifact_document(artifact)
    if facts["not_kept"] == NO_STORE:
        facts["json"] = artifact.json.decode()
    return {**facts, "tool_call_id": call["id"]}
