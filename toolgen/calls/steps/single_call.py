"""Single calls of a host: directly to the executor if the tool needs no steps around it, otherwise by steps.

The direct path follows the rules of the steps (`dispatch`) for such a tool, and takes two thirds of their
time for a small call. It creates a frame only for a call that ends with something other than a plain result.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..call import NO_META, Arguments, CallMeta, ToolCall, arguments_json_or_empty, is_blank
from ..context import Batch, ToolContext, batch_of
from ..errors import ToolError, ToolValidationError
from ..reports import SILENT
from ..results import ToolOutcome, ToolResult, WithoutResult
from .dispatch import decode_if_blank, delegate_or_suspend, dispatch, failure_of, storing
from .failures import invalid_arguments_result
from .frame import Frame, HostArguments, call_arguments, tool_name
from .result_encoding import bounds_of, encode_result
from .running_call import CALLER, RunningCall

if TYPE_CHECKING:
    from ..context import Values
    from ..reports import Trace
    from ..specs import ToolSpec
    from ..toolsets.directory import Directory
    from ..toolsets.snapshot import Snapshot
    from .frame import RuntimeServices
    from .hook_tools import HookTools
    from .registered_tool import RegisteredTool

_new: Final = object.__new__
_NO_PLAIN_RESULT: Final = (ToolOutcome, WithoutResult)


class SingleCalls:
    """Executes calls one by one; `Runtime` extends it."""

    _services: RuntimeServices
    _directory: Directory
    _hook_tools: HookTools

    async def call(
        self,
        tool: str | ToolSpec,
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        trace: Trace | None = None,
        values: Values | None = None,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Execute a call and return its result. Failures of the tool are results, not exceptions.

        Args:
            tool: ID, wire name that only one registered tool has, or spec.
            arguments: JSON text, a mapping of JSON values, or a payload object of the tool.
            meta: Facts about the call that only the host knows.
            trace: New `Trace` that records the steps of the call, for tests.
            values: Values that the hooks and tools of the turn share.
            within: Snapshot in which to look up the tool; by default the registered tools.

        Raises:
            RegistrationError: A hook names a tool that does not exist, so no call is executed.
            EventLoopError: The runtime belongs to another event loop, which is still running.
            TypeError: The tool or the arguments have the wrong type.
            ValueError: The trace was used by another call.
        """
        if not self._hook_tools.is_settled:
            self._hook_tools.require_all_known()
        directory = self._directory if within is None else within.directory
        # Compare `__class__`, because `type()` would cost a function call in every tool call.
        name: str = tool if tool.__class__ is str else tool_name(tool)  # pyright: ignore[reportAssignmentType]
        registered = directory.by_name.get(name)
        services = self._services
        if registered is None:
            return await _unknown_result(name, directory, arguments, meta, services, trace)
        spec, scheduler, execution = registered.spec, services.scheduler, services.execution
        reports = services.reports
        received: Arguments = (
            arguments  # pyright: ignore[reportAssignmentType]
            if arguments.__class__ is bytes
            else call_arguments(spec, arguments)
        )
        if (
            not registered.is_direct
            or services.needs_steps
            or not (reports is SILENT or reports.is_idle)
            or trace is not None
            or values is not None
            or CALLER.get() is not None
            or scheduler.loop is not get_running_loop()
        ):
            batch = Batch(services.capabilities, values)
            frame = Frame(registered, received, meta, batch, services, trace)
            result: Any = await dispatch(frame)
            if result.status != "ok" or batch.touched:
                result = await self._ended(frame, result)
            if trace is not None and result.error is not None:
                trace.fail(result.error)
            return result  # type: ignore[no-any-return]  # it is Any below
        context: Any = _new(ToolContext)  # the constructor and a batch are a fifteenth of a ping
        context.meta, context.tool = meta, spec.id
        context.spec, context._new_batch = spec, services.new_batch
        try:
            try:
                payload = spec.payload.decode_null_as_absent(received, services.limits)
            except ToolValidationError as error:
                if not is_blank(received):
                    return invalid_arguments_result(spec, error, received, meta, registered.result_bytes)
                payload = decode_if_blank(_frame(context, registered, received, services), error)
                if isinstance(payload, ToolResult):
                    return payload
            if registered.meta_fields:
                registered.inject_meta(payload, meta)
            running, limit = RunningCall(), scheduler.limit_outside_runs
            token = CALLER.set(running)
            try:
                if registered.needs_no_thread_or_lock and limit.running < limit.most and not meta.run_id:
                    limit.running += 1  # as in `admit_at_once`
                    running.limits = scheduler.only_process_limit
                    running.is_open = running.has_slot = True
                elif not scheduler.admit_at_once(running, registered, meta, payload, None):
                    await scheduler.admit(running)
                context.has_begun = True
                if registered.is_awaited_directly:
                    try:
                        returned = await registered.execute(payload, context)
                    except ToolError as error:
                        returned = await execution.retry(running, registered, error, payload, context)
                else:
                    returned = await execution.run(running, registered, payload, context)
            finally:
                if running.run_limit is None and running.has_slot:  # as in `leave`
                    running.is_open = running.has_slot = False
                    limit.running -= 1
                    if limit.queue.waiters:
                        limit.admit_next()
                else:
                    scheduler.leave(running)
                CALLER.reset(token)
            result = None
            if not isinstance(returned, _NO_PLAIN_RESULT):
                document = spec.result.encode(returned)
                result = _new(ToolResult)  # as in `encode_result`
                result.tool, result.status, result.json = spec.id, "ok", document
                result.result, result.tool_call_id = returned, meta.tool_call_id
                if spec.bounded is not None:
                    result.bounds = bounds_of(spec, returned)
                if context._batch is None and len(document) <= registered.result_bytes:
                    return result  # type: ignore[no-any-return]  # created as one
            frame = _frame(context, registered, received, services)
            if isinstance(returned, WithoutResult):
                result = await delegate_or_suspend(frame, returned)
            else:
                result = await storing.store_and_truncate(
                    frame, result or encode_result(spec, returned, meta)
                )
        except BaseException as error:  # noqa: BLE001 - author code; `failure_of` filters cancellations
            frame = _frame(context, registered, received, services)
            result = frame.error_result(failure_of(frame, error))
        return await self._ended(frame, result)

    async def _ended(self, frame: Frame, result: ToolResult) -> ToolResult:
        """Return the final result of a call, after events, spans and hooks."""
        if result.status != "ok" and (result.delegated is not None or result.frozen is not None):
            result = await self._hand_to_run(frame.tool, frame.arguments, result, frame.meta)
        if frame.batch.touched:
            (result,) = await frame.batch.settle((result,))
        return result

    async def _hand_to_run(
        self, tool: RegisteredTool, arguments: Arguments, result: ToolResult, meta: CallMeta
    ) -> ToolResult:
        """Return the result of a call that an agent executes, or that is now suspended."""
        raise NotImplementedError


async def _unknown_result(
    tool: str,
    directory: Directory,
    arguments: HostArguments,
    meta: CallMeta,
    services: RuntimeServices,
    trace: Trace | None,
) -> ToolResult:
    """Return and emit the error result of a call whose tool does not exist.

    Raises:
        ValueError: the trace belongs to another call.
    """
    if trace is not None:
        trace.require_unused()
    document = b""
    if isinstance(arguments, bytes | str | Mapping):  # not a payload of another tool
        document = arguments_json_or_empty(arguments)
    call = ToolCall(tool=tool, payload_json=document, meta=meta)
    result = await directory.unknown_call_result(call, services)
    if trace is not None and result.error is not None:
        trace.fail(result.error)
    return result


def _frame(
    context: ToolContext, tool: RegisteredTool, arguments: Arguments, services: RuntimeServices
) -> Frame:
    """Return the frame of a call that already has its context."""
    batch = batch_of(context)
    assert batch is not None, "the services have given it one"
    return Frame(tool, arguments, context.meta, batch, services, context=context)
