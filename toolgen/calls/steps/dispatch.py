"""One call, step by step: decode, authorize, inject, execute, encode, check; and its end.

It has one result and one `tool_end` event. A suspended call has another event after its answer; a call that
an agent answers has its only event then. After-hooks run on the last result.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.boundary import as_task_exception, run_first_step, run_with_timeout
from toolgen.contract.errors import ToolgenError
from toolgen.contract.lazy import LazyModule
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.names import UNAVAILABLE
from toolgen.contract.record import copied
from toolgen.contract.secrets import hiding

from ..call import NO_ARGUMENTS, CallMeta, ToolCall, arguments_json, is_blank
from ..errors import (
    MalformedReportError,
    MalformedResultError,
    NotBegunError,
    OutcomeUnknownError,
    ToolError,
    ToolValidationError,
)
from ..reports import SILENT
from ..results import (
    Delegated,
    GrantLapsedError,
    Pending,
    Received,
    RetryHint,
    Telemetry,
    ToolResult,
    Unfinished,
    WithoutResult,
)
from .failures import declared, error_result, log, tool_error_of, unreadable_result
from .result_encoding import encode_result
from .running_call import CALLER, RunningCall, await_without_slot

if TYPE_CHECKING:
    from toolgen.shapes.design.model import ToolModel

    from ..call import SeenBounds
    from ..reports import CallSpans
    from .frame import Frame, RuntimeServices
    from .registered_tool import RegisteredTool

WHY_CANCELED: Final = "the call was cancelled"
"""Error of a call whose caller was cancelled."""
_hooks: Final[Any] = LazyModule("toolgen.calls.steps.hook_stages", None)
storing: Final[Any] = LazyModule("toolgen.calls.steps.result_storing", None)
_scalars: Final[Any] = LazyModule("toolgen.shapes.design.scalars", None)
"""Few calls need them, and an import in a function costs each of these calls 0.2 µs."""
_NO_ENGINE: Final = ToolgenError(
    "this runtime has no engine", hint="pass an engine: Runtime(engine=InProcessEngine())"
)


def dispatch(frame: Frame) -> Coroutine[Any, Any, ToolResult]:
    """Return a coroutine that executes one call and returns its result.

    Raises:
        EventLoopError: the runtime belongs to another event loop that has not ended.
        ValueError: the trace of the frame belongs to another call.
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: always propagated.
    """
    services, reports = frame.services, frame.services.reports
    if services.scheduler.loop is not get_running_loop():
        services.scheduler.attach()
    if frame.trace is not None:
        frame.trace.require_unused()
        frame.trace.mark("lookup", frame.spec.id)
    is_observed = (
        services.is_measured or frame.tool.has_hooks_after or not (reports is SILENT or reports.is_idle)
    )
    work = _dispatch_observed(frame) if is_observed else _run_steps(frame, False)
    if frame.secrets is not None:
        work = _redacted(frame, work)
    caller = CALLER.get()
    return work if caller is None else await_without_slot(caller, work)


async def _redacted(frame: Frame, work: Awaitable[ToolResult]) -> ToolResult:
    """Execute a call with sensitive values and return its result; all its reports are redacted."""
    with hiding(frame.secrets):
        return await work


async def _dispatch_observed(frame: Frame) -> ToolResult:
    """Execute a call that has subscribers, spans or after-hooks, and return its result."""
    started = time.perf_counter()
    services, tool = frame.services, frame.tool
    is_reported = services.reports is not SILENT
    if is_reported:
        frame.context.report = services.reports.progress_callback(frame.spec, frame.meta)
    work = _run_steps(frame, is_reported)
    if tool.has_hooks_after:
        work = _hooks.run_after_hooks(frame, work)
    if services.spans is not None:
        work = _run_in_span(services.spans, frame, work)
    try:
        result: Any = await work
    except asyncio.CancelledError:
        emit_end(frame, _cancelled_result(frame))
        raise
    if tool.has_hooks_after:
        result = copied(result)  # a hook may keep a reference to the original
    telemetry: Any = object.__new__(Telemetry)
    result.telemetry = telemetry  # not shared with other calls
    telemetry.duration_s = time.perf_counter() - started
    return emit_end(frame, result) if is_reported else result


async def _run_in_span(spans: CallSpans, frame: Frame, work: Awaitable[ToolResult]) -> ToolResult:
    """Await the work within a span and return its result."""
    with spans.of(frame.spec, frame.meta, frame.arguments, frame.trace_before) as end:
        return end(await work)


async def _run_steps(frame: Frame, is_reported: bool) -> ToolResult:
    """Execute the steps of a call up to its after-hooks, and return its result.

    It is long because a further function would cost time in every call; rare cases are in other functions.
    """
    tool, spec, meta = frame.tool, frame.spec, frame.meta
    context, services, trace = frame.context, frame.services, frame.trace
    try:
        if services.why_disabled is not None:
            await _require_enabled(frame, services.why_disabled)
        try:
            payload = spec.payload.decode_null_as_absent(
                frame.arguments, UNLIMITED if frame.resumption else services.limits
            )
        except ToolValidationError as error:
            payload = decode_if_blank(frame, error)
            if isinstance(payload, ToolResult):
                return payload
        if trace is not None:
            trace.mark("decode", payload)
        if is_reported:
            services.reports.emit_tool_start(spec, payload, meta, runs_once=not tool.may_repeat)
        if tool.needs_call:
            payload = await _prepare(frame, payload)
            if isinstance(payload, ToolResult):
                return payload
        elif tool.meta_fields:
            tool.inject_meta(payload, meta)
        if trace is not None:
            trace.mark("inject", spec.injected)
        scheduler, running = services.scheduler, RunningCall()
        token = CALLER.set(running)
        try:
            if not scheduler.admit_at_once(running, tool, meta, payload, token.old_value):
                running.is_answered = frame.resumption is not None
                await scheduler.admit(running)
            if frame.record_begin is not None:
                await frame.record_begin()
            context.has_begun = True
            if tool.is_awaited_directly:
                try:
                    returned = await tool.execute(payload, context)
                except ToolError as error:
                    returned = await services.execution.retry(running, tool, error, payload, context)
            else:
                argument = frame.call if tool.raw else payload
                returned = await services.execution.run(running, tool, argument, context)
        finally:
            scheduler.leave(running)
            CALLER.reset(token)
        if trace is not None:
            trace.mark("execute", returned)
        if isinstance(returned, WithoutResult):
            return await delegate_or_suspend(frame, returned)
        result = encode_result(spec, returned, meta, trace)
        is_long = len(result.json) > tool.result_bytes
        if is_long or result.artifacts or result.display or services.policy is not None:
            return await storing.store_and_truncate(frame, result)  # type: ignore[no-any-return]  # it is Any
        return result
    except BaseException as error:  # noqa: BLE001 - author code; `failure_of` filters cancellations
        if isinstance(error, GrantLapsedError):
            return error.result
        failure = failure_of(frame, error)
    if tool.on_error and frame.call is not None:
        return await _hooks.run_error_hooks(frame, frame.call, failure)  # type: ignore[no-any-return]  # it is Any
    return frame.error_result(failure)


def failure_of(frame: Frame, error: BaseException) -> ToolError:
    """Return the `ToolError` of failed steps; an abandoned executor is not awaited.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: always propagated.
    """
    if frame.give_up is not None and isinstance(error, asyncio.CancelledError | OutcomeUnknownError):
        frame.give_up()
    is_of_result = isinstance(error, MalformedResultError) and not isinstance(error, MalformedReportError)
    if is_of_result and frame.context.has_begun:
        return unreadable_result(frame.spec, error, frame.tool.execute)
    if isinstance(error, NotBegunError) and frame.context.has_begun:  # from a call that the executor made
        return ToolError(error.message, retry_hint=error.retry_hint)
    return tool_error_of(frame.spec, as_task_exception(error))


async def _require_enabled(frame: Frame, why_disabled: Callable[[str], Awaitable[str | None]]) -> None:
    """Raise if the tool is disabled, after emitting that the call is denied.

    Raises:
        ToolError: the tool is disabled.
    """
    spec = frame.spec
    if (reason := await why_disabled(spec.id)) is None:
        return
    message = f"{spec.name} is disabled{f': {reason}' if reason else ''}"
    hint = RetryHint(reason="tool_unavailable", tool=spec.id, message=message)
    frame.services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", message)
    raise ToolError(message, retry_hint=hint)


def decode_if_blank(frame: Frame, error: ToolValidationError) -> Any:
    """Decode blank arguments, which some models send, as `{}`; return the error result for others."""
    if not is_blank(frame.arguments):
        return frame.invalid_arguments_result(error)
    try:
        return frame.spec.payload.decode_null_as_absent(NO_ARGUMENTS, frame.services.limits)
    except ToolValidationError as missing:
        return frame.invalid_arguments_result(missing)


async def _prepare(frame: Frame, payload: ToolModel) -> object:
    """Run hooks, authorization and injection; return the payload, or the `ToolResult` that ends the call."""
    tool = frame.tool
    call = frame.call = frame.tool_call(arguments_json(frame.arguments), payload)
    if tool.has_checks_before:
        hooks = iter(tool.before if frame.resumption is None else tool.on_resume)
        for hook in hooks:
            verdict: Any = run_first_step(hook(call, call.payload, frame.context))
            if verdict.__class__ is not _hooks.Continue or verdict.payload is not None:
                outcome = await _hooks.apply_strictest(frame, hook, verdict, call, hooks)
                if not isinstance(outcome, ToolCall):
                    return outcome.result
                call = outcome
        if frame.context._opened is not None:
            _hooks.mark_state(frame.context)
        if tool.has_fixed_payload is None:
            tool.has_fixed_payload = _scalars.holds_scalars(frame.spec.payload.type)
        # The JSON of a fixed payload is only needed if the call is suspended, and is encoded then.
        if not tool.has_fixed_payload or call.payload is not payload:
            call = frame.call = _frozen(frame, call)
        if tool.may_need_approval:
            from .authorization import authorize

            if (result := await authorize(frame, call)) is not None:
                return result
    if frame.spec.long_running is not None and (refused := _refuse_work(frame)) is not None:
        return refused
    if tool.meta_fields:
        tool.inject_meta(call.payload, frame.meta)
    if tool.intercepted_fields:
        await _intercept(tool, call, frame.services)
    return call.payload


def _frozen(frame: Frame, call: ToolCall) -> ToolCall:
    """Return the call with its arguments after the hooks, and with the bounds for the policy."""
    document = frame.spec.payload.encode(call.payload)
    seen: tuple[SeenBounds, ...] = ()
    if frame.services.policy is not None:
        from .policy import seen_bounds

        seen = seen_bounds(frame.context.values)
    elif document == call.payload_json:
        return call
    return replace(call, payload_json=document, seen_bounds=seen)


async def delegate_or_suspend(frame: Frame, returned: WithoutResult) -> ToolResult:
    """Delegate the call, suspend it until it is answered, or convert the response of the service.

    Raises:
        MalformedResultError: the tool's design has no `LongRunning`.
        ToolError: nobody can be asked, or the response is not a result of the tool.
    """
    spec = frame.spec
    if isinstance(returned, Received):
        from .received import received_result  # few responses do not fit

        return await storing.store_and_truncate(frame, received_result(spec, returned.error, frame.meta))  # type: ignore[no-any-return]  # it is Any
    if isinstance(returned, Delegated):
        return ToolResult(
            tool=spec.id, status="suspended", tool_call_id=frame.meta.tool_call_id, delegated=returned
        )
    assert isinstance(returned, Unfinished | Pending)  # these are the only other classes
    suspender = frame.services.suspender
    if isinstance(returned, Unfinished) and (why := frame.nobody_to_ask):
        question: object = returned.question
        if returned.kind == "credential" and isinstance(question, str) and question:
            raise ToolError(f"{question}; it is not requested because {why}")
        frame.services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", UNAVAILABLE)
        return frame.denied_result(f"{spec.name} needs a person's answer, but {why}", code=UNAVAILABLE)
    if suspender is None or (isinstance(returned, Pending) and spec.long_running is None):
        raise MalformedResultError(
            f"{spec.name} returned a pending result, but its design has no LongRunning"
        )
    if (call := frame.call) is not None and frame.tool.has_checks_before:
        frozen = spec.payload.encode(call.payload) if frame.tool.has_fixed_payload else call.payload_json
        return await suspender.suspend(frame, returned, frozen)
    # The received arguments: an executor may have changed its payload.
    payload = spec.payload.decode_null_as_absent(arguments_json(frame.arguments), UNLIMITED)
    return await suspender.suspend(frame, returned, spec.payload.encode(payload))


def _refuse_work(frame: Frame) -> ToolResult | None:
    """Return the denial of a long-running call if this runtime cannot suspend it; None otherwise."""
    spec, services = frame.spec, frame.services
    error = _NO_ENGINE if services.suspender is None else services.suspender.obstacle(frame.tool)
    if error is None:
        return None
    log.warning("%s was not run: %s; %s", spec.id, error.message, error.hint)
    services.reports.emit_authorization(spec.id, frame.meta, "denied", "runtime", UNAVAILABLE)
    message = f"{spec.name} was not run: it is long-running, and {error.message}"
    return frame.denied_result(message, code=UNAVAILABLE)


async def _intercept(tool: RegisteredTool, call: ToolCall, services: RuntimeServices) -> None:
    """Run the interceptors, which set injected fields; these values are in no log, hash or result."""
    for interceptor in tool.interceptors:
        await run_with_timeout(services.stage_timeout, interceptor.intercept(call, call.payload))
    for name in tool.intercepted_fields:
        getattr(call.payload, name)  # raises NotInjectedError with the name of the field


async def end_without_executor(frame: Frame, result: ToolResult) -> ToolResult:
    """End a call without its executor: truncate the result, run the after-hooks, emit the end.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
    """
    with hiding(frame.secrets):
        if frame.secrets is not None and result.status == "ok":
            from ..sensitive import note_typed

            note_typed(frame.spec.result, result.json)
        try:
            if result.status == "ok":
                result = await storing.store_and_truncate(frame, result)
            if frame.tool.has_hooks_after:
                result = await _hooks.run_after_hooks(frame, result)
        except asyncio.CancelledError:
            emit_end(frame, _cancelled_result(frame))
            raise
        if frame.trace_before and (spans := frame.services.spans) is not None:
            with spans.of(frame.spec, frame.meta, frame.arguments, frame.trace_before) as end:
                end(result)
        return emit_end(frame, result)


def stray_error_result(frame: Frame, error: Exception) -> ToolResult:
    """Return the error result of a call whose tool ended its own task; `error` is from `as_exception`."""
    if isinstance(error.__cause__, asyncio.CancelledError):  # its end was already emitted
        return _cancelled_result(frame)
    with hiding(frame.secrets):
        return emit_end(frame, frame.failed_result(error))


def failed_call_result(
    tool: RegisteredTool, error: Exception, meta: CallMeta, services: RuntimeServices
) -> ToolResult:
    """Emit and return the error result of a call that failed outside its frame."""
    spec = tool.spec
    result = error_result(spec.id, declared(spec, tool_error_of(spec, error)), meta, tool.result_bytes)
    services.reports.emit_tool_end(result, meta, spec)
    return result


def emit_end(frame: Frame, result: ToolResult) -> ToolResult:
    """Emit the end of a call unless an agent will answer it, and return its result."""
    if result.delegated is None:
        frame.services.reports.emit_tool_end(result, frame.meta, frame.spec)
    return result


def _cancelled_result(frame: Frame) -> ToolResult:
    """Return the result of a cancelled call: `unknown` if it has begun and must not run twice."""
    name, has_begun = frame.spec.name, frame.context.has_begun
    if not has_begun:
        return frame.error_result(ToolError(f"{name} was not run: {WHY_CANCELED}"))
    if not frame.tool.may_repeat:
        return frame.error_result(OutcomeUnknownError(f"{WHY_CANCELED}; {name} may have run"))
    return frame.error_result(ToolError(WHY_CANCELED))
