"""Calls of agents' tools outside of loops, as by `Runtime.call`: each is a run that its caller waits for."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolgen.runtime.call.ending import CANCELLED, emit_cancelled
from toolgen.runtime.call.frame import Frame
from toolgen.runtime.engine import RunStatus
from toolgen.runtime.errors import ToolError
from toolgen.runtime.results import Delegated, RunLink, ToolResult

from .activities.call_activities import result_of_run
from .loop.calls import empty_document
from .loop.documents import Failure, RunDocument, RunInput
from .owner import facts_of_run
from .run_artifacts import child_artifacts, documents_so_far

if TYPE_CHECKING:
    from .host import AgentHost


class DirectCalls:
    """Makes the runs of calls outside of loops, for the agents of one runtime."""

    def __init__(self, host: AgentHost, cancel: Callable[[str, str], Awaitable[None]]) -> None:
        self._host = host
        self._cancel = cancel

    async def result(self, frame: Frame, delegated: Delegated, run_id: str = "") -> ToolResult:
        """Return the result of a call when the run that answers it, of this id or a new one, is over.

        Raises:
            ToolError: the agents are nested too deep.
            asyncio.CancelledError: the caller is cancelled, and so is the run.
        """
        host, began, meta = self._host, time.perf_counter(), frame.meta
        link = RunLink(
            run_id=run_id or f"run_{uuid.uuid4().hex}",
            agent=delegated.agent,
            parent_run_id=meta.run_id,
            parent_tool_call_id=meta.tool_call_id,
        )
        given = await self._input(frame, delegated, link)
        with host.keep_tool(link.run_id, frame.tool):
            status = await self._over(frame, given, link)
        document = ended_document(status)
        if status.state != "completed":
            document["artifacts"] = await documents_so_far(host.engine, status)
        took = time.perf_counter() - began
        result = await result_of_run(frame, document, link, duration_s=took)
        below = await child_artifacts(document["artifacts"], host.find_tool, host.tools)
        return replace(result, artifacts=(*below, *result.artifacts))

    async def _over(self, frame: Frame, given: RunInput, link: RunLink) -> RunStatus:
        host = self._host
        await host.start(given, link.run_id)
        frame.services.reports.emit_agent_run_started(frame.spec, link, frame.meta)
        try:
            end = host.engine.result(link.run_id)
            return await frame.services.scheduler.wait_for_run(link.run_id, end)
        except asyncio.CancelledError:
            emit_cancelled(frame)
            await self._cancel(link.run_id, CANCELLED)
            raise

    async def _input(self, frame: Frame, delegated: Delegated, link: RunLink) -> RunInput:
        """Return the input of the run that answers a call.

        Raises:
            ToolError: the agents are nested too deep.
        """
        spec, meta = frame.spec, frame.meta
        above = await facts_of_run(self._host.engine, meta.run_id)
        given = self._host.called_run(delegated, spec.id, spec.timeout, meta, above)
        facts, parent = given["facts"], given["facts"]["parent"]
        if facts["depth"] >= self._host.most_depth:
            raise ToolError(f"{spec.name} was not run: the agents are nested too deep")
        if parent is not None:
            parent["child"] = link.run_id
        return given


def ended_document(status: RunStatus) -> RunDocument:
    """Return the document with the end of a run, also of a canceled one."""
    if status.state == "completed":
        return status.output  # type: ignore[return-value]  # as the loop returns it
    given: Any = status.input
    why = status.error or f"the run was {status.state}"
    failure: Failure = {"kind": status.state, "message": why, "causes": []}
    return empty_document(given["facts"]["agent"], "failed", failure)
