"""The result of a call as it crosses the engine: JSON, without the typed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic_core import to_jsonable_python

from toolgen.contract.json_value import Json
from toolgen.runtime.call.artifact_refs import NO_STORE
from toolgen.runtime.call.truncation import text_within
from toolgen.runtime.calls import NO_META, CallMeta
from toolgen.runtime.content import TextContent
from toolgen.runtime.engine import ActivityInfo
from toolgen.runtime.errors import causes_of
from toolgen.runtime.events.records import Event, as_json
from toolgen.runtime.results import Artifact, ArtifactRef, Suspended, ToolResult
from toolgen.runtime.specs import ToolSpec

from ..loop.documents import Done, StepCall
from ..planner.messages import ToolAnswer

_PROGRESS: Final = frozenset({"tool_update", "tool_output_delta"})
"""Events that are worth nothing later; they go to the log at once, best effort."""
_OF_THE_LOOP: Final = frozenset({"tool_start"})
"""Events that the loop tells itself."""


class CallEvents:
    """The events of one call within a run; the loop tells those that are kept here."""

    is_idle = False

    def __init__(self, info: ActivityInfo, clock: Callable[[], float]) -> None:
        self._emit = info.emit
        self._clock = clock
        self.kept: list[dict[str, Json]] = []

    def emit(self, event: Event, meta: CallMeta = NO_META) -> None:
        """Take an event of the call."""
        document = as_json(event)
        document |= {
            "time": self._clock(),
            "run_id": meta.run_id,
            "session_id": meta.session_id,
            "turn_id": meta.turn_id,
            "tool_call_id": meta.tool_call_id,
        }
        if event.type in _PROGRESS:
            self._emit(document)
        elif event.type not in _OF_THE_LOOP:
            self.kept.append(document)


def recorded(
    result: ToolResult, call: StepCall, spec: ToolSpec[Any, Any] | None, events: CallEvents, limit: int
) -> Done:
    """Return what the loop gets of a result; the texts of its errors have at most `limit` bytes."""
    content, reminder = result.content, ""
    refs = [to_jsonable_python(one.ref) for one in result.artifacts if one.ref is not None]
    if spec is not None and spec.reminder and content and content[-1] == TextContent(text=spec.reminder):
        content, reminder = content[:-1], spec.reminder
    status = result.status
    done: Done = {
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
        "artifacts": [_artifact(artifact, call) for artifact in result.artifacts],
        "children": result.children_count,
    }
    if result.error is not None:
        done["errors"] = [text_within(str(one), limit) for one in (result.error, *causes_of(result.error))]
    if result.retry_hint is not None:
        done["hint"] = to_jsonable_python(result.retry_hint)
    if result.suspension is not None:
        done["suspension"] = as_document(result.suspension)
    return done


def _artifact(artifact: Artifact, call: StepCall) -> dict[str, Json]:
    """Return an artifact as a `RunArtifact`: by its reference, with all its data where there is no store."""
    ref = artifact.ref or ArtifactRef(kind=artifact.kind, not_kept=NO_STORE)
    facts: dict[str, Json] = to_jsonable_python(ref)
    if ref.not_kept == NO_STORE:
        facts["json"] = artifact.json.decode()
    return {**facts, "tool": artifact.source_tool, "tool_call_id": call["id"]}


def answer_of(result: ToolResult, name: str) -> ToolAnswer:
    """Return what the conversation has of the result of a call that no run waits for any more."""
    return ToolAnswer(id=result.tool_call_id, name=name, status=result.status, text=result.json.decode())


def as_document(suspended: Suspended) -> dict[str, Any]:
    """Return all that the client of a suspension holds, its token too."""
    facts: dict[str, Any] = to_jsonable_python(suspended)
    return facts


def suspended_of(document: Mapping[str, Any]) -> Suspended:
    """Return the suspension of a document by `as_document`."""
    return Suspended(**document)
