"""Activities of single-call runs: they execute the call, resume it, and create its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from toolgen.calls.call import CallMeta
from toolgen.calls.context import Batch, set_idempotency_key
from toolgen.calls.errors import RegistrationError, ToolError
from toolgen.calls.results import Delegated, RunLink, ToolResult
from toolgen.calls.steps.dispatch import dispatch, failed_call_result, stray_error_result
from toolgen.calls.steps.failures import error_result
from toolgen.calls.steps.frame import Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.boundary import run_or_abandon
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.engines import ActivityInfo, Loop, NotRegisteredError, RunStatus
from toolgen.engines.context import GRANT_LOOP
from toolgen.events.document import from_json
from toolgen.events.event_reporter import CallEvents, EventReporter
from toolgen.stores import StoreError
from toolgen.stores.outages import AGAIN_S, StoreRetry

from .call_results import CallReader, dropping, outcome_of, with_pending
from .errors import NoEngineError
from .grant_uses import granted_calls
from .loop import (
    CONCLUDE,
    EXECUTE,
    LOOP,
    RESUME,
    CallDocument,
    CallOutcome,
    ChildOfCall,
    call_of,
    suspended_outcome,
    waiting_call,
)
from .once_call import CallRecorder, Resolution
from .resolving import LOOP as RESOLVED
from .resolving import resolved_call, settle_call
from .resuming import CallWork, WaitingTools, resume, seal_wait
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.calls.toolsets.snapshot import Listing
    from toolgen.events.hub import Events

log = logger("toolgen.runtime")

_MOST_MISSED: Final = 20
"""Maximum number of attempts by workers without the tool, about five minutes, before the call fails."""
_AWAY_S: Final = 300.0
"""Seconds that a call waits for a store, the same as the default for a run of an agent."""


@frozen_record
class AgentAnswer:
    """Outcome of the run that answers a call of an agent's tool."""

    link: RunLink
    began: float
    """Seconds since 1970."""
    output: Any = None
    """Output of the run's loop, with `pending` as in `CallOutcome`; None without an output."""
    failure: Mapping[str, str] | None = None
    """`kind` and `message` of the failure if the run was not completed."""


class LoopOwner(Protocol):
    """The agents of a runtime: `agents.joined.AgentLoops`, which execute the loops of their runs.

    The runtime opens and closes them with itself. They report about their runs, and answer the calls of their
    tools.
    """

    async def open(self) -> None:
        """Start, after the toolsets of the runtime are open."""
        ...

    async def close(self) -> None:
        """Stop, before the toolsets of the runtime are closed."""
        ...

    async def find_tool(self, tool: str, meta: CallMeta, run_id: str) -> RegisteredTool | None:
        """Return the tool of a suspended call of a run, as the run would call it now; None without one."""
        ...

    async def resolve(self, run_id: str, tool_call_id: str, resolution: Resolution, *, by: str) -> ToolResult:
        """Store the outcome of a call whose outcome was unknown."""
        ...

    def status_of(self, status: RunStatus) -> RunStatus:
        """Return the status of an agent's run for its clients; other statuses are unchanged."""
        ...

    def event_ids(self, status: RunStatus) -> Mapping[str, Json]:
        """Return the ids to add to the engine's events of an agent's run; none for other runs."""
        ...

    @property
    def listings(self) -> Sequence[Listing]:
        """Toolsets of agents that the runtime itself does not have."""
        ...

    @property
    def stores(self) -> Sequence[object]:
        """The stores that are not capabilities of the runtime."""
        ...

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run, with this id, that answers a call.

        Raises:
            RegistrationError: the agent is not registered.
            ToolError: the agents are nested too deep.
        """
        ...

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call from the output of its run, after the hooks."""
        ...


class DirectCallActivities:
    """Activities of the direct calls of one runtime."""

    def __init__(self, services: RuntimeServices, tools: WaitingTools, hub: Events | None) -> None:
        self._services = services
        self._tools = tools
        self.agents: LoopOwner | None = None
        """Answers the calls of agents' tools; None without agents."""
        self._hub = hub
        self._retry = StoreRetry(pause=lambda attempt: AGAIN_S, total_s=_AWAY_S)
        """Retries steps of a call while a store is unavailable."""
        self._waits: WaitRegistry | None = None

    @property
    def waits(self) -> WaitRegistry:
        """Registry of the runs.

        Raises:
            NoEngineError: the runtime has no engine.
        """
        if self._waits is None:
            raise NoEngineError
        return self._waits

    def serve(self, waits: WaitRegistry) -> None:
        """Register the loops and their activities with an engine, which then executes the runs."""
        self._waits = waits
        loops: dict[str, Loop] = {LOOP: waiting_call, RESOLVED: resolved_call, GRANT_LOOP: granted_calls}
        activities = {EXECUTE: self._execute, RESUME: self._resume, CONCLUDE: self._conclude}
        waits.register(loops, activities, self._on_event, on_forget=dropping(self._services.artifacts))

    async def child_of(
        self,
        tool: RegisteredTool,
        delegated: Delegated,
        meta: CallMeta,
        run_id: str,
        services: RuntimeServices,
    ) -> ChildOfCall | ToolResult:
        """Return the run that answers a call, with this id; or the result of the call if none can answer
        it."""
        try:
            return await self._answering(delegated.agent).child_of(tool, delegated, meta, run_id)
        except StoreError:  # not an outcome of the call: the engine retries the call later
            raise
        except Exception as error:  # noqa: BLE001 - for example, agents that call one another forever; it is the result of the call
            return undelegated_result(delegated, tool, error, meta, services)

    async def _execute(self, info: ActivityInfo, argument: Any) -> CallOutcome:
        """Execute a call that has not begun."""
        call: CallDocument = argument["call"]
        work = self._work(info, emits_start=True)
        services = work.services
        frame = await self._frame(work, info, call)
        if not isinstance(frame, Frame):
            return frame
        work.recorder.watch(frame)
        result: ToolResult
        made_in = nullcontext() if services.spans is None else services.spans.under(call.get("trace", ""))
        try:
            with made_in:
                result = await run_or_abandon(dispatch(frame))
        except Exception as error:  # noqa: BLE001 - the tool ended the call's own task; it is the error of the call
            result = stray_error_result(frame, error)
        (result,) = await work.batch.settle((result,))
        return await self._done(work, frame.tool, result, frame.meta, 0)

    async def _resume(self, info: ActivityInfo, argument: Any) -> CallOutcome:
        """Resume a call with its answer; a call that cannot be verified stays suspended."""
        work = self._work(info)
        resumed = await resume(work, argument, self._tools.tool_of_answered, info.run_id)
        if resumed is None:
            return suspended_outcome(call_of(argument), frozen=argument["frozen"])
        if resumed.frozen is None:
            meta, number = CallMeta(**argument["frozen"]["meta"]), int(argument["op"].rpartition(":")[2])
            return await self._done(work, resumed.tool, resumed.result, meta, number, resumed.id)
        return self._outcome(work, resumed.result, resumed.frozen, resumed.id)

    async def _conclude(self, info: ActivityInfo, argument: Any) -> CallOutcome:
        """Return the result of a call from the output of an agent's run."""
        work = self._work(info)
        frame = await self._frame(work, info, argument["call"])
        if not isinstance(frame, Frame):
            return frame
        tool, meta = frame.tool, frame.meta
        link = RunLink(
            run_id=argument["run_id"],
            agent=argument["agent"],
            parent_run_id=meta.run_id,
            parent_tool_call_id=meta.tool_call_id,
        )
        answer = AgentAnswer(
            link=link,
            began=argument["started_at"],
            output=argument.get("output"),
            failure=argument.get("failure"),
        )
        try:
            result = await self._answering(link.agent).conclude(frame, answer)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - the agent's conclusion is author code; its error is the result of the call
            result = failed_call_result(tool, error, meta, work.services)
        pending = [] if answer.output is None else answer.output["pending"]
        done = await self._done(work, tool, await with_pending(work.waits, result, pending), meta, 0)
        if pending:
            done["pending"] = pending
        return done

    async def _done(
        self,
        work: CallWork,
        tool: RegisteredTool | None,
        result: ToolResult,
        meta: CallMeta,
        number: int,
        answered: str = "",
    ) -> CallOutcome:
        """Return the outcome of a step with its follow-up, and pass the result to waiters in this process.

        `number` is the number of the step, `answered` the id of the call that was frozen before it.
        """
        if result.delegated is not None and tool is not None:
            below = f"{work.run_id}/child:{number + 1}"
            child = await self.child_of(tool, result.delegated, meta, below, work.services)
            if not isinstance(child, ToolResult):
                return {**outcome_of(result, work.events), "child": child}
            result = child
        if result.frozen is None:
            return self._outcome(work, result, None, answered)
        record = seal_wait(work.waits, work.run_id, f"wait:{number + 1}", work.run_id, result)
        result = replace(result, frozen=None, suspensions=(work.waits.suspended(record),))
        return self._outcome(work, result, record.document, answered)

    def _outcome(
        self, work: CallWork, result: ToolResult, frozen: dict[str, Json] | None, answered: str
    ) -> CallOutcome:
        """Return the outcome of a result, and pass the result to waiters in this process."""
        for key in (answered, work.run_id):
            work.waits.set_result(key, result)
        return {**outcome_of(result, work.events), "frozen": frozen}

    def _work(self, info: ActivityInfo, *, emits_start: bool = False) -> CallWork:
        """Return the context in which one step of a call is executed."""
        waits = self.waits
        events = CallEvents(info, waits.options.clock, emits_start=emits_start)
        reports = EventReporter(events, self._services.limits.result_bytes)
        services = replace(self._services, reports=reports, run_id=info.run_id, retry_step=self._retry.run)
        reader = CallReader(waits=waits, tools=self._tools, services=services)
        settle = partial(settle_call, reader, info.run_id)
        return CallWork(
            run_id=info.run_id,
            waits=waits,
            services=services,
            events=events,
            batch=Batch(services.capabilities),
            recorder=CallRecorder(record_begin=events.begun, settle=settle, late_ends=waits.late_ends),
        )

    async def _frame(self, work: CallWork, info: ActivityInfo, call: CallDocument) -> Frame | CallOutcome:
        """Return a frame for a call with its current tool, or the outcome if the tool is not available.

        Raises:
            NotRegisteredError: another worker might have the tool.
        """
        meta, services = CallMeta(**call["meta"]), work.services
        tool = await self._tools.find(call["tool"], meta, info.run_id)
        if tool is not None:
            frame = Frame(tool, call["arguments"].encode(), meta, work.batch, services)
            set_idempotency_key(frame.context, info.run_id)
            return frame
        message = f"the tool {call['tool']} is not registered in this runtime"
        if work.waits.engine.caps.has_many_workers and info.missed < _MOST_MISSED:
            raise NotRegisteredError(message)
        result = error_result(call["tool"], ToolError(message), meta, services.limits.result_bytes)
        services.reports.emit_tool_end(result, meta)
        return outcome_of(result, work.events)

    def _on_event(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward the events of a call to subscribers, and drop its tool at the end."""
        if event.get("type") == "run_stream_end":
            self._tools.forget(run_id)
        if self._services.metrics is not None and event.get("type") == "tool_end":
            self._services.metrics.end_logged_call(event, str(event["tool"]))
        hub = self._hub
        if hub is None or hub.is_idle or "tool_call_id" not in event:
            return
        try:
            record = from_json(event)
            meta = CallMeta(
                agent=record.agent_id,
                run_id=record.run_id,
                session_id=record.session_id,
                turn_id=record.turn_id,
                tool_call_id=record.tool_call_id,
            )
            hub.emit(record, meta)
        except ValueError:
            log.exception("an event of run %s was not emitted", run_id)

    def _answering(self, agent: str) -> LoopOwner:
        if self.agents is None:
            raise RegistrationError(
                f"agent {agent!r} is not registered", hint="call `register` of its generated package"
            )
        return self.agents


def undelegated_result(
    delegated: Delegated, tool: RegisteredTool, error: Exception, meta: CallMeta, services: RuntimeServices
) -> ToolResult:
    """Return the result of a call that no run of an agent can answer, and end its span."""
    result = failed_call_result(tool, error, meta, services)
    if delegated.span is not None:
        delegated.span.conclude(result)
    return result
