"""The end of a call: the hooks after it have seen its one result, and those who watch are told of it."""

from __future__ import annotations

import asyncio
from typing import Final

from ..errors import ToolError
from ..results import ToolResult
from .failures import failure_of
from .finishing import within_limit
from .frame import Frame
from .hook_stages import after_hooks

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


def told(frame: Frame, result: ToolResult) -> ToolResult:
    """Return the result, of which those who watch are told; a call that an agent answers has none yet."""
    if result.delegated is None:
        frame.host.reports.ended(result, frame.meta)
    return result


def tell_cancelled(frame: Frame) -> None:
    """Tell those who watch of a call whose caller is gone."""
    told(frame, frame.failed(ToolError(CANCELLED)))
