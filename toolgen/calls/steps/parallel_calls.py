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

    async def make(call: ToolCall, place: int) -> ToolResult:
        tool = directory.by_name.get(call.tool)
        if tool is None:
            return directory.unknown_tool_result(call.tool, call.meta, services)
        frame = Frame(tool, call.payload_json, call.meta, batch, services)
        frame.context.place = place
        result = await dispatch(frame)
        if result.delegated is not None or result.frozen is not None:
            return await later(tool, call.payload_json, result, call.meta)
        return result

    def failed(call: ToolCall, error: BaseException) -> ToolResult:
        tool = directory.by_name[call.tool]  # only what is executed can end the task of its call
        frame = Frame(tool, call.payload_json, call.meta, batch, services)
        return stray_error_result(frame, as_exception(error))

    calls = tuple(calls)
    ended = await services.scheduler.together(make(call, place) for place, call in enumerate(calls))
    ends = zip(calls, ended, strict=True)
    return await batch.settle(
        [failed(call, end) if isinstance(end, BaseException) else end for call, end in ends]
    )
