"""One call that a host makes: straight to the executor where nothing stands around the tool, else by steps.

The straight way has the rules of the steps (`dispatch`) for what such a tool has, and takes two thirds of
their time for a small call. It makes a frame only of a call that ends otherwise than with a plain result.
"""

from __future__ import annotations

from asyncio import get_running_loop
from typing import TYPE_CHECKING, Any, Final

from ..codec import NO_ARGUMENTS, Arguments, raw_arguments
from ..context import ToolContext, batch_of
from ..errors import ToolError, ToolValidationError
from ..reports import SILENT
from ..results import ToolOutcome, ToolResult, WithoutResult
from .dispatch import decode_empty_arguments, delegate_or_suspend, dispatch, failure_of, finished
from .failures import invalid_arguments_result
from .frame import Batch, Frame
from .result_encoding import bounds_of, encode_result
from .running_call import CALLER, RunningCall

if TYPE_CHECKING:
    from ..call import CallMeta
    from ..reports import Trace
    from ..toolsets.directory import Directory
    from .frame import Later, RuntimeServices
    from .registered_tool import RegisteredTool

_new: Final = object.__new__
_NO_PLAIN_RESULT: Final = (ToolOutcome, WithoutResult)


async def call_by_steps(frame: Frame, later: Later) -> ToolResult:
    """Execute a call step by step, and return its result.

    Raises:
        EventLoopError, ValueError, asyncio.CancelledError, KeyboardInterrupt: as `dispatch`.
    """
    result = await dispatch(frame)
    if result.status != "ok" or frame.batch.touched:
        result = await _ended(frame, result, later)
    if frame.trace is not None and result.error is not None:
        frame.trace.fail(result.error)
    return result


async def call_unknown(
    tool: str, directory: Directory, meta: CallMeta, services: RuntimeServices, trace: Trace | None
) -> ToolResult:
    """Return the error result of a call whose tool does not exist.

    Raises:
        ValueError: the trace is that of another call.
    """
    if trace is not None:
        trace.require_unused()
    result = directory.unknown_tool_result(tool, meta, services)
    if trace is not None and result.error is not None:
        trace.fail(result.error)
    return result


async def call_straight(
    tool: RegisteredTool,
    arguments: Arguments,
    meta: CallMeta,
    services: RuntimeServices,
    later: Later,
) -> ToolResult:
    """Execute a call of a tool that `is_bare`, and return its result.

    It is long because a further function would cost every call.

    Raises:
        EventLoopError, asyncio.CancelledError, KeyboardInterrupt: as `dispatch`.
    """
    spec, scheduler, reports = tool.spec, services.scheduler, services.reports
    needs_steps = services.needs_steps or not (reports is SILENT or reports.is_idle)
    if needs_steps or CALLER.get() is not None or scheduler.loop is not get_running_loop():
        return await call_by_steps(Frame(tool, arguments, meta, services.new_batch(), services), later)
    context: Any = _new(ToolContext)  # its constructor, and a batch, are a fifteenth of a ping
    context.meta, context.tool, context.spec, context._new_batch = meta, spec.id, spec, services.new_batch
    try:
        try:
            payload = spec.payload.decode_lenient(arguments, services.limits)
        except ToolValidationError as error:
            if raw_arguments(arguments) is not NO_ARGUMENTS:
                return invalid_arguments_result(spec, error, arguments, meta, tool.result_bytes)
            payload = decode_empty_arguments(_frame(context, tool, arguments, services), error)
            if isinstance(payload, ToolResult):
                return payload
        if tool.meta_fields:
            tool.inject_meta(payload, meta)
        running, gate = RunningCall(), scheduler.alone
        token = CALLER.set(running)
        try:
            if tool.is_free and gate.running < gate.limit and not meta.run_id:  # as in `admit_at_once`
                gate.running += 1
                running.gates = scheduler.only_process
                running.is_open = running.has_slot = True
            elif not scheduler.admit_at_once(running, tool, meta, payload, None):
                await scheduler.admit(running)
            context.has_begun = True
            if tool.is_plain:
                try:
                    returned = await tool.execute(payload, context)
                except ToolError as error:
                    returned = await services.execution.retry(running, tool, error, payload, context)
            else:
                returned = await services.execution.run(running, tool, payload, context)
        finally:
            if running.lane is None and running.has_slot:  # as in `leave`
                running.is_open = running.has_slot = False
                gate.running -= 1
                if gate.queue.lanes:
                    gate.let_in()
            else:
                scheduler.leave(running)
            CALLER.reset(token)
        if not isinstance(returned, _NO_PLAIN_RESULT):
            document = spec.result.encode(returned)
            result: Any = _new(ToolResult)  # as in `encode_result`
            result.tool, result.status, result.json = spec.id, "ok", document
            result.result, result.tool_call_id = returned, meta.tool_call_id
            if spec.bounded is not None:
                result.bounds = bounds_of(spec, returned)
            if context._batch is None and len(document) <= tool.result_bytes:
                return result  # type: ignore[no-any-return]  # begun as one
            frame = _frame(context, tool, arguments, services)
            result = await finished(frame, result)
        else:
            frame = _frame(context, tool, arguments, services)
            if isinstance(returned, WithoutResult):
                result = await delegate_or_suspend(frame, returned)
            else:
                result = await finished(frame, encode_result(spec, returned, meta))
    except BaseException as error:
        frame = _frame(context, tool, arguments, services)
        result = frame.error_result(failure_of(frame, error))
    return await _ended(frame, result, later)


def _frame(
    context: ToolContext, tool: RegisteredTool, arguments: Arguments, services: RuntimeServices
) -> Frame:
    """Return the frame of a call that has its context already."""
    batch = batch_of(context)
    assert isinstance(batch, Batch), "it is what the services make"
    return Frame(tool, arguments, context.meta, batch, services, context=context)


async def _ended(frame: Frame, result: ToolResult, later: Later) -> ToolResult:
    """Return the result of a call that has nothing more to execute, after what others do with it."""
    if result.status != "ok" and (result.delegated is not None or result.frozen is not None):
        result = await later(frame.tool, frame.arguments, result, frame.meta)
    if frame.batch.touched:
        (result,) = await frame.batch.settle((result,), frame.services.reports)
    return result
