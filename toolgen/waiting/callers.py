"""Callers of a running call: when the last caller is canceled, the call is canceled.

A call continues while another caller waits for its result, in this process or in another one, which records
that in the run of the call. It also continues if all tasks are canceled because their event loop ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias, TypeVar

from toolgen.calls.call import CALL
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.dispatch import WHY_CANCELED
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.tasks import Work
from toolgen.engines import Engine, RunStatus, UnknownRunError, UnsettledAnswerError, WaitOverError

from .answers import cancel_reason
from .awaiting_results import answered_result, expected_results
from .call_results import CallReader
from .subjects import top_run
from .wait_registry import OpenedToken

T = TypeVar("T")

Detached: TypeAlias = bool | Callable[[], bool]
"""Whether a call continues if its caller is canceled; a function decides at that moment."""

log = logger("toolgen.runtime")

JOINED: Final = ("joined", "joined:2")
"""Operations whose answers record the first two processes that wait for a call; no wait consumes them."""
_LEAVE_S: Final = 5.0
"""Seconds that a canceled caller waits until its call is canceled."""


async def until_cancelled(work: Work[T], leave: Callable[[], Awaitable[None]]) -> T:
    """Return the result of the work; if the caller is canceled before, await `leave`.

    `leave` is not awaited if the event loop ends: all tasks are canceled then, including `holder`, which only
    this function can cancel otherwise.
    """
    task = asyncio.ensure_future(work)  # also canceled by time limits within it
    holder = asyncio.ensure_future(_result_of(task))
    try:
        return await asyncio.shield(holder)
    except asyncio.CancelledError:
        if not holder.cancelling() and not task.done():
            await _finished(leave())
        raise
    finally:
        holder.cancel()
        task.cancel()


async def _result_of(task: asyncio.Task[T]) -> T:
    return await task


def may_execute(opened: OpenedToken, answer: Json) -> bool:
    """Return whether an answer can execute a direct call: not a denial, and not the result of other work."""
    frozen = opened.frozen
    if frozen is None or frozen.kind == "pending" or not opened.run_id.startswith(CALL):
        return False
    is_denial = isinstance(answer, dict) and answer.get("approved") is False
    return opened.is_below or not (is_denial or cancel_reason(answer) is not None)


async def result_for_caller(
    reader: CallReader, opened: OpenedToken, give: Callable[[], Awaitable[ToolResult]], is_detached: Detached
) -> ToolResult:
    """Send the answer to a direct call or to a question below it, and return the result for the caller.

    Raises:
        SuspensionError: the answer is not accepted.
    """
    waits, run_id, is_stored = reader.waits, top_run(opened.run_id), asyncio.Event()

    async def work() -> ToolResult:
        async with expected_results(waits, opened) as expected:
            try:
                await give()
            finally:
                is_stored.set()
            if waits.engine.caps.is_durable:
                await note_caller(waits.engine, run_id, waits.process)
            return await answered_result(reader, opened, expected, None, is_answered=True)

    async def leave() -> None:
        await is_stored.wait()
        if reader.tools.caller_count(run_id) == 1 and not is_now(is_detached):
            await cancel_answered(waits.engine, run_id, waits.process)

    reader.tools.add_caller(run_id, None)
    try:
        return await until_cancelled(work(), leave)
    finally:
        reader.tools.remove_caller(run_id, None)


def is_now(detached: Detached) -> bool:
    """Return whether a call continues if its caller is canceled now."""
    return detached() if callable(detached) else detached


async def _finished(work: Awaitable[None]) -> None:
    """Await work in a task that is being canceled, even repeatedly; log a failure."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _LEAVE_S
    while not task.done() and (seconds := deadline - loop.time()) > 0:
        with suppress(asyncio.CancelledError):  # anyio cancels repeatedly
            await asyncio.wait((task,), timeout=seconds)
    if task.done() and not task.cancelled() and (error := task.exception()) is not None:
        log.error("a call was not cancelled with its caller", exc_info=error)


async def note_caller(engine: Engine, run_id: str, process: str) -> None:
    """Record in the run of a call that this process waits for it, so that no other process cancels it."""
    # the run is over, or the answer is being sent
    with suppress(WaitOverError, UnsettledAnswerError, UnknownRunError):
        for op in JOINED:
            if await engine.answer(run_id, op, process, key=process) != "conflict":
                return


async def is_joined_by_others(engine: Engine, run_id: str, process: str) -> bool:
    """Return whether another process has recorded that it waits for the call of a run."""
    waiting = [await engine.accepted_answer(run_id, op) for op in JOINED]
    return any(joined not in (None, process) for joined in waiting)


async def cancel_answered(engine: Engine, run_id: str, process: str) -> None:
    """Cancel a resumed call whose last caller in this process was canceled.

    A call that waits for a person stays suspended.
    """
    with suppress(UnknownRunError):
        status = await engine.status(run_id)
        if status.state == "running" and not await is_joined_by_others(engine, run_id, process):
            await engine.cancel(run_id, reason=WHY_CANCELED)


async def has_waited(engine: Engine, run: RunStatus) -> bool:
    """Return whether the call of a run, or one of the runs below it, has waited for a person."""
    if isinstance(run.input, dict) and "frozen" in run.input:
        return True
    async for _, event in engine.events(run.run_id, follow=False):
        if event.get("type") == "tool_end" and event.get("status") == "suspended":
            return True
    for child in run.children:
        if await has_waited(engine, await engine.status(child)):
            return True
    return False
