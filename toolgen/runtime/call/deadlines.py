"""Time limits of author code, on the clock of the running event loop.

A step of the host runs in the caller's task, and a timer is armed only when it suspends. A tool has a task of
its own, so that one that ignores its cancellation can be left behind.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, TypeVar

from toolgen.contract.logs import logger
from toolgen.contract.tasks import GRACE_S

from .boundary import Outcome, set_outcome, value_of

T = TypeVar("T")

log = logger("toolgen.runtime")


class TimeLimitError(TimeoutError):
    """Author code had no result when its time was over."""

    def __init__(self, *, has_begun: bool = True) -> None:
        super().__init__()
        self.has_begun = has_begun
        """Whether any of the code was executed; else it never will be."""


async def run_with_timeout(seconds: float | None, work: Awaitable[T]) -> T:
    """Await the work in the caller's task with a timeout, and return its value.

    The first step, up to where the work suspends, stands outside the limit: nothing could interrupt it.

    Raises:
        TimeoutError: it took longer; it was cancelled.
        BaseException: what the work raises.
    """
    if seconds is None:
        return await work
    if type(work) is not types.CoroutineType:
        async with asyncio.timeout(seconds):
            return await work
    try:
        awaited = work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    async with asyncio.timeout(seconds):
        return await _rest(work, awaited)


async def run_in_task(
    work: Coroutine[Any, Any, T], *, name: str, seconds: float | None = None, grace_s: float = GRACE_S
) -> T:
    """Run author code in a task of its own, with a time limit, and return its value.

    When its time is over, or the caller is cancelled, the code is cancelled and has a grace period to end.
    Code that ignores this runs on, with a warning that names it, and nobody waits for it.

    Raises:
        TimeLimitError: its time is over.
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: never kept from the process.
        Exception: what the code raises, as `boundary.value_of`.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Outcome[T]] = loop.create_future()
    timed = work if seconds is None else _run_with_timer(work, loop.time() + seconds, ended)
    task = loop.create_task(set_outcome(timed, ended))
    try:
        return value_of(await ended)
    except (asyncio.CancelledError, TimeLimitError):
        if not task.done():
            task.cancel()
            await _wait_for_cancelled(task, name, grace_s)
        raise


async def _wait_for_cancelled(task: asyncio.Task[None], name: str, grace_s: float) -> None:
    """Wait until a cancelled task has ended, also when the caller is cancelled meanwhile.

    Raises:
        asyncio.CancelledError: the caller was.
    """
    loop = asyncio.get_running_loop()
    deadline, again = loop.time() + grace_s, None
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError as error:
            again = error
    if not task.done():
        log.warning("%s ignores its cancellation and runs on", name)
    if again is not None:
        raise again


async def value_within(seconds: float | None, ended: asyncio.Future[Outcome[T]]) -> T:
    """Wait for the outcome of a future with a time limit, and return its value.

    Raises:
        TimeLimitError: it gets none in time.
        Exception: the error of the outcome, as `boundary.value_of`.
    """
    if seconds is None:
        return value_of(await ended)
    timer = asyncio.get_running_loop().call_later(seconds, _expire, ended)
    try:
        return value_of(await ended)
    finally:
        timer.cancel()


async def _run_with_timer(work: Coroutine[Any, Any, T], deadline: float, ended: asyncio.Future[Any]) -> T:
    """Await the work; from its first suspension on, a timer expires the future at the deadline."""
    try:
        awaited = work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    timer = asyncio.get_running_loop().call_at(deadline, _expire, ended)
    try:
        return await _rest(work, awaited)
    finally:
        timer.cancel()


def _expire(ended: asyncio.Future[Any]) -> None:
    if not ended.done():
        ended.set_exception(TimeLimitError())


def _continue(work: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Drive a coroutine to its end that is already suspended at an awaitable."""
    try:
        yield awaited
    except GeneratorExit:
        work.close()
        raise
    except BaseException as error:
        try:
            awaited = work.throw(error)
        except StopIteration as end:
            result: T = end.value
            return result
        return (yield from _continue(work, awaited))
    return (yield from work.__await__())


_rest = types.coroutine(_continue)
