"""One call, step by step: decode, inject, execute, check, encode. Always ends in one result."""

from __future__ import annotations

import asyncio
from typing import Any

from toolgen.contract.model import ToolModel

from .calls import CallMeta, ToolCall
from .context import ToolContext
from .errors import MalformedResultError, ToolError, ToolValidationError
from .failures import Arguments, as_document, failed, hidden, refused
from .registration import Entry
from .results import Artifact, Bounds, ToolOutcome, ToolResult
from .specs import ToolSpec
from .trace import Trace


async def dispatch(entry: Entry, data: Arguments, meta: CallMeta, trace: Trace | None = None) -> ToolResult:
    """Return the result of one call; its steps go to `trace`, the one that fails excepted.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: never kept from the process.
    """
    spec = entry.spec
    if trace is not None:
        trace.mark("lookup", spec.id)
    try:
        try:
            payload = spec.payload.decode(data)
        except ToolValidationError as error:
            return refused(spec, error.issues, data, meta)
        if trace is not None:
            trace.mark("decode", payload)
        call = None
        if entry.raw or entry.interceptors:
            call = ToolCall(tool=spec.id, payload_json=as_document(data), meta=meta, payload=payload)
        if entry.call_fields:
            entry.fill(payload, meta)
        if entry.filled and call is not None:
            await _intercept(entry, call, payload)
        if trace is not None:
            trace.mark("inject", spec.injected)
        context = ToolContext(meta, spec.id)
        if entry.raw:
            returned = _outcome(await entry.execute(call, context))
        else:
            returned = await entry.execute(payload, context)
        if trace is not None:
            trace.mark("execute", returned)
        return _finish(spec, returned, meta, trace)
    except ToolError as error:
        return failed(spec.id, error, meta)
    except MalformedResultError as error:
        return failed(spec.id, hidden(spec, error, "malformed_response"), meta)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return failed(spec.id, hidden(spec, error), meta)


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


def _finish(spec: ToolSpec[Any, Any], returned: object, meta: CallMeta, trace: Trace | None) -> ToolResult:
    """Return the result of what the executor returned.

    Raises:
        MalformedResultError: it breaks the tool's contract.
    """
    artifacts: tuple[Artifact, ...] = ()
    if isinstance(returned, ToolOutcome):
        artifacts, returned = returned.artifacts, returned.result
    document = spec.result.encode(returned)
    if trace is not None:
        trace.mark("encode", document)
    bounds = None
    if spec.bounded is not None:
        bounds = _bounds(spec, returned)
    if artifacts:
        artifacts = tuple(_artifact(spec, artifact) for artifact in artifacts)
    if trace is not None:
        trace.mark("check", bounds)
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
    returned, total = bounds.returned, bounds.total
    if returned < 0:
        raise MalformedResultError(f"returned is {returned}; it counts what the result holds")
    if total is not None and total < returned:
        raise MalformedResultError(f"total {total} is below returned {returned}")
    if returned == 0 and (bounds.truncated or total):
        paged = spec.bounded is not None and spec.bounded.next_cursor is not None
        if not paged:
            raise MalformedResultError(
                "nothing was returned, so total must be 0 or unknown and truncated false"
            )
    return bounds


def _artifact(spec: ToolSpec[Any, Any], artifact: Artifact) -> Artifact:
    declared = spec.artifacts.get(artifact.kind)
    if declared is None:
        known = ", ".join(map(repr, spec.artifacts)) or "none"
        raise MalformedResultError(f"artifact kind {artifact.kind!r} is not declared; declared are {known}")
    document = declared.codec.encode(artifact.data)
    return Artifact(kind=artifact.kind, data=artifact.data, source_tool=spec.id, json=document)
