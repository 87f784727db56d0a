"""The boundary around author code: what it raises becomes an `Exception`, inside its own task or thread.

Python and asyncio have a use of their own for some exceptions. `SystemExit` in a task ends the event loop,
`StopIteration` cannot be put into a future, so that whoever awaits it waits for ever, `GeneratorExit` from a
future closes the coroutine that awaits it, and `CancelledError` claims that a task was cancelled. Executors,
hooks, interceptors, planners, policies, previews, toolsets and capabilities may raise any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from toolgen.contract.record import record

T = TypeVar("T")


class StrayExceptionError(RuntimeError):
    """Author code raised something that is no `Exception`, such as `SystemExit`; see `__cause__`."""


@record
class Returned(Generic[T]):
    """The outcome of author code that returned."""

    value: T


@record
class Raised:
    """The outcome of author code that raised."""

    error: BaseException


Outcome: TypeAlias = Returned[T] | Raised
"""How author code ended, as a value that can cross tasks and threads."""


def value_of(outcome: Outcome[T]) -> T:
    """Return the value of an outcome, or raise its error.

    Raises:
        KeyboardInterrupt: it was raised.
        Exception: what the code raised, as `as_exception`.
    """
    if isinstance(outcome, Returned):
        return outcome.value
    raise as_exception(outcome.error)


def as_exception(error: BaseException) -> Exception:
    """Return what author code raised as an `Exception`; anything else becomes a StrayExceptionError.

    Raises:
        KeyboardInterrupt: never kept from the process.
    """
    _raise_interrupt(error)
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        return error
    stray = StrayExceptionError(f"it raised {type(error).__name__}, which is not an Exception")
    stray.__cause__ = error
    return stray


def name_of(error: BaseException) -> str:
    """Return the class name of an exception of author code, that of the cause for a stray one."""
    is_stray = isinstance(error, StrayExceptionError) and error.__cause__ is not None
    return type(error.__cause__ if is_stray else error).__name__


def as_task_exception(error: BaseException) -> Exception:
    """Return what author code raised in the running task as an `Exception`, as `as_exception` does.

    Called in the frame that awaited it.

    Raises:
        KeyboardInterrupt: never kept from the process.
        asyncio.CancelledError: the running task is being cancelled.
        GeneratorExit: the coroutine is being closed.
    """
    _raise_interrupt(error)
    if _is_closing(error):
        raise error
    if is_cancelled(error):
        if isinstance(error, asyncio.CancelledError):
            raise error  # not from itself: what walks along the causes would come to no end
        raise asyncio.CancelledError from error
    return as_exception(error)


def is_cancelled(error: BaseException) -> bool:
    """Return whether the exception says that the running task is being cancelled, and it is."""
    if not isinstance(error, asyncio.CancelledError | BaseExceptionGroup):
        return False
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    return not isinstance(error, BaseExceptionGroup) or error.subgroup(asyncio.CancelledError) is not None


class Contained:
    """`with Contained():` around author code that the running task awaits raises as `as_task_exception` says.

    An `Exception` that the code raised leaves the block as it is.
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
    except BaseException as error:
        return Raised(error=error)


async def set_outcome(work: Awaitable[T], ended: asyncio.Future[Outcome[T]]) -> None:
    """Await author code and set the future to its outcome; the outermost coroutine of its own task.

    Only the outermost gets an exception that asyncio throws into the task.

    Raises:
        KeyboardInterrupt: nobody waits for the outcome any more.
    """
    outcome: Outcome[T]
    try:
        outcome = Returned(value=await work)
    except BaseException as error:
        outcome = Raised(error=error)
    if not ended.done():
        ended.set_result(outcome)
    elif isinstance(outcome, Raised):
        _raise_interrupt(outcome.error)


def _raise_interrupt(error: BaseException) -> None:
    """Raise a KeyboardInterrupt, also one within a task group of the author.

    Raises:
        KeyboardInterrupt: as said.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None:
        raise KeyboardInterrupt from error


def _is_closing(error: BaseException) -> bool:
    """Return whether the coroutine of the calling frame is being closed.

    Each frame of a chain of coroutines gets a `GeneratorExit` of its own then, so none lies below.
    """
    where: Any = error.__traceback__
    return isinstance(error, GeneratorExit) and where is not None and where.tb_next is None
