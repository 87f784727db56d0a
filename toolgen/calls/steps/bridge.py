"""The bridge from the thread of a synchronous executor to the event loop of its call."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Final, ParamSpec, Protocol, Self, TypeVar

from toolgen.contract.boundary import Outcome, Raised, Returned, is_cancelled, value_of
from toolgen.contract.tasks import Work

from .running_call import CALLER, RunningCall

P = ParamSpec("P")
T = TypeVar("T")

_OVER: Final = "the call of this thread has already ended; its result is discarded"


class CallEndedError(RuntimeError):
    """The call of this thread has timed out or was cancelled, so nobody receives its result."""


class Wait(Protocol):
    """Run an asynchronous function in the event loop of the call, and return its result."""

    def __call__(self, function: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


class Bridge:
    """Runs coroutines in the running event loop for threads that wait for them, until the call ends.

    The loop never waits for a thread here: when the call ends, the threads are woken with an error.
    """

    __slots__ = ("_call", "_lock", "_pending", "is_open", "loop")

    def __init__(self, call: RunningCall | None = None) -> None:
        """Construct the bridge of a call; calls that the coroutines make belong to it."""
        self._call = call
        self.loop = asyncio.get_running_loop()
        self.is_open = True
        self._lock = threading.Lock()
        self._pending: set[concurrent.futures.Future[Any]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the call: cancel the coroutines that its threads wait for."""
        with self._lock:
            self.is_open = False
            pending = tuple(self._pending)
        for future in pending:
            future.cancel()

    def check(self) -> None:
        """Raise if the call is over.

        Raises:
            CallEndedError: the call is over.
        """
        if not self.is_open:
            raise CallEndedError(_OVER)

    def wait(self, function: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an asynchronous function in the event loop of the call, and return its result.

        Raises:
            CallEndedError: the call is over, or ends in the meantime.
            RuntimeError: this is the thread of an event loop, which must not block.
            Exception: an exception of the function, as `boundary.value_of`.
        """
        if _is_in_event_loop():
            raise RuntimeError(
                "a synchronous capability cannot be used in a thread that runs an event loop; use it "
                "directly in the tool's function, or make the function `async def`"
            )
        future = self._begin(_outcome_of(self._call, partial(function, *args, **kwargs)))
        try:
            return value_of(future.result())
        except concurrent.futures.CancelledError:
            raise CallEndedError(_OVER) from None
        finally:
            with self._lock:
                self._pending.discard(future)

    def _begin(self, work: Work[Outcome[T]]) -> concurrent.futures.Future[Outcome[T]]:
        """Schedule a coroutine in the event loop and return its future.

        Raises:
            CallEndedError: the call is over.
        """
        with self._lock:
            try:
                self.check()
                future = asyncio.run_coroutine_threadsafe(work, self.loop)
            except RuntimeError:  # the loop is closed
                work.close()
                raise CallEndedError(_OVER) from None
            self._pending.add(future)
            return future


async def _outcome_of(call: RunningCall | None, function: Callable[[], Work[T]]) -> Outcome[T]:
    """Return the outcome of the function, because some exceptions outside a task would end the event loop."""
    CALLER.set(call)  # also for threads that the tool started, which have no context
    try:
        return Returned(value=await function())
    except BaseException as error:
        if is_cancelled(error):
            raise
        return Raised(error=error)


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
