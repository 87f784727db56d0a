"""Calls that an agent answers whose run waits: the client is told, and the run goes on without it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import anyio
from mcp import MCPError
from mcp.types import INTERNAL_ERROR

from toolgen.agents.owner import answers_call
from toolgen.contract.logs import log_failure, logger
from toolgen.runtime import Runtime, Suspended, ToolResult

log = logger("toolgen.mcp")

_CLEANUP_S: Final = 5.0


class WaitingBelow:
    """Waits for calls of a runtime, and keeps those that go on after their requests."""

    def __init__(self, runtime: Runtime, pending_s: float) -> None:
        self._runtime = runtime
        self._pending_s = pending_s
        self._going_on: set[asyncio.Task[ToolResult]] = set()

    async def result(
        self, call: Coroutine[Any, Any, ToolResult], tool_call_id: str, session_id: str
    ) -> ToolResult | Suspended:
        """Return the result of a call; after `pending_s` seconds, what the run of its agent waits for.

        A call whose run waits for nothing is waited for as long as it takes. One whose request is cancelled
        is cancelled.

        Raises:
            MCPError: the engine cannot say what the run waits for; the call was cancelled.
        """
        task = asyncio.create_task(call)
        try:
            while not (await asyncio.wait({task}, timeout=self._pending_s))[0]:
                asked = await self._waits_for(tool_call_id, session_id)
                if asked is not None and not task.done():
                    self._going_on.add(task)
                    task.add_done_callback(self._ended)
                    return asked
        except asyncio.CancelledError:
            await _cancel(task)
            raise
        except Exception as error:
            reference = log_failure(log, error, "it cannot be read what the call %s waits for", tool_call_id)
            await _cancel(task)
            if not task.done() or task.cancelled():
                message = f"the server cannot say what this call waits for (reference {reference})"
                raise MCPError(INTERNAL_ERROR, f"{message}; the call was cancelled") from None
        return task.result()  # it has ended, in spite of a failed look at it too

    async def _waits_for(self, tool_call_id: str, session_id: str) -> Suspended | None:
        """Return what the run of a call waits for, or a run below it; None where they wait for nothing."""
        if (engine := self._runtime.engine) is None:
            return None
        for asked in await self._runtime.suspended(session_id):
            if await answers_call(engine, asked.run_id, tool_call_id):
                return asked
        return None

    def _ended(self, task: asyncio.Task[ToolResult]) -> None:
        self._going_on.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            log_failure(log, error, "a call failed that went on after its request")


async def _cancel(task: asyncio.Task[ToolResult]) -> None:
    task.cancel()
    with anyio.move_on_after(_CLEANUP_S, shield=True):
        await asyncio.wait({task})
