"""Answers that the run of a call did not take: the host that was to resume it could not verify its record.

The call waits on as it was (`resuming.resume`), and its log says nothing of the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from toolgen.calls.results import ToolResult

from .wait_registry import OpenedToken, WaitRegistry

_PAUSE_S: Final = 1.0
"""Before a look at the run of an answer whose result is not in the log, and between two of them."""


async def result_or_waiting_on(
    waits: WaitRegistry, opened: OpenedToken, result: Callable[[], Awaitable[ToolResult | None]]
) -> ToolResult | None:
    """Return the result of an answer to a call by the log; the call, suspended, where it waits on without it.

    Raises:
        TamperedSuspensionError: it waits on, and its record was changed.
        UnsealedSuspensionError: it waits on, and nobody knows who wrote its record.
        NondeterminismError: its run is stalled.
    """
    try:
        async with asyncio.timeout(_PAUSE_S):  # most are there before, and nothing else is looked at
            return await result()
    except TimeoutError:
        pass
    looks = [asyncio.ensure_future(result()), asyncio.ensure_future(_waiting_on(waits, opened))]
    try:
        await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
        return next(one for one in looks if one.done()).result()
    finally:
        for one in looks:
            one.cancel()


async def _waiting_on(waits: WaitRegistry, opened: OpenedToken) -> ToolResult:
    """Wait until a call waits on without its answer, and return it, suspended."""
    assert opened.frozen is not None, "a planner's question has no record"
    tool, call_id = opened.frozen.tool, opened.frozen.meta.tool_call_id
    call, _, _ = opened.op.rpartition(":")  # all waits of one call have keys with this beginning
    while True:
        status = await waits.engine.settled(opened.run_id)
        for wait in status.awaiting:
            # Not the next one alone: others may have answered meanwhile, and were not taken either.
            if wait.op == opened.op or wait.op.rpartition(":")[0] != call:
                continue
            record = await waits.record(opened.run_id, wait.op, wait.about)
            if record is not None and record.call.id == opened.id:
                asked = waits.suspended(record)
                return ToolResult(tool=tool, status="suspended", tool_call_id=call_id, suspensions=(asked,))
        await asyncio.sleep(_PAUSE_S)
