"""The boundary around author code, which turns whatever it raises into an `Exception` and limits its time.

Some exceptions have a special meaning for Python and asyncio. `SystemExit` in a task ends the event loop.
`StopIteration` cannot be set on a future, so that its awaiter waits forever. `GeneratorExit` from a future
closes the coroutine that awaits it. `CancelledError` claims that a task was cancelled. Executors, hooks,
interceptors, planners, policies, previews, toolsets and capabilities can raise any of them.

Time is measured by the running event loop. Host code runs in the caller's task, and a timer is started only
when it suspends. A tool has its own task, so that a tool that ignores its cancellation can be abandoned.
"""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from .logs import logger
from .record import record
from .tasks import GRACE_S, Work

T = TypeVar("T")

log = logger("toolgen.runtime")
_Coroutine: Final = types.CoroutineType

_ABANDONED_S: Final = 2 * GRACE_S
"""Seconds for work to end after its cancellation; longer than the grace period of a tool within it."""


class StrayExceptionError(RuntimeError):
    """Author code raised something other than an `Exception`, for example `SystemExit`; see `__cause__`."""


@record
class Returned(Generic[T]):
    """The outcome of author code that returned."""

    value: T


@record
class Raised:
    """The outcome of author code that raised."""

    error: BaseException


Outcome: TypeAlias = Returned[T] | Raised
"""Outcome of author code, as a value that can cross tasks and threads."""


def value_of(outcome: Outcome[T]) -> T:
    """Return the value of an outcome, or raise its error.

    Raises:
        KeyboardInterrupt: the code raised it.
        Exception: the error of the code, as `as_exception`.
    """
    if isinstance(outcome, Returned):
        return outcome.value
    raise as_exception(outcome.error)


def as_exception(error: BaseException) -> Exception:
    """Return an error of author code as an `Exception`; anything else becomes a StrayExceptionError.

    Raises:
        KeyboardInterrupt: always passed on to the process.
    """
    _raise_interrupt(error)
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    stray = StrayExceptionError(f"it raised {type(error).__name__}, which is not an Exception")
    stray.__cause__ = error
    return stray


def name_of(error: BaseException) -> str:
    """Return the class name of an exception of author code; for a stray one, the name of its cause."""
    is_stray = isinstance(error, StrayExceptionError) and error.__cause__ is not None
    return type(error.__cause__ if is_stray else error).__name__


def as_task_exception(error: BaseException) -> Exception:
    """Return an error that author code raised in the running task as an `Exception`, as `as_exception`.

    It must be called in the frame that awaited the code.

    Raises:
        KeyboardInterrupt: always passed on to the process.
        asyncio.CancelledError: the running task is being cancelled.
        GeneratorExit: the coroutine is being closed.
    """
    _raise_interrupt(error)
    if _is_closing(error):
        raise error
    if is_cancelled(error):
        if isinstance(error, asyncio.CancelledError):
            raise error  # not from itself, because following its causes would never end
        raise asyncio.CancelledError from error
    return as_exception(error)


def is_cancelled(error: BaseException) -> bool:
    """Return whether the exception reports that the running task is being cancelled, and it is."""
    if not isinstance(error, asyncio.CancelledError | BaseExceptionGroup):
        return False
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    return not isinstance(error, BaseExceptionGroup) or error.subgroup(asyncio.CancelledError) is not None


class Contained:
    """Context manager around author code in the running task; converts errors with `as_task_exception`.

    An `Exception` of the code leaves the block unchanged.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None and (exception := as_task_exception(error)) is not error:
            raise exception


def outcome_of(function: Callable[[], T]) -> Outcome[T]:
    """Call a function of author code in a thread and return its value or its exception as an outcome."""
    try:
        return Returned(value=function())
    except BaseException as error:  # noqa: BLE001 - stored in the outcome, whose reader raises it
        return Raised(error=error)


async def _keep_outcome(
    work: Awaitable[T], outcomes: list[Outcome[T]], waiting: list[asyncio.Future[Outcome[T]]]
) -> None:
    """Await author code, store its outcome and set the waiting future; outermost coroutine of its task.

    Only the outermost coroutine receives an exception that asyncio throws into the task, and a task that
    cancels itself and returns has no result.

    Raises:
        KeyboardInterrupt: the outcome has no reader any more.
    """
    outcome: Outcome[T]
    try:
        outcome = Returned(value=await work)
    except BaseException as error:  # noqa: BLE001 - stored in the outcome, whose reader raises it
        outcome = Raised(error=error)
    outcomes.append(outcome)
    for ended in waiting:
        if not ended.done():
            ended.set_result(outcome)
        elif isinstance(outcome, Raised):
            _raise_interrupt(outcome.error)


def _raise_interrupt(error: BaseException) -> None:
    """Raise a KeyboardInterrupt, also if it is within a task group of the author.

    Raises:
        KeyboardInterrupt: the error is or contains one.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None:
        raise KeyboardInterrupt from error


def _is_closing(error: BaseException) -> bool:
    """Return whether the coroutine of the calling frame is being closed.

    Each frame of a chain of coroutines then gets its own `GeneratorExit`, so the traceback has no deeper
    frame.
    """
    where: Any = error.__traceback__
    return isinstance(error, GeneratorExit) and where is not None and where.tb_next is None


class TimeLimitError(TimeoutError):
    """Author code had no result when its time was over."""

    def __init__(self, *, has_begun: bool = True, limit: str = "") -> None:
        super().__init__()
        self.has_begun, self.limit = has_begun, limit
        """Whether any of the code ran (if not, it never will); and a limit that it set itself, or ""."""


async def run_with_timeout(seconds: float | None, work: Awaitable[T]) -> T:
    """Await the work in the caller's task with a timeout, and return its value.

    The timeout does not cover the first step, up to the first suspension, because nothing could interrupt it.

    Raises:
        TimeoutError: the work timed out and was cancelled.
        BaseException: an exception of the work.
    """
    first: Any = run_first_step(work)
    return await first.rest(seconds) if isinstance(first, SuspendedWork) else first  # type: ignore[no-any-return]


class SuspendedWork(Generic[T]):
    """Work that has run up to its first suspension."""

    __slots__ = ("_awaited", "_work")

    def __init__(self, work: Work[T], awaited: Any) -> None:
        self._work = work
        self._awaited = awaited

    async def rest(self, seconds: float | None) -> T:
        """Await the rest of the work in the caller's task with a timeout, and return its value.

        Raises:
            TimeoutError: the work timed out and was cancelled.
            BaseException: an exception of the work.
        """
        if seconds is None:
            return await _rest(self._work, self._awaited)
        async with asyncio.timeout(seconds):  # needs a task
            return await _rest(self._work, self._awaited)


def run_first_step(work: Awaitable[T]) -> T | SuspendedWork[T]:
    """Run work in the caller's task up to its first suspension; return its value if it ends before.

    Raises:
        BaseException: an exception of the work.
    """
    coroutine: Any = work if work.__class__ is _Coroutine else awaited_work(work)
    try:
        awaited = coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # value of the work
    return SuspendedWork(coroutine, awaited)


async def awaited_work(work: Awaitable[T]) -> T:
    """Return the value of any awaitable, as a coroutine."""
    return await work


async def run_in_task(
    work: Work[T],
    *,
    name: str,
    deadline: float | None = None,
    grace_s: float = GRACE_S,
    on_late: Callable[[asyncio.Task[object]], object] | None = None,
) -> T:
    """Run author code in its own task until a deadline, on the loop's clock, and return its value.

    When its time is over, or the caller is cancelled, the code is cancelled and has a grace period to end.
    Code that ignores this continues to run in the background, and a warning names it; `on_late` is called
    with its task.

    Raises:
        TimeLimitError: its time is over.
        asyncio.CancelledError: the caller's own task is being cancelled.
        KeyboardInterrupt: always passed on to the process.
        Exception: an exception of the code, as `boundary.value_of`.
    """
    outcomes: list[Outcome[T]] = []
    waiting: list[asyncio.Future[Outcome[T]]] = []
    task, timer = _start(work, deadline, outcomes, waiting)
    if not waiting:
        return value_of(outcomes[0])
    (ended,) = waiting
    try:
        return value_of(await ended)
    except (asyncio.CancelledError, TimeLimitError):
        if not task.done():
            task.cancel()
            try:
                await _wait_for_cancelled(task, name, grace_s)
            finally:
                if on_late is not None and not task.done():
                    on_late(task)
        raise
    finally:
        if timer is not None:
            timer.cancel()


def _start(
    work: Work[T],
    deadline: float | None,
    outcomes: list[Outcome[T]],
    waiting: list[asyncio.Future[Outcome[T]]],
) -> tuple[asyncio.Task[None], asyncio.TimerHandle | None]:
    """Return the task of the work, and the timer of its deadline if the task has none of its own.

    Unless the work has already ended, the future of its outcome is added to `waiting`.
    """
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12) and loop.get_task_factory() is None:
        task = asyncio.Task(_keep_outcome(work, outcomes, waiting), loop=loop, eager_start=True)
        if task.done():  # true for most work, which does not suspend
            return task, None
        ended: asyncio.Future[Outcome[T]] = loop.create_future()
        waiting.append(ended)
        return task, None if deadline is None else loop.call_at(deadline, _expire, ended)
    ended = loop.create_future()
    waiting.append(ended)
    timed = work if deadline is None else _run_with_timer(work, deadline, ended)
    return loop.create_task(_keep_outcome(timed, outcomes, waiting)), None


async def run_or_abandon(work: Work[T]) -> T:
    """Await work that stops promptly when cancelled; work that ignores this is abandoned and keeps running.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        Exception: an exception of the work, as `boundary.value_of`.
    """
    return await run_in_task(work, name=getattr(work, "__qualname__", "work"), grace_s=_ABANDONED_S)


async def _wait_for_cancelled(task: asyncio.Task[object], name: str, grace_s: float) -> None:
    """Wait until a cancelled task has ended, even if the caller is cancelled in the meantime.

    Raises:
        asyncio.CancelledError: the caller was cancelled.
    """
    loop = asyncio.get_running_loop()
    deadline, again = loop.time() + grace_s, None
    while not task.done() and (seconds := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError as error:
            again = error
    if not task.done():
        log.warning("%s ignores its cancellation and runs on", name)
    if again is not None:
        raise again


async def value_within(seconds: float | None, ended: asyncio.Future[Outcome[T]]) -> T:
    """Wait for the outcome of a future with a time limit, and return its value.

    Raises:
        TimeLimitError: there is no outcome in time.
        Exception: the error of the outcome, as `boundary.value_of`.
    """
    if seconds is None:
        return value_of(await ended)
    timer = asyncio.get_running_loop().call_later(seconds, _expire, ended)
    try:
        return value_of(await ended)
    finally:
        timer.cancel()


async def _run_with_timer(work: Work[T], deadline: float, ended: asyncio.Future[Any]) -> T:
    """Await the work; from its first suspension, a timer expires the future at the deadline."""
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


def _continue(work: Work[T], awaited: Any) -> Generator[Any, Any, T]:
    """Drive a coroutine that is suspended at an awaitable to its end."""
    try:
        yield awaited
    except GeneratorExit:
        work.close()
        raise
    except BaseException as error:  # noqa: BLE001 - thrown into the coroutine, which decides
        try:
            awaited = work.throw(error)
        except StopIteration as end:
            result: T = end.value
            return result
        return (yield from _continue(work, awaited))
    return (yield from work.__await__())


_rest = types.coroutine(_continue)
