"""Single-call runs: a caller starts one, or joins it, and waits for its result.

When a runtime is closed, the calls that it executes have some time to end.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final

from toolgen.calls.call import CALL, Arguments, CallMeta, CallNameError, arguments_json
from toolgen.calls.errors import OutcomeUnknownError, RuntimeClosedError, ToolError
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.dispatch import WHY_CANCELED, failed_call_result
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.logs import logger
from toolgen.engines import (
    DrainingEngine,
    EngineClosedError,
    PayloadTooLargeError,
    RunStatus,
    UnknownRunError,
)
from toolgen.stores.outages import until_back

from .activities import DirectCallActivities, undelegated_result
from .awaiting_results import run_result
from .call_results import CallReader
from .callers import (
    Detached,
    cancel_answered,
    has_waited,
    is_joined_by_others,
    is_now,
    note_caller,
    until_cancelled,
)
from .errors import SuspensionError
from .frozen import FIRST
from .loop import (
    LOOP,
    VERSION,
    CallDocument,
    call_of,
)
from .resuming import WaitingTools, seal_wait
from .unfit import unverified_error
from .wait_registry import WaitRegistry

log = logger("toolgen.runtime")

_AT_ONCE: Final = (
    "a call with this name is already running with another tool or other arguments; this one was not started"
)
_OUTCOMES: Final = (
    EngineClosedError,
    PayloadTooLargeError,
    RuntimeClosedError,
    SuspensionError,
    UnknownRunError,
)
"""Errors that become the result of a named call. Any other error is raised: the call can be repeated."""
CLOSING_S: Final = 10.0
"""Seconds that running direct calls have to end when their runtime is closed."""


class CallRuns:
    """Single-call runs of one runtime."""

    def __init__(
        self, services: RuntimeServices, tools: WaitingTools, activities: DirectCallActivities
    ) -> None:
        self._services = services
        self._tools = tools
        self._activities = activities
        self._ends_with_callers: set[str] = set()
        """Ids of the runs that are canceled with their last caller in this process."""

    async def hand_to_run(
        self,
        tool: RegisteredTool,
        arguments: Arguments,
        result: ToolResult,
        meta: CallMeta,
        named: str = "",
        *,
        is_detached: Detached = False,
    ) -> ToolResult:
        """Return the result of an executed call that an agent answers, or that is now suspended.

        `named` is the run id of a named call; if another caller has started it meanwhile, this call joins it.
        A detached call continues if its callers are canceled.
        """
        run_id = named or f"{CALL}{uuid.uuid4().hex}"
        if result.delegated is None and not named:
            return await self._suspended(run_id, tool, result)
        if result.delegated is None:
            frozen = seal_wait(self._activities.waits, run_id, FIRST, run_id, result).document
            run_input = {"call": _call(tool, arguments, meta), "frozen": frozen}
            return await self._over(tool, meta, run_input, run_id, is_named=True, is_detached=is_detached)
        delegated, services = result.delegated, self._services
        if services.suspender is not None and (obstacle := services.suspender.obstacle(tool)):
            return undelegated_result(delegated, tool, obstacle, meta, services)
        child = await self._activities.child_of(tool, delegated, meta, f"{run_id}/child:1", services)
        if isinstance(child, ToolResult):
            return child
        payload = tool.spec.payload.encode(
            tool.spec.payload.decode_null_as_absent(arguments_json(arguments), UNLIMITED)
        )
        run_input = {"call": _call(tool, payload, meta), "child": child}
        return await self._over(tool, meta, run_input, run_id, is_named=bool(named), is_detached=is_detached)

    async def execute(
        self,
        tool: RegisteredTool,
        payload: bytes,
        meta: CallMeta,
        run_id: str,
        *,
        is_detached: Detached = False,
        is_made_again: bool = False,
    ) -> ToolResult:
        """Execute a named call in the run with this id, or join the run.

        The call is executed once, even if other callers use the same id. If it waits for a person, the result
        is suspended. A detached call continues if its callers are canceled.
        """
        call, spans = _call(tool, payload, meta), self._services.spans
        if spans is not None and (trace := spans.here()):
            call["trace"] = trace
        return await self._over(
            tool,
            meta,
            {"call": call},
            run_id,
            is_named=True,
            is_detached=is_detached,
            is_made_again=is_made_again,
        )

    async def _suspended(self, run_id: str, tool: RegisteredTool, result: ToolResult) -> ToolResult:
        """Start the run of a suspended call and return the result for its client.

        Raises:
            Exception: the engine, or its store, cannot be used, and the question is not asked.
        """
        waits, frozen = self._activities.waits, result.frozen
        assert frozen is not None, "only a call that waits begins to"
        try:
            record = waits.seal(run_id, FIRST, frozen)
            run_input: Json = {"frozen": record.document, "version": VERSION}
            begin = partial(self._start, waits, run_id, tool, run_input, frozen.meta)
            # the call has begun
            if frozen.kind != "confirmation" or frozen.is_asked_by_tool or frozen.answers:
                await until_back(begin, f"the suspended call of {tool.spec.id}")
            else:
                await begin()
            if waits.engine.is_worker:
                await waits.engine.settled(run_id)
        except _OUTCOMES as error:
            return failed_call_result(tool, error, frozen.meta, self._services)
        return replace(result, frozen=None, suspensions=(waits.suspended(record),))

    async def _over(
        self,
        tool: RegisteredTool,
        meta: CallMeta,
        run_input: Any,
        run_id: str,
        *,
        is_named: bool,
        is_detached: Detached,
        is_made_again: bool = False,
    ) -> ToolResult:
        """Start a run and return the result of its call when the run is over or only waits for people.

        If its last caller in this process is canceled, the run is canceled, unless all its callers here are
        detached or another process has joined it. A call that `is_made_again` leaves an open question open.
        It raises as `_lost_result`.
        """
        waits, call, has_begun = self._activities.waits, run_input["call"], False
        result_future = waits.expect_result(run_id)
        reader = CallReader(waits=waits, tools=self._tools, services=self._services)
        self._tools.add_caller(run_id, tool)
        if is_detached is not True:
            self._ends_with_callers.add(run_id)

        async def work() -> ToolResult:
            nonlocal has_begun
            arg = {**run_input, "version": VERSION, **({"process": waits.process} if is_named else {})}
            await self._start(waits, run_id, tool, arg, meta)
            has_begun = True
            if is_named and await _join(waits, run_id, call, is_made_again=is_made_again):
                self._ends_with_callers.discard(run_id)
            return await run_result(reader, run_id, call, result_future)

        async def leave() -> None:
            if self._is_last(run_id) and not is_now(is_detached):
                await self._cancel(run_id, tool, call, meta, is_made_again=is_made_again)

        try:
            return await (until_cancelled(work(), leave) if is_made_again else work())
        except asyncio.CancelledError:
            if not is_made_again:
                await leave()
            raise
        except Exception as error:  # noqa: BLE001 - a third-party engine; the result says whether the call might have run
            return self._lost_result(tool, meta, error, has_begun=has_begun, is_named=is_named)
        finally:
            if self._tools.remove_caller(run_id, tool):
                self._ends_with_callers.discard(run_id)
            waits.forget(run_id, result_future)

    def _is_last(self, run_id: str) -> bool:
        """Return whether the run is canceled with its last caller, and only one caller is left."""
        return self._tools.caller_count(run_id) == 1 and run_id in self._ends_with_callers

    def _lost_result(
        self, tool: RegisteredTool, meta: CallMeta, error: Exception, *, has_begun: bool, is_named: bool
    ) -> ToolResult:
        """Return the result of a call whose run could not be started, or could not be read.

        If the call has begun, it is unknown whether it is still running.

        Raises:
            Exception: the error, if it is an error of the engine or its store and the call can be repeated.
        """
        if (is_named or not has_begun) and not isinstance(error, (CallNameError, *_OUTCOMES)):
            raise error
        is_closed = isinstance(error, EngineClosedError)
        if has_begun and is_closed:
            log.warning(
                "the result of %s was not returned: the runtime was closed before the call ended",
                tool.spec.id,
            )
            error = ToolError("the runtime was closed before the call ended")
        if isinstance(error, SuspensionError):
            error = unverified_error(error)
        elif has_begun and not tool.spec.may_repeat and not isinstance(error, CallNameError):
            if not is_closed:
                log.error("the result of %s could not be read", tool.spec.id, exc_info=error)
            error = OutcomeUnknownError(f"its result could not be read; {tool.spec.name} may have run")
        return failed_call_result(tool, error, meta, self._services)

    async def _cancel(
        self, run_id: str, tool: RegisteredTool, call: CallDocument, meta: CallMeta, *, is_made_again: bool
    ) -> None:
        """Cancel the run of a canceled caller; its log records the end."""
        try:
            await _leave(self._activities.waits, run_id, call, is_made_again=is_made_again)
        except UnknownRunError:  # the run has not started
            failed_call_result(tool, ToolError(WHY_CANCELED), meta, self._services)
        except Exception:  # this must not replace the cancellation
            log.exception("run %s was not cancelled with its caller", run_id)

    async def _start(
        self, waits: WaitRegistry, run_id: str, tool: RegisteredTool, run_input: Json, meta: CallMeta
    ) -> None:
        if waits.refuses:
            raise RuntimeClosedError(tool.spec.id)
        await waits.start(run_id)
        if waits.engine.is_worker:
            self._tools.remember(run_id, tool)
        await waits.engine.start_run(LOOP, run_input, run_id=run_id, session=meta.session_id)


def _call(tool: RegisteredTool, arguments: Arguments, meta: CallMeta) -> CallDocument:
    facts: dict[str, Any] = {field.name: getattr(meta, field.name) for field in fields(meta)}
    return {
        "tool": tool.spec.id,
        "arguments": arguments_json(arguments).decode(errors="replace"),
        "meta": {**facts, "labels": dict(meta.labels)},
    }


async def _join(waits: WaitRegistry, run_id: str, call: CallDocument, *, is_made_again: bool) -> bool:
    """Join the run of a named call; return whether another process began it, so that cancelling here leaves
    it.

    Raises:
        CallNameError: another call started a run with this name at the same time.
        UnknownRunError: no run has the id.
    """
    engine, process = waits.engine, waits.process
    status = await engine.status(run_id)
    run_input: Any = status.input
    if not _is_of(run_input, call):
        raise CallNameError(_AT_ONCE)
    is_own = run_input.get("process") == process
    # A process that answers the call does not know whether the process that started it waits again.
    if status.state == "running" and (not is_own or (is_made_again and engine.caps.is_durable)):
        await note_caller(engine, run_id, process)
    return not is_own and not is_made_again


async def _leave(waits: WaitRegistry, run_id: str, call: CallDocument, *, is_made_again: bool) -> None:
    """Cancel the run of a call when its callers here are canceled, unless another process joined it.

    A run that another process started is canceled only if its call has already been suspended.

    Raises:
        UnknownRunError: no run has the id.
    """
    engine, process = waits.engine, waits.process
    status = await engine.status(run_id)
    run_input: Any = status.input
    is_own = _is_of(run_input, call) and run_input.get("process", process) == process
    if is_made_again:
        if is_own or await has_waited(engine, status):
            await cancel_answered(engine, run_id, process)
    elif is_own and not await is_joined_by_others(engine, run_id, process):
        await engine.cancel(run_id, reason=WHY_CANCELED)


def _is_of(run_input: Any, call: CallDocument) -> bool:
    stored = call_of(run_input)
    return (stored["tool"], stored["arguments"]) == (call["tool"], call["arguments"])


async def let_calls_end(waits: WaitRegistry) -> None:
    """Wait at most `CLOSING_S` until the direct calls of this process have ended or are suspended.

    An interrupted call that must not run twice has an unknown outcome. Calls that agents answer resume when
    the engine is started again. Engines with many workers wait for their activities themselves.
    """
    if not waits.is_only_worker:
        return
    engine = waits.engine
    # activities that have not begun will not begin
    if isinstance(engine, DrainingEngine) and engine.is_draining:
        await engine.drain(CLOSING_S)
        return
    try:
        running = await engine.list_runs(state="running", limit=sys.maxsize)
    except ToolgenError as error:  # for example, an unusable file; closing must continue
        log.warning("the running calls could not be listed, so closing does not wait for them: %s", error)
        return
    runs = [run.run_id for run in running if _is_call(run)]
    if runs:
        log.info("calls still running: %d; closing waits up to %g seconds for them", len(runs), CLOSING_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await asyncio.gather(*map(engine.settled, runs), return_exceptions=True)


def _is_call(run: RunStatus) -> bool:
    """Return whether a run belongs to a direct call that no agent answers."""
    is_direct = run.run_id.startswith(CALL) and "/" not in run.run_id
    return is_direct and isinstance(run.input, dict) and "child" not in run.input
