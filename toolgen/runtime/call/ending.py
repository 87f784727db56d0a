"""The end of a call: the hooks after it run on its one result, and the `tool_end` event is emitted."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from toolgen.contract.secrets import hiding

from ..calls import CallMeta
from ..errors import OutcomeUnknownError, ToolError
from ..results import ToolResult
from ..specs import ToolSpec
from ..toolsets.directory import Directory
from .failures import declared, error_result, tool_error_of
from .frame import Frame
from .hook_stages import run_after_hooks
from .result_encoding import truncate_result
from .secrets import note_result
from .services import RuntimeServices

CANCELLED: Final = "the call was cancelled"
"""Why a call failed whose caller is gone."""


async def end_without_executor(frame: Frame, result: ToolResult) -> ToolResult:
    """End a call without its executor: truncate the result, run the after-hooks, emit the end.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
    """
    with hiding(frame.secrets):
        if frame.secrets is not None:
            note_result(frame.secrets, frame.spec, result)
        try:
            if result.status == "ok":
                result = await truncate_result(frame, result)
            result = await run_after_hooks(frame, result)
        except asyncio.CancelledError:
            emit_cancelled(frame)
            raise
        return emit_end(frame, result)


def stray_error_result(frame: Frame, error: Exception) -> ToolResult:
    """Return the error result of a call whose tool ended the call's own task.

    The error is what `boundary.as_exception` makes of what came out of the task.
    """
    with hiding(frame.secrets):
        return _escaped(frame, error)


def _escaped(frame: Frame, error: Exception) -> ToolResult:
    if isinstance(error.__cause__, asyncio.CancelledError):  # that one was told on its way
        return _cancelled_result(frame)
    return emit_end(frame, frame.error_result(tool_error_of(frame.spec, error)))


def failed_call_result(
    spec: ToolSpec[Any, Any], error: Exception, meta: CallMeta, services: RuntimeServices
) -> ToolResult:
    """Emit and return the error result of a call that failed outside its frame."""
    result = error_result(spec.id, declared(spec, tool_error_of(spec, error)), meta, services.limit_of(spec))
    services.reports.emit_tool_end(result, meta, spec)
    return result


def unknown_tool_result(
    directory: Directory, tool: str, meta: CallMeta, services: RuntimeServices
) -> ToolResult:
    """Return and emit the error result of a call whose tool does not exist."""
    result = directory.unknown_tool_result(tool, meta, services.limits.result_bytes)
    services.reports.emit_tool_end(result, meta)
    return result


def emit_end(frame: Frame, result: ToolResult) -> ToolResult:
    """Emit the end of a call, unless an agent is going to answer it, and return its result."""
    if result.delegated is None:
        frame.services.reports.emit_tool_end(result, frame.meta, frame.spec)
    return result


def emit_cancelled(frame: Frame) -> None:
    """Emit the end of a call whose caller was cancelled, and hears nothing of it."""
    emit_end(frame, _cancelled_result(frame))


def _cancelled_result(frame: Frame) -> ToolResult:
    """Return what is known of a call that was cancelled: of unknown outcome if it may not run twice."""
    name, has_begun = frame.spec.name, frame.context.has_begun
    if not has_begun:
        return frame.error_result(ToolError(f"{name} was not run: {CANCELLED}"))
    if frame.tool.runs_once:
        return frame.error_result(OutcomeUnknownError(f"{CANCELLED}; {name} may have run"))
    return frame.error_result(ToolError(CANCELLED))
