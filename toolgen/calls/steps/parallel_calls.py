"""Parallel calls: each has a place in their batch, and a result of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolgen.contract.boundary import as_exception

from ..call import ToolCall
from ..context import Batch
from ..results import ToolResult
from .dispatch import dispatch, stray_error_result
from .frame import Frame, Later, RuntimeServices

if TYPE_CHECKING:
    from ..toolsets.directory import Directory


async def gather_results(
    calls: Iterable[ToolCall], directory: Directory, batch: Batch, services: RuntimeServices, later: Later
) -> tuple[ToolResult, ...]:
    """Execute the calls of a batch in parallel and return their results in order.

    Raises:
        EventLoopError: the runtime belongs to another event loop, which has not ended.
        KeyboardInterrupt: a tool raised it.
    """
    calls = tuple(calls)
    running = (_call_one(call, place, directory, batch, services, later) for place, call in enumerate(calls))
    ended = await services.scheduler.together(running)
    results = (
        _failed_call(call, directory, batch, services, end) if isinstance(end, BaseException) else end
        for call, end in zip(calls, ended, strict=True)
    )
    return await batch.settle(tuple(results))


async def _call_one(
    call: ToolCall, place: int, directory: Directory, batch: Batch, services: RuntimeServices, later: Later
) -> ToolResult:
    tool = directory.by_name.get(call.tool)
    if tool is None:
        return directory.unknown_tool_result(call.tool, call.meta, services)
    frame = Frame(tool, call.payload_json, call.meta, batch, services)
    frame.context.place = place
    result = await dispatch(frame)
    if result.delegated is not None or result.frozen is not None:
        return await later(tool, call.payload_json, result, call.meta)
    return result


def _failed_call(
    call: ToolCall, directory: Directory, batch: Batch, services: RuntimeServices, error: BaseException
) -> ToolResult:
    """Return the result of a call whose tool ended the task of the call.

    Raises:
        KeyboardInterrupt: it was raised.
    """
    tool = directory.by_name.get(call.tool)
    assert tool is not None  # only what is executed can do so
    return stray_error_result(Frame(tool, call.payload_json, call.meta, batch, services), as_exception(error))
