"""Progress of a tool, sent as `notifications/progress` for the request that called it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pydantic_core import to_json

from toolgen.events.records import Event, ToolUpdate
from toolgen.runtime import Runtime

from .identity import Context

_STEP: Final = 1e-6
"""Increment of the progress if a tool reports only a text: each value must be larger (MCP, Progress)."""


@asynccontextmanager
async def progress_relay(runtime: Runtime, ctx: Context, tool_call_id: str) -> AsyncIterator[None]:
    """Notify the client of a call's progress for the duration of the context, if it sent a progress token.

    Progress before the end is sent before the result. A runtime without `Events` reports no progress.
    """
    if runtime.events is None or not ctx.meta or ctx.meta.get("progress_token") is None:
        yield
        return
    relay = _Relay(ctx, tool_call_id)
    async with runtime.events.on(relay.report, types=["tool_update"]):
        yield


class _Relay:
    """Sender of the progress of one call."""

    def __init__(self, ctx: Context, tool_call_id: str) -> None:
        self._session = ctx.session
        self._tool_call_id = tool_call_id
        self._last = -_STEP
        self._total: float | None = None

    async def report(self, event: Event) -> None:
        """Send an update of the call: a value from 0 to 1 of 1 if the tool reports a fraction."""
        if not isinstance(event, ToolUpdate) or event.tool_call_id != self._tool_call_id:
            return
        fraction = event.fraction
        if fraction is not None:
            self._total = 1.0
        message = event.message or (to_json(event.value).decode() if event.number else "")
        if not message and (fraction is None or fraction <= self._last):
            return
        self._last = max(self._last + _STEP, -_STEP if fraction is None else fraction)
        await self._session.report_progress(self._last, self._total, message or None)
