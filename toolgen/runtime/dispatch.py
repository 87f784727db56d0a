"""One call, step by step: decode, inject, execute, check, encode. Always ends in one result."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from toolgen.contract.fields import Json
from toolgen.contract.model import ToolModel

from .calls import CallMeta, ToolCall
from .codec import document
from .context import ToolContext
from .errors import MalformedResultError, ToolError, ToolValidationError
from .registration import Entry
from .results import Artifact, Bounds, RetryHint, ToolOutcome, ToolResult
from .specs import ToolSpec

Arguments = bytes | str | Mapping[str, object]

log = logging.getLogger("toolgen.runtime")


async def dispatch(entry: Entry, data: Arguments, meta: CallMeta) -> ToolResult:
    """Return the result of one call.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: never kept from the process.
    """
    spec = entry.spec
    try:
        payload = spec.payload.decode(data)
        call = None
        if entry.raw or entry.interceptors:
            call = ToolCall(tool=spec.id, payload_json=_document(data), meta=meta, payload=payload)
        if entry.call_fields:
            entry.fill(payload, meta)
        if entry.filled and call is not None:
            await _intercept(entry, call, payload)
        context = ToolContext(meta, spec.id)
        returned = await entry.execute(call if entry.raw else payload, context)
        if entry.raw:
            returned = _outcome(returned)
        return _finish(spec, returned, meta)
    except ToolValidationError as error:
        return refused(spec, error, data, meta)
    except ToolError as error:
        return failed(spec.id, error, meta)
    except MalformedResultError as error:
        return failed(spec.id, _hidden(spec, error, hint="malformed_response"), meta)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return failed(spec.id, _hidden(spec, error), meta)


async def _intercept(entry: Entry, call: ToolCall, payload: ToolModel) -> None:
    """Let the interceptors set their fields; the values stand in no log, hash or result."""
    for interceptor in entry.interceptors:
        await interceptor.intercept(call, payload)
    for name in entry.filled:
        getattr(payload, name)  # raises NotInjectedError, which names the field


def _outcome(answer: object) -> ToolOutcome[Any]:
    """Return what a raw executor's answer holds.

    Raises:
        MalformedResultError: it is no `ToolResult`.
        ToolError: it is an error.
    """
    if not isinstance(answer, ToolResult):
        raise MalformedResultError(f"a raw executor returns a ToolResult, not a {type(answer).__name__}")
    if answer.error is not None:
        raise answer.error
    return ToolOutcome(result=answer.result, artifacts=answer.artifacts)


def _finish(spec: ToolSpec[Any, Any], returned: object, meta: CallMeta) -> ToolResult:
    """Return the result of what the executor returned.

    Raises:
        MalformedResultError: it breaks the tool's contract.
    """
    artifacts: tuple[Artifact, ...] = ()
    if isinstance(returned, ToolOutcome):
        artifacts = tuple(_artifact(spec, artifact) for artifact in returned.artifacts)
        returned = returned.result
    document = spec.result.encode(returned)
    bounds = None
    if spec.bounded is not None:
        bounds = _bounds(spec, returned)
    return ToolResult(
        tool=spec.id,
        status="ok",
        json=document,
        tool_call_id=meta.tool_call_id,
        result=returned,
        bounds=bounds,
        artifacts=artifacts,
    )


def _bounds(spec: ToolSpec[Any, Any], result: Any) -> Bounds:
    """Return the bounds of a result; they must agree with one another (Goa-AI's bounded results)."""
    bounds: Bounds = result.result_bounds()
    paged = spec.bounded is not None and spec.bounded.next_cursor is not None
    if bounds.returned < 0:
        raise MalformedResultError(f"returned is {bounds.returned}; it counts what the result holds")
    if bounds.total is not None and bounds.total < bounds.returned:
        raise MalformedResultError(f"total {bounds.total} is below returned {bounds.returned}")
    if bounds.returned == 0 and not paged and (bounds.truncated or bounds.total):
        raise MalformedResultError("nothing was returned, so total must be 0 or unknown and truncated false")
    return bounds


def _artifact(spec: ToolSpec[Any, Any], artifact: Artifact) -> Artifact:
    declared = spec.artifacts.get(artifact.kind)
    if declared is None:
        known = ", ".join(map(repr, spec.artifacts)) or "none"
        raise MalformedResultError(f"artifact kind {artifact.kind!r} is not declared; declared are {known}")
    document = declared.codec.encode(artifact.data)
    return Artifact(kind=artifact.kind, data=artifact.data, source_tool=spec.id, json=document)


def refused(
    spec: ToolSpec[Any, Any], error: ToolValidationError, data: Arguments, meta: CallMeta
) -> ToolResult:
    """Return the result of arguments that do not fit: all issues, the example, and how to repair."""
    missing = tuple(issue.path for issue in error.issues if issue.constraint == "missing_field")
    message = f"the arguments of {spec.name} do not fit"
    hint = RetryHint(
        reason="missing_fields" if len(missing) == len(error.issues) else "invalid_arguments",
        tool=spec.id,
        restrict_to_tool=True,
        missing_fields=missing,
        issues=error.issues,
        example_input=spec.example,
        prior_input=_text(data),
        clarifying_question=f"To call {spec.name} I need {', '.join(missing)}." if missing else None,
        message=message,
    )
    told = _encoded({"error": message, "issues": [issue.as_json() for issue in error.issues]})
    if spec.example is not None:
        told = b'%b,"example":%b}' % (told[:-1], spec.example.encode())
    return ToolResult(
        tool=spec.id,
        status="error",
        json=told,
        tool_call_id=meta.tool_call_id,
        error=ToolError(message, retry_hint=hint),
        retry_hint=hint,
    )


def failed(tool: str, error: ToolError, meta: CallMeta) -> ToolResult:
    """Return the result of a failure that is already in words for the model."""
    return ToolResult(
        tool=tool,
        status="error",
        json=_encoded({"error": error.message}),
        tool_call_id=meta.tool_call_id,
        error=error,
        retry_hint=error.retry_hint,
    )


def _hidden(spec: ToolSpec[Any, Any], error: BaseException, *, hint: str | None = None) -> ToolError:
    """Log what went wrong and return what the model may know of it."""
    correlation_id = uuid.uuid4().hex[:12]
    log.error("tool %s failed [%s]", spec.id, correlation_id, exc_info=error)
    message = f"{spec.name} failed; it is not the arguments (reference {correlation_id})"
    retry = RetryHint(reason="malformed_response", tool=spec.id, message=message) if hint else None
    return ToolError(message, retry_hint=retry, correlation_id=correlation_id)


def _document(data: Arguments) -> bytes:
    """Return the arguments as they came.

    Raises:
        ToolValidationError: a mapping that is not JSON.
    """
    match data:
        case bytes():
            return data
        case str():
            return data.encode(errors="replace")
        case _:
            return document(data)


def _text(data: Arguments) -> str | None:
    """Return the refused arguments as they came; None for a mapping that is not JSON."""
    try:
        return _document(data).decode(errors="replace")
    except ToolValidationError:
        return None


def _encoded(told: dict[str, Json]) -> bytes:
    return to_json(told)
