"""The result of a call as the journal of its run has it, and read again in any process."""

from __future__ import annotations

from base64 import b64decode
from functools import cache
from typing import Any, Final

from pydantic_core import to_jsonable_python

from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json

from ..calls import CallMeta
from ..content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from ..errors import DeclaredError, ToolError
from ..events.call_events import CallEvents
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
    hint = outcome.get("hint")
    read = None if hint is None else _hints().validate_python(hint)
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


@cache
def _hints() -> Any:
    """Return pydantic's reader of hints; made at the first use, for it takes milliseconds."""
    from pydantic import TypeAdapter

    return TypeAdapter(RetryHint)
