"""One call, step by step: decode, ask, inject, execute, check, encode. Always ends in one result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from toolgen.contract.limits import UNLIMITED
from toolgen.shapes.design.model import ToolModel

from ..calls import ToolCall
from ..context import ToolContext
from ..errors import MalformedResultError, ToolError, ToolValidationError
from ..results import Delegated, Pending, Telemetry, ToolOutcome, ToolResult, Unfinished, WithoutResult
from ..waiting.suspending import suspend
from .artifact_refs import with_references
from .boundary import contain
from .bounds import remember, seen_bounds
from .deadlines import limited
from .ending import tell_cancelled, told
from .entry import Entry
from .failures import NO_ARGUMENTS, as_document, failure_of, is_blank
from .finishing import finish, within_limit
from .frame import Frame
from .guard import guard
from .hook_stages import after_hooks, before_hooks, error_hooks
from .hooks import Stop
from .host import Host


def dispatch(frame: Frame) -> Coroutine[Any, Any, ToolResult]:
    """Return what gives the result of one call.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: never kept from the process.
    """
    host, trace = frame.host, frame.trace
    if trace is not None:
        trace.mark("lookup", frame.spec.id)
    if host.reports.is_idle and host.spans is None and not frame.entry.after:
        return _attempt(frame, False)
    return _watched(frame)


async def _watched(frame: Frame) -> ToolResult:
    """Return the result of a call that somebody watches, or that has hooks after it."""
    started = time.perf_counter()
    spec, meta, host = frame.spec, frame.meta, frame.host
    frame.context.report = host.reports.of(spec, meta)
    spans = nullcontext() if host.spans is None else host.spans.of(spec, meta, frame.arguments)
    try:
        with spans as span:
            result = await after_hooks(frame, await _attempt(frame, True))
            if span is not None:
                span.end(result)
    except asyncio.CancelledError:
        tell_cancelled(frame)
        raise
    return told(frame, replace(result, telemetry=Telemetry(duration_s=time.perf_counter() - started)))


async def _attempt(frame: Frame, is_watched: bool) -> ToolResult:
    """Return the result of a call, which no hook after it has seen."""
    entry, spec, meta = frame.entry, frame.spec, frame.meta
    context, host, trace = frame.context, frame.host, frame.trace
    call = None
    try:
        try:
            payload = spec.payload.decode(frame.arguments, UNLIMITED if frame.resumption else host.limits)
        except ToolValidationError as error:
            payload = _without_arguments(frame, error)
            if isinstance(payload, ToolResult):
                return payload
        if trace is not None:
            trace.mark("decode", payload)
        if entry.needs_call:
            call = _call(frame, payload)
        if is_watched:
            host.reports.started(spec, payload, meta)
        if entry.stands_guarded and call is not None:
            stopped, call = await _before(frame, call)
            if stopped is not None:
                return stopped
            payload = call.payload
        if entry.call_fields:
            entry.fill(payload, meta)
        if entry.filled and call is not None:
            await _intercept(entry, call, payload, host)
        if trace is not None:
            trace.mark("inject", spec.injected)
        if frame.begun is not None:
            await frame.begun()
        if entry.is_plain:
            try:
                returned = await entry.execute(payload, context)
            except ToolError as error:
                returned = await host.execution.again(entry, error, payload, context)
        else:
            returned = await _execute(entry, call, payload, context, host)
        if trace is not None:
            trace.mark("execute", returned)
        if isinstance(returned, WithoutResult):
            return await _without_result(frame, call, returned)
        result = finish(spec, returned, meta, trace)
        if host.policy is not None:
            remember(result, context.values)
        return await _kept(frame, result) if result.artifacts or host.exceeds(spec, result) else result
    except BaseException as error:
        failure = failure_of(spec, contain(error))
    return await error_hooks(frame, call, failure) if entry.on_error and call else frame.failed(failure)


def _without_arguments(frame: Frame, error: ToolValidationError) -> Any:
    """Return the payload where the model sent no arguments at all, else the result of what does not fit."""
    if not is_blank(frame.arguments):
        return frame.refused(error)
    try:
        return frame.spec.payload.decode(NO_ARGUMENTS)
    except ToolValidationError as missing:
        return frame.refused(missing)


def _call(frame: Frame, payload: ToolModel) -> ToolCall:
    document = as_document(frame.arguments)
    return ToolCall(tool=frame.spec.id, payload_json=document, meta=frame.meta, payload=payload)


async def _before(frame: Frame, call: ToolCall) -> tuple[ToolResult | None, ToolCall]:
    """Return the result of a call that does not run, and the call with its frozen arguments."""
    spec, resumption = frame.spec, frame.resumption
    if resumption is None:
        left = await before_hooks(frame, call)
        if isinstance(left, Stop):
            return left.result, call
        call = left
    seen = () if frame.host.policy is None else seen_bounds(frame.context.values)
    frozen = replace(call, payload_json=spec.payload.encode(call.payload), seen_bounds=seen)
    if not frame.entry.may_be_asked:
        return None, frozen
    return await guard(frame, frozen), frozen


async def _without_result(frame: Frame, call: ToolCall | None, returned: WithoutResult) -> ToolResult:
    """Return the result of a call that an agent, a person or work elsewhere answers."""
    spec = frame.spec
    if isinstance(returned, Delegated):
        return ToolResult(
            tool=spec.id, status="suspended", tool_call_id=frame.meta.tool_call_id, delegated=returned
        )
    assert isinstance(returned, Unfinished | Pending)  # there is no other
    if call is not None and frame.entry.stands_guarded:
        return await suspend(frame, returned, call.payload_json)
    # As they came: an executor may have changed its payload.
    payload = spec.payload.decode(as_document(frame.arguments), UNLIMITED)
    return await suspend(frame, returned, spec.payload.encode(payload))


async def _kept(frame: Frame, result: ToolResult) -> ToolResult:
    """Return a result that has artifacts, or more than goes out: the host's store keeps them."""
    return await within_limit(frame, await with_references(frame, result))


async def _intercept(entry: Entry, call: ToolCall, payload: ToolModel, host: Host) -> None:
    """Let the interceptors set their fields; the values stand in no log, hash or result."""
    for interceptor in entry.interceptors:
        await limited(host.stage_timeout, interceptor.intercept(call, payload))
    for name in entry.filled:
        getattr(payload, name)  # raises NotInjectedError, which names the field


async def _execute(
    entry: Entry, call: ToolCall | None, payload: ToolModel, context: ToolContext, host: Host
) -> Any:
    timeout = host.execution.timeout_of(entry)
    if timeout is not None:
        context.deadline = asyncio.get_running_loop().time() + timeout
    returned = await host.execution.run(entry, call if entry.raw else payload, context)
    return _outcome(returned) if entry.raw else returned


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
    return ToolOutcome(
        result=answer.result,
        artifacts=answer.artifacts,
        content=answer.content,
        display=answer.display or None,
        is_final=answer.is_final,
    )
