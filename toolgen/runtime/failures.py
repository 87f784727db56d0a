"""Calls that end in an error: what the model is told, what the host learns, what the log keeps."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from toolgen.contract.issues import FieldIssue
from toolgen.contract.logs import logger

from .calls import CallMeta
from .codec import document
from .errors import MalformedResultError, ToolError, ToolValidationError
from .results import RetryHint, RetryReason, ToolResult
from .specs import ToolSpec
from .unimplemented import find_unimplemented, unavailable

Arguments = bytes | str | Mapping[str, object]

MOST_ISSUES: Final = 20
"""Issues that the model is shown; the result's retry hint holds all."""

NO_ARGUMENTS: Final = b"{}"

log = logger("toolgen.runtime")


def refused(
    spec: ToolSpec[Any, Any], issues: tuple[FieldIssue, ...], data: Arguments, meta: CallMeta
) -> ToolResult:
    """Return the result of arguments that do not fit: the issues, the example, and how to repair."""
    missing = tuple([issue.path for issue in issues if issue.constraint == "missing_field"])
    message = f"the arguments of {spec.name} do not fit"
    hint = RetryHint(
        reason="missing_fields" if len(missing) == len(issues) else "invalid_arguments",
        tool=spec.id,
        restrict_to_tool=True,
        missing_fields=missing,
        issues=issues,
        example_input=spec.example,
        prior_input=_text(data),
        clarifying_question=_question(spec, missing) if missing else None,
        message=message,
    )
    shown = b",".join([issue.as_bytes() for issue in issues[:MOST_ISSUES]])
    more = b',"more_issues":%d' % (len(issues) - MOST_ISSUES) if len(issues) > MOST_ISSUES else b""
    example = b"" if spec.example is None else b',"example":%b' % spec.example.encode()
    text = b'{"error":%b,"issues":[%b]%b%b}' % (to_json(message), shown, more, example)
    return ToolResult(
        tool=spec.id,
        status="error",
        json=text,
        tool_call_id=meta.tool_call_id,
        error=ToolError(message, retry_hint=hint),
        retry_hint=hint,
    )


def failed(tool: str, error: ToolError, meta: CallMeta) -> ToolResult:
    """Return the result of a failure that is already in words for the model."""
    return ToolResult(
        tool=tool,
        status="error",
        json=to_json({"error": error.message}),
        tool_call_id=meta.tool_call_id,
        error=error,
        retry_hint=error.retry_hint,
    )


def denied(spec: ToolSpec[Any, Any], message: str, meta: CallMeta, *, code: str = "denied") -> ToolResult:
    """Return the result of a call that a person or a policy did not allow; the model sees why.

    The code says by what: `denied`, `approval_unavailable`, `canceled`.
    """
    return ToolResult(
        tool=spec.id,
        status="denied",
        json=to_json({"error": message, "code": code}),
        tool_call_id=meta.tool_call_id,
        error=ToolError(message),
    )


def hidden(spec: ToolSpec[Any, Any], error: BaseException, reason: RetryReason | None = None) -> ToolError:
    """Log what went wrong and return what the model may know of it."""
    correlation_id = uuid.uuid4().hex[:12]
    log.error("tool %s failed [%s]", spec.id, correlation_id, exc_info=error)
    message = f"{spec.name} failed; it is not the arguments (reference {correlation_id})"
    hint = RetryHint(reason=reason, tool=spec.id, message=message) if reason else None
    return ToolError(message, retry_hint=hint, correlation_id=correlation_id)


def failure_of(spec: ToolSpec[Any, Any], error: BaseException) -> ToolError:
    """Return what the model may know of an exception; one that was not meant for it goes to the log."""
    if isinstance(error, ToolError):
        return error
    if found := find_unimplemented(spec, error):
        return unavailable(spec, found)
    return hidden(spec, error, "malformed_response" if isinstance(error, MalformedResultError) else None)


def _question(spec: ToolSpec[Any, Any], missing: tuple[str, ...]) -> str:
    names = ", ".join(path.removeprefix("$.") for path in missing)
    return f"To call {spec.name} I need {names}."


def as_document(data: Arguments) -> bytes:
    """Return the arguments as they came; no words at all are those of a tool without arguments.

    Raises:
        ToolValidationError: a mapping that is not JSON.
    """
    match data:
        case bytes():
            return data if data and not data.isspace() else NO_ARGUMENTS
        case str():
            return data.encode(errors="replace") if data and not data.isspace() else NO_ARGUMENTS
        case _:
            return document(data)


def is_blank(data: Arguments) -> bool:
    """Return whether the model sent no words at all, as some do for a tool without arguments."""
    return isinstance(data, (bytes, str)) and (not data or data.isspace())


def _text(data: Arguments) -> str | None:
    """Return the refused arguments as they came; None for a mapping that is not JSON."""
    try:
        return as_document(data).decode(errors="replace")
    except ToolValidationError:
        return None
