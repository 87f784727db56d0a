"""One call, step by step: decode, ask, inject, execute, check, encode. Always ends in one result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, assert_never

from toolgen.contract.limits import LONGEST_CHARACTER, UNLIMITED, Limits
from toolgen.shapes.design.model import ToolModel

from ..calls import CallMeta, ToolCall
from ..context import ToolContext, resume
from ..errors import MalformedResultError, ToolError, ToolValidationError
from ..results import Delegated, Pending, Telemetry, ToolOutcome, ToolResult, Unfinished
from ..specs import ToolSpec
from ..waiting.resumption import Resumption
from ..waiting.suspending import suspend
from .boundary import contain
from .bounds import remember, seen_bounds
from .deadlines import limited
from .entry import Entry
from .failures import (
    NO_ARGUMENTS,
    Arguments,
    as_document,
    denied,
    failed,
    failure_of,
    hidden,
    is_blank,
    refused,
)
from .finishing import finish, finished, within_limit
from .guard import guard
from .hooks import Abort, Answer, Continue, Deny, Step, told
from .host import Host
from .trace import Trace


def dispatch(
    entry: Entry,
    data: Arguments,
    context: ToolContext,
    host: Host,
    trace: Trace | None = None,
    resumption: Resumption | None = None,
) -> Coroutine[Any, Any, ToolResult]:
    """Return what gives the result of one call; its steps go to `trace`, the one that fails excepted.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: never kept from the process.
    """
    if resumption is not None:
        resume(context, resumption)
    if host.reports.is_idle and host.spans is None and not entry.after:
        return _attempt(entry, data, context, host, trace, resumption)
    return _watched(entry, data, context, host, trace, resumption)


async def _watched(
    entry: Entry,
    data: Arguments,
    context: ToolContext,
    host: Host,
    trace: Trace | None,
    resumption: Resumption | None,
) -> ToolResult:
    """Return the result of a call that somebody watches, or that has hooks after it."""
    started = time.perf_counter()
    context.report = host.reports.of(entry.spec, context.meta)
    spans = nullcontext() if host.spans is None else host.spans.of(entry.spec, context.meta, data)
    try:
        with spans as span:
            result = await _attempt(entry, data, context, host, trace, resumption)
            if result.status != "suspended":
                result = await after_hooks(entry, data, result, context, host)
            if span is not None:
                span.end(result)
    except asyncio.CancelledError:
        _cancelled(entry, context, host)
        raise
    result = replace(result, telemetry=Telemetry(duration_s=time.perf_counter() - started))
    if result.delegated is None:
        host.reports.ended(result, context.meta)
    return result


async def _attempt(
    entry: Entry,
    data: Arguments,
    context: ToolContext,
    host: Host,
    trace: Trace | None,
    resumption: Resumption | None,
) -> ToolResult:
    spec, meta = entry.spec, context.meta
    if trace is not None:
        trace.mark("lookup", spec.id)
    call = None
    try:
        try:
            # What was frozen was within the limits when it came; its canonical form may be longer.
            payload = spec.payload.decode(data, host.limits if resumption is None else UNLIMITED)
        except ToolValidationError as error:
            if not is_blank(data):
                return refused(spec, error, data, meta, host.limit_of(spec))
            payload = _without_words(spec)
            if isinstance(payload, ToolValidationError):
                return refused(spec, payload, data, meta, host.limit_of(spec))
        if trace is not None:
            trace.mark("decode", payload)
        if entry.needs_call:
            call = ToolCall(tool=spec.id, payload_json=as_document(data), meta=meta, payload=payload)
        if context.report is not None:
            host.reports.started(spec, payload, meta)
        if entry.stands_guarded and call is not None:
            stopped, call = await _before(entry, call, context, host, resumption)
            if stopped is not None:
                return stopped
            payload = call.payload
        if entry.call_fields:
            entry.fill(payload, meta)
        if entry.filled and call is not None:
            await _intercept(entry, call, payload, host)
        if trace is not None:
            trace.mark("inject", spec.injected)
        if entry.is_plain:
            try:
                returned = await entry.execute(payload, context)
            except ToolError as error:
                returned = await host.execution.again(entry, error, payload, context)
        else:
            returned = await _execute(entry, call, payload, context, host)
        if trace is not None:
            trace.mark("execute", returned)
        if isinstance(returned, Delegated):
            return ToolResult(
                tool=spec.id, status="suspended", tool_call_id=meta.tool_call_id, delegated=returned
            )
        if isinstance(returned, Unfinished | Pending):
            frozen = call.payload_json if call is not None and entry.stands_guarded else _frozen(spec, data)
            return await suspend(
                spec, returned, frozen, context, host, resumption.answers if resumption else ()
            )
        result = finish(spec, returned, meta, trace)
        if host.policy is not None:
            remember(result, context.values)
        limit = host.limit_of(spec)
        if len(result.json) > limit or len(result.display) > limit // LONGEST_CHARACTER:
            result = await within_limit(spec, result, context, host)
        return result
    except BaseException as error:
        failure = failure_of(spec, contain(error))
    if entry.on_error and call is not None:
        return await _recovered(entry, call, failure, context, host)
    return failed(spec.id, failure, meta, host.limit_of(spec))


def _without_words(spec: ToolSpec[Any, Any]) -> Any:
    """Return the payload where the model sent no words at all, or what is missing then."""
    try:
        return spec.payload.decode(NO_ARGUMENTS)
    except ToolValidationError as missing:
        return missing


def _frozen(spec: ToolSpec[Any, Any], data: Arguments) -> bytes:
    """Return the canonical bytes of arguments as they came; an executor may have changed its payload."""
    return spec.payload.encode(spec.payload.decode(as_document(data), UNLIMITED))


async def _before(
    entry: Entry, call: ToolCall, context: ToolContext, host: Host, resumption: Resumption | None
) -> tuple[ToolResult | None, ToolCall]:
    """Return the result of a call that does not run, and the call with its frozen arguments."""
    spec = entry.spec
    if resumption is None:
        for step in entry.before:
            match await limited(host.stage_timeout, told(step, call, call.payload, context)):
                case Continue(payload=None):
                    pass
                case Continue(payload=payload):
                    call = _replaced(entry, call, payload, host.limits)
                case Answer(result=answer):
                    return await finished(spec, answer, context, host), call
                case Deny(message=message):
                    return denied(spec, message, call.meta, host.limit_of(spec)), call
                case Abort(error=error):
                    raise error
    seen = () if host.policy is None else seen_bounds(context.values)
    frozen = replace(call, payload_json=spec.payload.encode(call.payload), seen_bounds=seen)
    if not entry.may_be_asked or (resumption is not None and resumption.is_approved):
        return None, frozen
    return await guard(entry, frozen, host, resumption.answers if resumption else ()), frozen


def _replaced(entry: Entry, call: ToolCall, payload: Any, limits: Limits) -> ToolCall:
    """Return the call with a hook's payload, which has to be one that a model could have sent.

    Raises:
        MalformedResultError: it is of another class.
        ToolValidationError: it does not fit.
    """
    document = entry.spec.payload.encode(payload)
    return replace(call, payload_json=document, payload=entry.spec.payload.decode(document, limits))


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


async def _recovered(
    entry: Entry, call: ToolCall, failure: ToolError, context: ToolContext, host: Host
) -> ToolResult:
    """Return the failure, or what a hook has in its place."""
    spec = entry.spec
    try:
        for step in entry.on_error:
            match await limited(host.stage_timeout, told(step, call, failure, context)):
                case Answer(result=answer):
                    return await finished(spec, answer, context, host)
                case Deny(message=message):
                    return denied(spec, message, call.meta, host.limit_of(spec))
                case Abort(error=error):
                    failure = error
                case Continue():
                    pass
    except BaseException as error:
        failure = hidden(spec, contain(error))
    return failed(spec.id, failure, call.meta, host.limit_of(spec))


async def after_hooks(
    entry: Entry, data: Arguments, result: ToolResult, context: ToolContext, host: Host
) -> ToolResult:
    """Return the result, or the one that a hook has in its place; each hook sees what the one before left.

    A denial stands, whatever a hook says, does or raises; `Deny` puts it in other words.
    """
    spec, meta = entry.spec, context.meta
    if not entry.after:
        return result
    call = ToolCall(tool=spec.id, payload_json=_as_it_came(data), meta=meta)
    for step in entry.after:
        try:
            result = await _after(step, spec, call, result, context, host)
        except BaseException as error:
            exception = contain(error)
            if result.status == "denied":
                hidden(spec, exception)
            else:
                result = failed(spec.id, failure_of(spec, exception), meta, host.limit_of(spec))
    return result


async def _after(
    step: Step,
    spec: ToolSpec[Any, Any],
    call: ToolCall,
    result: ToolResult,
    context: ToolContext,
    host: Host,
) -> ToolResult:
    """Return what one hook makes of a result.

    Raises:
        Exception: what the hook raises, or has in the place of the result and must not.
    """
    limit = host.limit_of(spec)
    verdict = await limited(host.stage_timeout, told(step, call, result, context))
    if result.status == "denied" and isinstance(verdict, Answer | Abort):
        raise TypeError(f"a hook said {type(verdict).__name__} to a denied call, which stays denied")
    match verdict:
        case Answer(result=answer):
            return await finished(spec, answer, context, host)
        case Deny(message=message):
            return _reworded(spec, message, result, context.meta, limit)
        case Abort(error=error):
            return failed(spec.id, error, context.meta, limit)
        case Continue():
            return result
        case _:
            assert_never(verdict)


def _as_it_came(data: Arguments) -> bytes:
    """Return the arguments for hooks after the call; nothing of a mapping that is not JSON."""
    try:
        return as_document(data)
    except ToolValidationError:
        return b""


def _reworded(
    spec: ToolSpec[Any, Any], message: str, result: ToolResult, meta: CallMeta, limit: int
) -> ToolResult:
    """Return a denial; one that was one already keeps its code."""
    code = json.loads(result.json).get("code", "denied") if result.status == "denied" else "denied"
    return denied(spec, message, meta, limit, code=code)


async def ended(
    entry: Entry, data: Arguments, result: ToolResult, context: ToolContext, host: Host
) -> ToolResult:
    """Return the result of a call that ends without its executor: truncated, seen by its hooks, and told.

    Raises:
        asyncio.CancelledError: as `dispatch`.
    """
    try:
        if result.status == "ok":
            result = await within_limit(entry.spec, result, context, host)
        result = await after_hooks(entry, data, result, context, host)
    except asyncio.CancelledError:
        _cancelled(entry, context, host)
        raise
    host.reports.ended(result, context.meta)
    return result


def escaped(entry: Entry, error: Exception, meta: CallMeta, host: Host) -> ToolResult:
    """Return the result of a call whose tool ended the very task of the call, past all its steps.

    The error is what `boundary.contained` makes of what came out of the task.
    """
    result = failed(entry.spec.id, failure_of(entry.spec, error), meta, host.limit_of(entry.spec))
    if not isinstance(error.__cause__, asyncio.CancelledError):  # that one was told on its way
        host.reports.ended(result, meta)
    return result


def _cancelled(entry: Entry, context: ToolContext, host: Host) -> None:
    """Tell those who watch of a call whose caller is gone."""
    error = ToolError("the call was cancelled")
    result = failed(entry.spec.id, error, context.meta, host.limit_of(entry.spec))
    host.reports.ended(result, context.meta)
