"""Runs of one call each: a door starts one and waits for what it gives, and activities execute the call."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from toolgen.calls.call import CallMeta
from toolgen.calls.call_names import CALL, CallNameError
from toolgen.calls.codec import Arguments, arguments_json
from toolgen.calls.context import set_idempotency_key
from toolgen.calls.errors import OutcomeUnknownError, RegistrationError, RuntimeClosedError, ToolError
from toolgen.calls.results import Delegated, RunLink, ToolResult
from toolgen.calls.steps.boundary import run_or_abandon
from toolgen.calls.steps.dispatch import CANCELLED, dispatch, failed_call_result, stray_error_result
from toolgen.calls.steps.failures import error_result
from toolgen.calls.steps.frame import Batch, Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.logs import logger
from toolgen.events.document import from_json
from toolgen.events.event_reporter import CallEvents, EventReporter
from toolgen.runs import ActivityInfo, EngineClosedError, Loop, NotRegisteredError, UnknownRunError

from .call_results import CallReader, outcome_of, run_result, with_pending
from .errors import NoEngineError, SuspensionError
from .frozen import FIRST, FrozenCall
from .joining import join, leave
from .kept_artifacts import dropping
from .loop import (
    CONCLUDE,
    EXECUTE,
    LOOP,
    RESUME,
    VERSION,
    CallDocument,
    ChildOfCall,
    Outcome,
    waiting_call,
)
from .once_call import Keeping
from .resolving import LOOP as RESOLVED
from .resolving import resolved_call
from .resolving_calls import settle_call
from .resuming import CallWork, WaitingTools, resume, seal_wait
from .unfit import unverified_error
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.events.hub import Events

log = logger("toolgen.runtime")

_MOST_MISSED: Final = 20
"""Workers that may lack a tool, within about five minutes, before its call goes on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """What became of the run that answers a call of an agent's tool."""

    link: RunLink
    began: float
    """Seconds since 1970."""
    output: Any = None
    """What the loop of the run returned, its `pending` as in `Outcome`; None where it returned nothing."""
    failure: Mapping[str, str] | None = None
    """`kind` and `message`, where it was not completed."""


class AgentCalls(Protocol):
    """Makes the runs that answer the calls of agents' tools, and their results."""

    async def child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        """Return the run, of this id, that is to answer a call.

        Raises:
            RegistrationError: the agent is not registered.
            ToolError: the agents are nested too deep.
        """
        ...

    async def conclude(self, frame: Frame, answer: AgentAnswer) -> ToolResult:
        """Return the result of a call by what its run said, after its hooks."""
        ...


class CallRuns:
    """The runs of single calls of one runtime."""

    def __init__(self, services: RuntimeServices, tools: WaitingTools, hub: Events | None) -> None:
        self._services = services
        self._tools = tools
        self.agents: AgentCalls | None = None
        """Answers the calls of agents' tools; None without agents."""
        self._hub = hub
        self._waits: WaitRegistry | None = None
        self._process = uuid.uuid4().hex
        """Names this process in the named calls that begin here."""
        self._ends_with_callers: set[str] = set()
        """Runs that are cancelled with the last of their callers here."""

    def serve(self, waits: WaitRegistry) -> None:
        """Register the loop and its activities with an engine, which then executes the runs."""
        self._waits = waits
        loops: dict[str, Loop] = {LOOP: waiting_call, RESOLVED: resolved_call}
        activities = {EXECUTE: self._execute, RESUME: self._resume, CONCLUDE: self._conclude}
        waits.register(loops, activities, self._on_event, on_forget=dropping(self._services.artifacts))

    # Doors.

    async def later(
        self,
        tool: RegisteredTool,
        arguments: Arguments,
        result: ToolResult,
        meta: CallMeta,
        named: str = "",
        *,
        is_detached: bool = False,
    ) -> ToolResult:
        """Return the result of a call that was executed, and that an agent answers or that is suspended.

        `named` is the id of the run of a call that has a name; where somebody else has begun it meanwhile, it
        is joined. A detached one goes on although its callers are cancelled.
        """
        run_id = named or f"{CALL}{uuid.uuid4().hex}"
        if result.delegated is None and not named:
            return await self._suspended(run_id, tool, result)
        if result.delegated is None:
            frozen = seal_wait(self._runs(), run_id, FIRST, run_id, result).document
            given = {"call": _call(tool, arguments, meta), "frozen": frozen}
            return await self._over(tool, meta, given, run_id, is_named=True, is_detached=is_detached)
        services = self._services
        try:
            if services.suspender is not None and (obstacle := services.suspender.obstacle(tool)):
                raise obstacle
            child = await self._answering(result.delegated.agent).child_of(
                tool, result.delegated, meta, f"{run_id}/child:1"
            )
        except Exception as error:  # such as agents that call one another for ever
            return _undelegated_result(result.delegated, tool, error, meta, services)
        payload = tool.spec.payload.encode(tool.spec.payload.decode(arguments_json(arguments), UNLIMITED))
        given = {"call": _call(tool, payload, meta), "child": child}
        return await self._over(tool, meta, given, run_id, is_named=bool(named), is_detached=is_detached)

    async def execute(
        self, tool: RegisteredTool, payload: bytes, meta: CallMeta, run_id: str, *, is_detached: bool = False
    ) -> ToolResult:
        """Execute a call that has a name in the run of this id; a run that has the id is joined.

        The call is executed once, whoever else comes with the same id. Where it waits for somebody, the
        result is suspended. A detached one goes on although its callers are cancelled.
        """
        call, spans = _call(tool, payload, meta), self._services.spans
        if spans is not None and (trace := spans.here()):
            call["trace"] = trace
        given = {"call": call}
        return await self._over(tool, meta, given, run_id, is_named=True, is_detached=is_detached)

    async def _suspended(self, run_id: str, tool: RegisteredTool, result: ToolResult) -> ToolResult:
        """Begin the run of a suspended call and return the result for its client."""
        waits, frozen = self._runs(), result.frozen
        assert isinstance(frozen, FrozenCall), "only a call that waits begins to"
        try:
            record = waits.seal(run_id, FIRST, frozen)
            given: Json = {"frozen": record.document, "version": VERSION}
            await self._start(waits, run_id, tool, given, frozen.meta)
            if waits.engine.is_worker:
                await waits.engine.settled(run_id)
        except Exception as error:  # such as a call that is larger than the engine keeps
            return failed_call_result(tool, error, frozen.meta, self._services)
        return replace(result, frozen=None, suspensions=(waits.suspended(record),))

    async def _over(
        self,
        tool: RegisteredTool,
        meta: CallMeta,
        given: Any,
        run_id: str,
        *,
        is_named: bool,
        is_detached: bool,
    ) -> ToolResult:
        """Start a run and return the result of its call, when it is over or only waits for people.

        The last of its callers here that is cancelled cancels the run, unless all that began it are detached
        or a caller in another process has joined it.
        """
        waits, call = self._runs(), given["call"]
        typed = waits.expect_result(run_id)
        self._tools.hold(run_id, tool)
        if not is_detached:
            self._ends_with_callers.add(run_id)
        has_begun = False
        try:
            given = {**given, "version": VERSION}
            if is_named:
                given["process"] = self._process
            await self._start(waits, run_id, tool, given, meta)
            has_begun = True
            if is_named and await join(waits.engine, run_id, call, self._process):
                self._ends_with_callers.discard(run_id)
            reader = CallReader(waits=waits, tools=self._tools, services=self._services)
            return await run_result(reader, run_id, call, typed)
        except asyncio.CancelledError:
            if self._tools.callers(run_id) == 1 and run_id in self._ends_with_callers:
                await self._cancel(run_id, tool, call, meta)
            raise
        except CallNameError as error:
            return failed_call_result(tool, error, meta, self._services)
        except Exception as error:
            return self._lost_result(tool, meta, error, has_begun=has_begun)
        finally:
            self._tools.let_go(run_id, tool)
            if not self._tools.callers(run_id):
                self._ends_with_callers.discard(run_id)
            waits.forget(run_id, typed)

    def _lost_result(
        self, tool: RegisteredTool, meta: CallMeta, error: Exception, *, has_begun: bool
    ) -> ToolResult:
        """Return the result of a call whose run could not be started, or says nothing any more.

        One that has begun goes on, or has ended: nobody knows.
        """
        is_closed = isinstance(error, EngineClosedError)
        if has_begun and is_closed:
            log.warning("nobody hears of the end of %s: the runtime was closed before", tool.spec.id)
            error = ToolError("the runtime was closed before the call ended")
        if isinstance(error, SuspensionError):
            error = unverified_error(error)
        elif has_begun and not tool.may_be_retried:
            if not is_closed:
                log.error("the result of %s cannot be read", tool.spec.id, exc_info=error)
            error = OutcomeUnknownError(f"its result cannot be read; {tool.spec.name} may have run")
        return failed_call_result(tool, error, meta, self._services)

    async def _cancel(self, run_id: str, tool: RegisteredTool, call: CallDocument, meta: CallMeta) -> None:
        """Cancel the run of a caller that is cancelled; the log of the run, or nobody else, tells the end."""
        try:
            await leave(self._runs().engine, run_id, call, self._process)
        except UnknownRunError:  # it has not begun
            failed_call_result(tool, ToolError(CANCELLED), meta, self._services)
        except Exception:  # it must not take the place of the cancellation
            log.exception("run %s was not cancelled with its caller", run_id)

    async def _start(
        self, waits: WaitRegistry, run_id: str, tool: RegisteredTool, given: Json, meta: CallMeta
    ) -> None:
        if waits.refuses:
            raise RuntimeClosedError(tool.spec.id)
        await waits.start(run_id)
        if waits.engine.is_worker:
            self._tools.made(run_id, tool)
        await waits.engine.start_run(LOOP, given, run_id=run_id, session=meta.session_id)

    # Activities.

    async def _execute(self, info: ActivityInfo, argument: Any) -> Outcome:
        """Execute a call that has not begun."""
        call: CallDocument = argument["call"]
        meta = CallMeta(**call["meta"])
        work = self._work(info, tells_start=True)
        tool = await self._tools.find(call["tool"], meta, info.run_id)
        if tool is None:
            return self._gone(work, info, call["tool"], meta)
        services = work.services
        frame = Frame(tool, call["arguments"].encode(), meta, work.batch, services)
        set_idempotency_key(frame.context, info.run_id)
        work.keeping.watch(frame)
        result: ToolResult
        made_in = nullcontext() if services.spans is None else services.spans.under(call.get("trace", ""))
        try:
            with made_in:
                result = await run_or_abandon(dispatch(frame))
        except Exception as error:
            result = stray_error_result(frame, error)
        (result,) = await work.batch.settle((result,), services.reports)
        return await self._done(work, tool, result, meta, 0)

    async def _resume(self, info: ActivityInfo, argument: Any) -> Outcome:
        """Resume a call with its answer; one that is not verified waits on."""
        work = self._work(info)
        resumed = await resume(work, argument, self._tools.of_answered, info.run_id)
        if resumed is None:
            return {"status": "suspended", "json": "", "events": [], "frozen": argument["frozen"]}
        if resumed.frozen is None:
            meta, number = CallMeta(**argument["frozen"]["meta"]), int(argument["op"].rpartition(":")[2])
            return await self._done(work, resumed.tool, resumed.result, meta, number, resumed.id)
        return self._told(work, resumed.result, resumed.frozen, resumed.id)

    async def _conclude(self, info: ActivityInfo, argument: Any) -> Outcome:
        """Make the result of a call of what the run of an agent said."""
        call: CallDocument = argument["call"]
        meta = CallMeta(**call["meta"])
        work = self._work(info)
        tool = await self._tools.find(call["tool"], meta, info.run_id)
        if tool is None:
            return self._gone(work, info, call["tool"], meta)
        frame = Frame(tool, call["arguments"].encode(), meta, work.batch, work.services)
        set_idempotency_key(frame.context, info.run_id)
        link = RunLink(
            run_id=argument["run_id"],
            agent=argument["agent"],
            parent_run_id=meta.run_id,
            parent_tool_call_id=meta.tool_call_id,
        )
        answer = AgentAnswer(
            link=link,
            began=argument["began"],
            output=argument.get("output"),
            failure=argument.get("failure"),
        )
        try:
            result = await self._answering(link.agent).conclude(frame, answer)
        except Exception as error:
            result = failed_call_result(tool, error, meta, work.services)
        left = [] if answer.output is None else answer.output["pending"]
        done = await self._done(work, tool, await with_pending(work.waits, result, left), meta, 0)
        if left:
            done["pending"] = left
        return done

    async def _done(
        self,
        work: CallWork,
        tool: RegisteredTool | None,
        result: ToolResult,
        meta: CallMeta,
        number: int,
        answered: str = "",
    ) -> Outcome:
        """Return the outcome of a step, with what follows it, and hand the result to who waits for it here.

        `number` is that of the step, `answered` the id of the call that was frozen before it.
        """
        child = None
        if result.delegated is not None and tool is not None:
            below = f"{work.run_id}/child:{number + 1}"
            try:
                child = await self._answering(result.delegated.agent).child_of(
                    tool, result.delegated, meta, below
                )
            except Exception as error:  # such as agents that call one another for ever
                result = _undelegated_result(result.delegated, tool, error, meta, work.services)
        if child is not None:
            return {**outcome_of(result, work.events), "child": child}
        if result.frozen is None:
            return self._told(work, result, None, answered)
        record = seal_wait(work.waits, work.run_id, f"wait:{number + 1}", work.run_id, result)
        result = replace(result, frozen=None, suspensions=(work.waits.suspended(record),))
        return self._told(work, result, record.document, answered)

    def _told(
        self, work: CallWork, result: ToolResult, frozen: dict[str, Json] | None, answered: str
    ) -> Outcome:
        """Return the outcome with a result, after handing it to who waits for it in this process."""
        for key in (answered, work.run_id):
            work.waits.set_result(key, result)
        return {**outcome_of(result, work.events), "frozen": frozen}

    def _work(self, info: ActivityInfo, *, tells_start: bool = False) -> CallWork:
        """Return what one step of a call is executed with."""
        waits = self._runs()
        events = CallEvents(info, waits.options.clock, tells_start=tells_start)
        reports = EventReporter(events, self._services.limits.result_bytes)
        services = replace(self._services, reports=reports, run_id=info.run_id)
        settle = partial(settle_call, services, waits, self._tools, info.run_id)
        return CallWork(
            run_id=info.run_id,
            waits=waits,
            services=services,
            events=events,
            batch=Batch(services.capabilities),
            keeping=Keeping(begun=events.begun, settle=settle, late_ends=waits.late_ends),
        )

    def _gone(self, work: CallWork, info: ActivityInfo, tool: str, meta: CallMeta) -> Outcome:
        """Return the outcome of a call whose tool is not here.

        Raises:
            NotRegisteredError: another worker may have it.
        """
        message = f"the tool {tool} is not registered in this runtime"
        if work.waits.engine.caps.has_many_workers and info.missed < _MOST_MISSED:
            raise NotRegisteredError(message)
        result = error_result(tool, ToolError(message), meta, work.services.limits.result_bytes)
        work.services.reports.emit_tool_end(result, meta)
        return outcome_of(result, work.events)

    def _on_event(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        """Forward the events of a call to subscribers, and drop its tool at the end."""
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

    async def _child_of(
        self, tool: RegisteredTool, delegated: Delegated, meta: CallMeta, run_id: str
    ) -> ChildOfCall:
        return await self._answering(delegated.agent).child_of(tool, delegated, meta, run_id)

    def _answering(self, agent: str) -> AgentCalls:
        if self.agents is None:
            raise RegistrationError(
                f"agent {agent!r} is not registered", hint="call the generated `register` of its package"
            )
        return self.agents

    def _runs(self) -> WaitRegistry:
        if self._waits is None:
            raise NoEngineError
        return self._waits


def _undelegated_result(
    delegated: Delegated, tool: RegisteredTool, error: Exception, meta: CallMeta, services: RuntimeServices
) -> ToolResult:
    """Return the result of a call that the run of an agent cannot answer, and end its span."""
    result = failed_call_result(tool, error, meta, services)
    if delegated.span is not None:
        delegated.span.conclude(result)
    return result


def _call(tool: RegisteredTool, arguments: Arguments, meta: CallMeta) -> CallDocument:
    facts: dict[str, Any] = {one.name: getattr(meta, one.name) for one in fields(meta)}
    return {
        "tool": tool.spec.id,
        "arguments": arguments_json(arguments).decode(errors="replace"),
        "meta": {**facts, "labels": dict(meta.labels)},
    }
