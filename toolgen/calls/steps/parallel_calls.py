"""Parallel calls: each has an index in the batch and its own result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolgen.contract.boundary import as_exception

from ..call import ToolCall
from ..context import Batch
from ..results import ToolResult
from .dispatch import dispatch, stray_error_result
from .frame import Frame, HandToRun, RuntimeServices

if TYPE_CHECKING:
    from ..toolsets.directory import Directory


async def gather_results(
    calls: Iterable[ToolCall],
    directory: Directory,
    batch: Batch,
    services: RuntimeServices,
    hand_to_run: HandToRun,
) -> tuple[ToolResult, ...]:
    """Execute the calls of a batch in parallel and return their results in order.

    Raises:
        EventLoopError: the runtime belongs to another event loop that has not ended.
        KeyboardInterrupt: a tool raised it.
    """

    frames: dict[int, Frame] = {}

    async def make(call: ToolCall, place: int) -> ToolResult:
        tool = directory.by_name.get(call.tool)
        if tool is None:
            return await directory.unknown_call_result(call, services)
        frame = frames[place] = Frame(tool, call.payload_json, call.meta, batch, services)
        frame.context.place = place
        result = await dispatch(frame)
        if result.delegated is not None or result.frozen is not None:
            return await hand_to_run(tool, call.payload_json, result, call.meta)
        return result

    ended = await services.scheduler.together(make(call, place) for place, call in enumerate(calls))
    results = [
        stray_error_result(frames[place], as_exception(end)) if isinstance(end, BaseException) else end
        for place, end in enumerate(ended)  # only the executed code can end the task of its call
    ]
    return await batch.settle(results)
