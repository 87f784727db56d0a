"""Operations of a loop, for all engines: names, keys that are taken, `gather`, ends that nobody sees."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Coroutine, Iterable
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.runtime.engine import ActivityFailed, DuplicateOperationError

_TOOL: Final = re.compile(r"[\w.:/-]{1,200}")
"""What may be the name of an activity; a model may ask for a tool of any name."""

log = logger("toolgen.engines")


def duplicate_operation(run_id: str, op: str) -> DuplicateOperationError:
    """Return the error of an operation whose key another one of the run has."""
    return DuplicateOperationError(
        f"the loop of run {run_id} uses the key {op!r} for two operations; "
        "this is a mistake in the loop, please report it"
    )


async def result_or_failure(awaitable: Awaitable[Json]) -> Json | ActivityFailed:
    """Return what an awaitable of `RunContext.gather` gives: its result, or its failure as a value."""
    try:
        return await awaitable
    except ActivityFailed as failure:
        return failure
    except SystemExit as error:  # out of a task it would end the event loop
        raise RuntimeError("the loop raised an exception that ends the process") from error


def cancel_gathered(tasks: Iterable[asyncio.Task[Any]], awaitables: Iterable[Awaitable[Json]]) -> None:
    """Cancel the tasks of awaitables that are gathered, those too that have not begun."""
    for task in tasks:
        task.cancel()
    for awaitable in awaitables:
        if isinstance(awaitable, Coroutine) and getcoroutinestate(awaitable) == CORO_CREATED:
            awaitable.close()  # its task ends before it begins


def activity_name(activity: str, arg: Json) -> str:
    """Return what people know an activity by: of a tool call, the id of the tool."""
    match arg:
        case {"call": {"tool": str(tool)}} if activity == "tool" and _TOOL.fullmatch(tool):
            return tool
        case _:
            return activity


def log_cut_off(run_id: str, op: str, activity: str, *, is_unknown: bool, is_durable: bool = True) -> None:
    """Log that an attempt did not end before its worker, and what becomes of it."""
    then = "another worker executes it again" if is_durable else "its run ends with this process"
    if is_unknown:
        then = "its outcome is unknown"
    log.warning(
        "run %s: %s of %s did not end before its worker, and is cut off; %s", run_id, op, activity, then
    )


def ignore_exception(end: asyncio.Future[Any]) -> None:
    """Mark the exception of a future as retrieved, so that asyncio does not log it where nobody awaits it."""
    if not end.cancelled():
        end.exception()
