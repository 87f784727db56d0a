"""Suspended calls outside of agents: each is a run of the loop `waiting_call`."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..call.artifact_refs import dropping
from ..call.batch import Batch
from ..call.ending import failed_call_result
from ..call.registered_tool import RegisteredTool
from ..call.services import RuntimeServices
from ..calls import CallMeta
from ..engine import ActivityInfo, Loop, UnknownRunError
from ..events.call_events import CallEvents
from ..events.document import from_json
from ..events.event_reporter import EventReporter
from ..resolution import Resolution, ResolveError
from ..results import Delegated, ToolResult
from .errors import TamperedSuspensionError, UnsealedSuspensionError
from .frozen import FrozenCall
from .loop import LOOP, RESUME, VERSION, Outcome, waiting_call
from .resolving import LOOP as RESOLVED
from .resolving import found_out, is_unknown_end, keep_outcome, known_outcome, resolved_call, resolved_end
from .resuming import end_unverified, resume_call
from .sealed_calls import FIRST, SealedCall, next_wait, read_call
from .tools import WaitingTools
from .wait_registry import is_call

if TYPE_CHECKING:
    from ..events.hub import Events

Delegate = Callable[[RegisteredTool, bytes, Delegated, CallMeta, RuntimeServices, str], Awaitable[ToolResult]]
"""Returns the result of a call of an agent's tool: that of a run, whose id is given."""

log = logger("toolgen.runtime")


class WaitingRuns:
    """Starts the runs of suspended calls outside of agents, and resumes those calls."""

    def __init__(
        self, services: RuntimeServices, tools: WaitingTools, delegate: Delegate, hub: Events | None
    ) -> None:
        assert services.waits is not None, "only with an engine a call can wait"
        self._services = services
        self._waits = services.waits
        self._tools = tools
        self._delegate = delegate
        self._hub = hub
        loops: dict[str, Loop] = {LOOP: waiting_call, RESOLVED: resolved_call}
        self._waits.register(loops, {RESUME: self.resume}, self._on_event, on_forget=dropping(services))

    async def begin(self, result: ToolResult, tool: RegisteredTool) -> ToolResult:
        """Suspend a call and return its result for the client; an error if it cannot wait."""
        frozen, run_id = result.frozen, f"call_{uuid.uuid4().hex}"
        assert frozen is not None, "only a call that waits begins to"
        try:
            record = self._waits.seal(run_id, FIRST, frozen)
            await self._start(record)
        except Exception as error:  # such as a call that is larger than the engine keeps
            return failed_call_result(tool.spec, error, frozen.meta, self._services)
        if self._waits.engine.is_worker:
            self._tools.made(run_id, tool)
        return replace(result, frozen=None, suspension=self._waits.suspended(record))

    async def _start(self, record: SealedCall) -> None:
        """Start the run of a call, which this process lists if it executes the run."""
        engine, run_id = self._waits.engine, record.run_id
        given: Json = {"frozen": record.document, "version": VERSION}
        await self._waits.start(run_id)
        await engine.start_run(LOOP, given, run_id=run_id, session=record.call.meta.session_id)
        if engine.is_worker:
            await engine.settled(run_id)

    async def resume(self, info: ActivityInfo, argument: Any) -> Outcome:
        """Resume a call with its answer and return the outcome; one that is not verified waits on."""
        waits, op = self._waits, argument["op"]
        events = CallEvents(info, waits.options.clock)
        try:
            record = await waits.verify(info.run_id, op, argument["frozen"])
        except (TamperedSuspensionError, UnsealedSuspensionError) as error:
            end_unverified(events, info.run_id, argument["frozen"], error)
            return {"status": "suspended", "json": "", "events": events.kept, "frozen": argument["frozen"]}
        frozen = record.call
        reports = EventReporter(events, self._services.limits.result_bytes)
        services = replace(self._services, reports=reports, run_id=info.run_id)
        tool = await self._tools.of_answered(frozen, info.run_id)
        batch = Batch(services.capabilities)

        result = await resume_call(services, tool, record, argument["given"], batch, events.begun)
        if result.delegated is not None and tool is not None:
            run_id = f"{info.run_id}/child:{op}"
            result = await self._delegate(
                tool, frozen.payload_json, result.delegated, frozen.meta, services, run_id
            )
        again = None if result.frozen is None else waits.seal(info.run_id, next_wait(op), result.frozen)
        if again is not None:
            result = replace(result, frozen=None, suspension=waits.suspended(again))
        waits.set_result(frozen.id, result)
        return _outcome(result, again, events)

    async def waited(self, run_id: str) -> FrozenCall | None:
        """Return the call of a run of one call; None for another run."""
        try:
            given: Any = (await self._waits.engine.status(run_id)).input
        except UnknownRunError:
            return None
        return read_call(run_id, given["frozen"]) if is_call(given) else None

    async def resolve(
        self, run_id: str, frozen: FrozenCall, tool_call_id: str, resolution: Resolution, by: str
    ) -> ToolResult:
        """Store the outcome of the one call of a run, and return it; as `Runtime.resolve`."""
        engine, meta = self._waits.engine, replace(frozen.meta, run_id=run_id)
        if tool_call_id not in ("", meta.tool_call_id):
            known = f"it is {meta.tool_call_id}" if meta.tool_call_id else "leave out the id of the call"
            raise ResolveError(f"the call of run {run_id} is not {tool_call_id!r}", hint=known)
        if (said := await resolved_end(engine, run_id, meta.tool_call_id)) is not None:
            raise known_outcome(meta.tool_call_id, said["status"], said["resolved_by"])
        ends = [one async for _, one in engine.events(run_id, follow=False) if one.get("type") == "tool_end"]
        if not ends or not (await engine.status(run_id)).is_over:
            raise ResolveError(
                f"run {run_id} is not over, so the outcome of its call may still come",
                hint="resume the run, or cancel it",
            )
        if not is_unknown_end(ends[-1]):
            raise known_outcome(meta.tool_call_id, str(ends[-1]["status"]))
        tool = await self._tools.find(frozen, run_id)
        name = frozen.tool.rpartition(".")[2]
        spec = None if tool is None else tool.spec
        result = found_out(name, spec, meta, resolution, self._services.limits)
        await self._waits.start(f"{run_id}/resolved:{meta.tool_call_id}")
        who = await keep_outcome(engine, result, spec, meta, by)
        log.info("the outcome of run %s is %s, says %s", run_id, resolution.outcome, who)
        return result

    def _on_event(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward the events of a resumed call to subscribers, and drop its tool at the end."""
        if event.get("type") == "run_stream_end":
            self._tools.ended(run_id)
        if self._services.metrics is not None and event.get("type") == "tool_end":
            self._services.metrics.end_logged_call(event, str(event["tool"]))
        hub = self._hub
        if hub is None or hub.is_idle or "tool_call_id" not in event:
            return
        try:
            told = from_json(event)
            meta = CallMeta(
                agent=told.agent_id,
                run_id=told.run_id,
                session_id=told.session_id,
                turn_id=told.turn_id,
                tool_call_id=told.tool_call_id,
            )
            hub.emit(told, meta)
        except ValueError:
            log.exception("an event of run %s was not emitted", run_id)


def _outcome(result: ToolResult, again: SealedCall | None, events: CallEvents) -> Outcome:
    outcome: Outcome = {
        "status": result.status,
        "json": result.json.decode(),
        "events": events.kept,
        "frozen": None if again is None else again.document,
    }
    if result.display:
        outcome["display"] = result.display
    if result.bounds is not None:
        outcome["bounds"] = to_jsonable_python(result.bounds)
    if result.is_final:
        outcome["is_final"] = True
    return outcome
