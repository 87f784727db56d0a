"""The result of a call as the journal of its run has it, and read again in any process."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json, to_jsonable_python

from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.shapes.issues import FieldIssue

from ..calls import CallMeta
from ..content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from ..errors import DeclaredError, ToolError
from ..events.event_reporter import CallEvents
from ..results import RetryHint, RunLink, Telemetry, ToolResult
from .loop import Outcome

_CONTENT: Final[dict[str, type[Any]]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceContent,
}


def outcome_of(result: ToolResult, events: CallEvents) -> Outcome:
    """Return the document of a result, with the events of the call."""
    outcome: Outcome = {
        "status": result.status,
        "json": result.json.decode(),
        "events": events.kept,
        "frozen": None,
    }
    if result.display:
        outcome["display"] = result.display
    if result.bounds is not None:
        outcome["bounds"] = to_jsonable_python(result.bounds)
    if result.is_final:
        outcome["is_final"] = True
    if result.error is not None:
        outcome["error"] = _error_json(result.error)
    if result.retry_hint is not None:
        outcome["hint"] = to_jsonable_python(result.retry_hint)
    if result.content:
        outcome["content"] = to_jsonable_python(result.content, bytes_mode="base64")
    if result.run_link is not None:
        outcome["link"] = to_jsonable_python(result.run_link)
        outcome["children"] = result.children_count
        outcome["telemetry"] = to_jsonable_python(result.telemetry)
    return outcome


def result_of(outcome: Outcome, tool: str, meta: CallMeta) -> ToolResult:
    """Return the result of a document: all but the typed value, the artifacts and the actions."""
    bounds: Any = outcome.get("bounds")
    link: Any = outcome.get("link")
    telemetry: Any = outcome.get("telemetry")
    hint: Any = outcome.get("hint")
    read = None if hint is None else _hint(hint)
    return ToolResult(
        tool=tool,
        status=outcome["status"],
        json=outcome["json"].encode(),
        tool_call_id=meta.tool_call_id,
        error=_error(outcome["error"], read) if "error" in outcome else None,
        retry_hint=read,
        bounds=None if bounds is None else Bounds(**bounds),
        content=tuple(map(_content, outcome.get("content", ()))),
        display=outcome.get("display", ""),
        is_final=outcome.get("is_final", False),
        run_link=None if link is None else RunLink(**link),
        children_count=outcome.get("children", 0),
        telemetry=None if telemetry is None else Telemetry(**telemetry),
    )


def result_of_event(event: Mapping[str, Any], tool: str, meta: CallMeta) -> ToolResult:
    """Return the result in a `tool_end` event: as `result_of`, without its sensitive values, too."""
    return ToolResult(
        tool=tool,
        status=event["status"],
        json=b"" if event["result"] is None else to_json(event["result"]),
        tool_call_id=meta.tool_call_id,
        display=event["text"],
        error=_error_of_event(event) if event["error"] else None,
        bounds=None if event["bounds"] is None else Bounds(**event["bounds"]),
        is_final=event["is_final"],
    )


def _error_of_event(event: Mapping[str, Any]) -> ToolError:
    """Return the error that a `tool_end` tells of: by its code one that the design declares."""
    if not event["code"]:
        return ToolError(event["error"])
    seen = event["result"]
    details = to_json(seen["details"]) if isinstance(seen, dict) and "details" in seen else b""
    return DeclaredError(event["error"], code=event["code"], details_json=details)


def _error_json(error: ToolError) -> dict[str, Json]:
    facts: dict[str, Json] = {"message": error.message}
    if isinstance(error, DeclaredError):
        facts |= {"code": error.code, "details": error.details_json.decode()}
    return facts


def _error(facts: dict[str, Any], hint: RetryHint | None) -> ToolError:
    if "code" not in facts:
        return ToolError(facts["message"], retry_hint=hint)
    details = facts["details"].encode()
    return DeclaredError(facts["message"], code=facts["code"], details_json=details, retry_hint=hint)


def _content(block: Any) -> Content:
    facts = dict(block)
    kind = _CONTENT[facts.pop("type")]
    if isinstance(facts.get("data"), str):
        facts["data"] = b64decode(facts["data"], altchars=b"-_")
    made: Content = kind(**facts)
    return made


def _hint(facts: Mapping[str, Any]) -> RetryHint:
    issues = tuple(map(_issue, facts["issues"]))
    return RetryHint(**{**facts, "missing_fields": tuple(facts["missing_fields"]), "issues": issues})


def _issue(facts: Mapping[str, Any]) -> FieldIssue:
    allowed = facts["allowed"]
    kept = {"keys": tuple(facts["keys"]), "allowed": None if allowed is None else tuple(allowed)}
    return FieldIssue(**{**facts, **kept})
