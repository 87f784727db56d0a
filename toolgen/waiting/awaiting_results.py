"""Waits for the result of a call, in any process: from the journal of its run, or from memory.

If the run of a call did not use an answer, the answer leads to no result: the host that tried to resume the
call could not verify its record. The call stays suspended (`resuming.resume`), and its log does not have the
answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from toolgen.calls.call import CALL, CallMeta, FrozenCall
from toolgen.calls.documents.results import result_of
from toolgen.calls.errors import ToolError
from toolgen.calls.results import Suspended, ToolResult
from toolgen.calls.steps.failures import error_result
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.engines import UnknownRunError
from toolgen.stores.outages import until_back

from .asking import open_questions, outer_call
from .call_results import CallReader, stored_result
from .errors import TamperedSuspensionError, UnsealedSuspensionError, unknown_suspension
from .loop import VERSION, CallDocument, call_of, is_unknown_end
from .resolving import latest_end, latest_outcome
from .sending import late_answer
from .wait_registry import OpenedToken, WaitRegistry

_PAUSE_S: Final = 1.0
"""Seconds between two reads of a run that waits without a token, for example because its client paused it, or
whose log has no result for an answer."""


async def run_result(
    reader: CallReader, run_id: str, call: CallDocument, result_future: asyncio.Future[ToolResult]
) -> ToolResult:
    """Return the result of the call of a run; suspended while the run only waits for people.

    `result_future` receives the result if this process executes the call. While a store cannot be read, this
    waits.
    """
    look = until_back(
        partial(_run_result, reader, run_id, call, result_future), f"the result of run {run_id}"
    )
    return await reader.waits.scheduler.wait_for_run(run_id, look)


async def result_so_far(reader: CallReader, run_id: str) -> ToolResult | None:
    """Return the current result of the direct call of a run; None if the run is not of a direct call.

    Its status is `running` while the call is executed, and `suspended` while the call waits for people.

    Raises:
        UnknownRunError: no run has the id.
        SuspensionError: as `WaitRegistry.record`.
    """
    status = await reader.waits.engine.status(run_id)
    run_input: Any = status.input
    if not isinstance(run_input, dict) or "facts" in run_input or not run_input.keys() & {"call", "frozen"}:
        return None
    call = call_of(run_input)  # type: ignore[arg-type]  # as the loop accepts it
    if status.state != "running":
        never_done: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        with suppress(TimeoutError):  # it has resumed meanwhile
            async with asyncio.timeout(_PAUSE_S):
                return await _run_result(reader, run_id, call, never_done)
    text = "the call is running; its result is not known yet"
    call_id = call["meta"]["tool_call_id"]
    return ToolResult(tool=call["tool"], status="running", tool_call_id=call_id, display=text)


async def _run_result(
    reader: CallReader, run_id: str, call: CallDocument, result_future: asyncio.Future[ToolResult]
) -> ToolResult:
    waits, tool, meta = reader.waits, call["tool"], CallMeta(**call["meta"])
    while True:
        status = await waits.engine.settled(run_id)
        if status.state == "completed":
            output: Any = status.output
            outcome = await latest_outcome(waits.engine, run_id, meta.tool_call_id, output)
            if result_future.done() and result_future.result().status == outcome["status"]:
                return result_future.result()
            return await stored_result(reader, run_id, call, outcome)
        logged = await _logged_end(waits, run_id)
        if status.is_over:
            why = ToolError(status.error or f"the run of the call was {status.state}")
            return logged or error_result(tool, why, meta, reader.services.limits.result_bytes)
        if questions := await open_questions(waits, status, call):
            if logged is None or logged.status != "pending":
                logged = ToolResult(tool=tool, status="suspended", tool_call_id=meta.tool_call_id)
            return replace(logged, suspensions=questions)
        await asyncio.sleep(_PAUSE_S)


async def _logged_end(waits: WaitRegistry, run_id: str) -> ToolResult | None:
    """Return the result in the last `tool_end` of a run; None without one."""
    engine = waits.engine
    ends = [event async for _, event in engine.events(run_id, follow=False) if event["type"] == "tool_end"]
    return result_of(await latest_end(engine, run_id, ends[-1])) if ends else None


@frozen_record(kw_only=False)
class ExpectedResults:
    """Futures for the typed results that follow from an answer."""

    own_future: asyncio.Future[ToolResult]
    direct_call: tuple[str, CallDocument] | None
    """The direct call whose result follows from the answer, with its run id; None without one."""
    direct_future: asyncio.Future[ToolResult] | None


@asynccontextmanager
async def expected_results(waits: WaitRegistry, opened: OpenedToken) -> AsyncIterator[ExpectedResults]:
    """Yield the futures for the typed results of a suspended call and the direct call above it.

    Raises:
        UnknownSuspensionError: the run was deleted meanwhile.
    """
    direct_call = await _direct_call(waits, opened)
    own_future = waits.expect_result(opened.id)
    direct_future = None if direct_call is None else waits.expect_result(direct_call[0])
    try:
        yield ExpectedResults(own_future, direct_call, direct_future)
    except UnknownRunError:
        raise unknown_suspension() from None
    finally:
        waits.forget(opened.id, own_future)
        if direct_call is not None and direct_future is not None:
            waits.forget(direct_call[0], direct_future)


async def _direct_call(waits: WaitRegistry, opened: OpenedToken) -> tuple[str, CallDocument] | None:
    """Return the direct call whose result follows from an answer, with its run; None without one."""
    run_id, record = opened.run_id, opened.record
    if record is None or opened.is_below:
        return await outer_call(waits, run_id)
    if not run_id.startswith(CALL):
        return None
    return run_id, call_of({"frozen": record.document, "version": VERSION})


async def answered_result(
    reader: CallReader,
    opened: OpenedToken,
    expected: ExpectedResults,
    wait_s: float | None,
    *,
    is_answered: bool,
) -> ToolResult:
    """Return the result of an answered call, once the log of its run has it.

    The result is typed if this process has executed the call, and the log has the same status. For a question
    below an agent's call, it is the result of the direct call above, or that call's next question. If there
    is no result after `wait_s` seconds, the status is `running`; if the answer was not used, `suspended`.
    """
    waits, direct_call, direct_future = reader.waits, expected.direct_call, expected.direct_future
    try:
        async with asyncio.timeout(wait_s):
            log = partial(_result_from_log, waits, opened)
            look = result_or_waiting_on(waits, opened, log) if is_answered else log()
            logged = await waits.scheduler.wait_for_run(opened.run_id, look)
            if direct_call is not None and direct_future is not None and (logged is None or opened.is_below):
                return await run_result(reader, *direct_call, direct_future)
    except TimeoutError:
        return _running(opened, direct_call)
    if logged is None:
        return _running(opened, direct_call)
    is_typed = expected.own_future.done() and expected.own_future.result().status == logged.status
    return expected.own_future.result() if is_typed else logged


def _running(opened: OpenedToken, direct_call: tuple[str, CallDocument] | None) -> ToolResult:
    """Return the result of a call whose answer is stored, but whose result is not known yet."""
    frozen, is_below = opened.frozen, opened.is_below
    if direct_call is not None and (is_below or frozen is None):
        tool, tool_call_id = direct_call[1]["tool"], direct_call[1]["meta"]["tool_call_id"]
    else:
        assert frozen is not None, "only what is below a call is no call itself"
        tool, tool_call_id = frozen.tool, frozen.meta.tool_call_id
    return ToolResult(
        tool=tool,
        status="running",
        tool_call_id=tool_call_id,
        display="the answer is stored; the result is not known yet",
    )


async def _result_from_log(waits: WaitRegistry, opened: OpenedToken) -> ToolResult | None:
    """Wait until the log of the run has the effect of an answer, and return the result of the call.

    It is None if no result of a call follows immediately: the answer went to a planner, or an agent answers
    the call.

    Raises:
        LateAnswerError: the run ended before.
    """
    frozen = opened.frozen
    async for _, event in waits.engine.events(opened.run_id):
        kind = event.get("type")
        if frozen is None:
            accepted_id = str(event.get("suspension_id", "")) if kind == "answer_accepted" else ""
            is_again = kind == "question_asked" and event.get("reason")
            if accepted_id == opened.id or (is_again and _follows(str(event["suspension_id"]), opened.id)):
                return None
        elif kind == "tool_end" and event.get("answered_id") == frozen.id:
            end = await latest_end(waits.engine, opened.run_id, event) if is_unknown_end(event) else event
            result = result_of(end)
            suspension = await _suspension_of(waits, opened.run_id, str(event.get("suspension_id", "")))
            return result if suspension is None else replace(result, suspensions=(suspension,))
        elif kind == "agent_run_started" and _is_of(event, frozen):
            return None
    if frozen is None and opened.is_below:
        return None  # the question was canceled
    raise await late_answer(waits, opened.run_id, "the run ended before its call did")


async def _suspension_of(waits: WaitRegistry, run_id: str, id_: str) -> Suspended | None:
    """Return the suspended call with this id in a run; None if no verified one is suspended."""
    for wait in (await waits.engine.status(run_id)).awaiting if id_ else ():
        with suppress(TamperedSuspensionError, UnsealedSuspensionError):
            record = await waits.record(run_id, wait.op, wait.about)
            if record is not None and record.call.id == id_:
                return waits.suspended(record)
    return None


def _follows(id_: str, before: str) -> bool:
    """Return whether a planner's question is the previous one, asked again."""
    return id_.startswith(f"{before.partition(':')[0]}:") and id_ != before


def _is_of(event: Mapping[str, Json], frozen: FrozenCall) -> bool:
    """Return whether an agent's run was started for a suspended call after its answer."""
    return bool(event["tool"] == frozen.tool and event["tool_call_id"] == frozen.meta.tool_call_id)


async def result_or_waiting_on(
    waits: WaitRegistry, opened: OpenedToken, result: Callable[[], Awaitable[ToolResult | None]]
) -> ToolResult | None:
    """Return the result of an answered call from the log, or the suspended call if the answer was not used.

    Raises:
        TamperedSuspensionError: the call is still suspended, and its record was changed.
        UnsealedSuspensionError: the call is still suspended, and the author of its record is unknown.
        NondeterminismError: its run is stalled.
    """
    try:
        async with asyncio.timeout(_PAUSE_S):  # most results arrive in this time, without reading the status
            return await result()
    except TimeoutError:
        pass
    looks = [asyncio.ensure_future(result()), asyncio.ensure_future(_waiting_on(waits, opened))]
    try:
        await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
        return next(look for look in looks if look.done()).result()
    finally:
        for look in looks:
            look.cancel()


async def _waiting_on(waits: WaitRegistry, opened: OpenedToken) -> ToolResult:
    """Wait until a call turns out to stay suspended without its answer, and return it."""
    assert opened.frozen is not None, "a planner's question has no record"
    tool, call_id = opened.frozen.tool, opened.frozen.meta.tool_call_id
    call, _, _ = opened.op.rpartition(":")  # all waits of one call have keys with this beginning
    while True:
        status = await waits.engine.settled(opened.run_id)
        for wait in status.awaiting:
            # Any later wait counts, because other answers can have been sent meanwhile and not been used
            # either.
            if wait.op == opened.op or wait.op.rpartition(":")[0] != call:
                continue
            record = await waits.record(opened.run_id, wait.op, wait.about)
            if record is not None and record.call.id == opened.id:
                suspension = waits.suspended(record)
                return ToolResult(
                    tool=tool, status="suspended", tool_call_id=call_id, suspensions=(suspension,)
                )
        await asyncio.sleep(_PAUSE_S)
