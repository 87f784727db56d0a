"""The end of a call: the hooks after it have seen its one result, and those who watch are told of it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ..calls import CallMeta
from ..errors import ToolError
from ..results import ToolResult
from ..specs import ToolSpec
from ..toolsets.directory import Directory
from .failures import failed, failure_of
from .finishing import within_limit
from .frame import Frame
from .hook_stages import after_hooks
from .host import Host

CANCELLED: Final = "the call was cancelled"
"""Why a call failed whose caller is gone."""


async def ended(frame: Frame, result: ToolResult) -> ToolResult:
    """Return the result of a call that ends without its executor: truncated, seen by its hooks, and told.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
    """
    try:
        if result.status == "ok":
            result = await within_limit(frame, result)
        result = await after_hooks(frame, result)
    except asyncio.CancelledError:
        tell_cancelled(frame)
        raise
    return told(frame, result)


def escaped(frame: Frame, error: Exception) -> ToolResult:
    """Return the result of a call whose tool ended the very task of the call, past all its steps.

    The error is what `boundary.contained` makes of what came out of the task.
    """
    result = frame.failed(failure_of(frame.spec, error))
    if isinstance(error.__cause__, asyncio.CancelledError):  # that one was told on its way
        return result
    return told(frame, result)


def unanswered(spec: ToolSpec[Any, Any], error: Exception, meta: CallMeta, host: Host) -> ToolResult:
    """Return the result of a call that fails before or after its frame; those who watch are told of it."""
    result = failed(spec.id, failure_of(spec, error), meta, host.limit_of(spec))
    host.reports.ended(result, meta)
    return result


def unknown(directory: Directory, tool: str, meta: CallMeta, host: Host) -> ToolResult:
    """Return the result of a call whose tool is not there; those who watch are told of it."""
    result = directory.unknown(tool, meta, host.limits.result_bytes)
    host.reports.ended(result, meta)
    return result


def told(frame: Frame, result: ToolResult) -> ToolResult:
    """Return the result, of which those who watch are told; a call that an agent answers has none yet."""
    if result.delegated is None:
        frame.host.reports.ended(result, frame.meta)
    return result


def tell_cancelled(frame: Frame) -> None:
    """Tell those who watch of a call whose caller is gone."""
    told(frame, frame.failed(ToolError(CANCELLED)))
