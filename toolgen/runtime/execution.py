"""How an executor's method runs: in the loop or in a thread, alone or with others, within its time."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from toolgen.contract.logs import logger

from .entry import Entry
from .errors import ToolError
from .results import RetryHint

_GRACE_S: Final = 1.0
"""For an executor to end after it was cancelled; then it is left behind."""
_FIRST_PAUSE_S: Final = 0.1
"""Before the first retry; it doubles with each."""

T = TypeVar("T")

log = logger("toolgen.runtime")


class Execution:
    """Runs executors for one runtime: bounded threads, one queue of sequential tools, bounded retries."""

    def __init__(
        self, *, max_parallel: int, max_threads: int, max_retries: int, timeout: float | None
    ) -> None:
        self.timeout = timeout
        """Seconds for a tool whose design says nothing."""
        self._max_parallel = max_parallel
        self._max_retries = max_retries
        self._threads = ThreadPoolExecutor(max_threads, thread_name_prefix="toolgen")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alone = asyncio.Lock()
        self._places = asyncio.Semaphore(max_parallel)

    def timeout_of(self, entry: Entry) -> float | None:
        return self.timeout if entry.spec.timeout is None else entry.spec.timeout

    async def run(self, entry: Entry, *arguments: Any) -> Any:
        """Return what the executor returns.

        Raises:
            ToolError: its time is over, or whatever the executor raises.
        """
        self._bind()
        if not entry.spec.is_sequential:
            return await self._within_time(entry, arguments)
        async with self._alone:
            return await self._within_time(entry, arguments)

    async def in_place(self, call: Awaitable[Any]) -> Any:
        """Return what the call gives, when one of the places of parallel calls is free."""
        self._bind()
        try:
            async with self._places:
                return await call
        finally:
            if inspect.iscoroutine(call):
                call.close()  # where no place became free in time

    def close(self) -> None:
        """End the threads; work that is in one goes on to its end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _bind(self) -> None:
        """Make the locks anew in another event loop; they belong to one."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._alone = asyncio.Lock()
            self._places = asyncio.Semaphore(self._max_parallel)

    async def again(self, entry: Entry, error: ToolError, *arguments: Any) -> Any:
        """Return what the executor returns after a first attempt that failed.

        Raises:
            ToolError: it must not be called again, or it failed as often as it may.
        """
        pause = _FIRST_PAUSE_S
        for _ in range(self._max_retries if entry.may_be_retried else 0):
            if not error.is_retryable:
                break
            hint = error.retry_hint
            await asyncio.sleep(pause if hint is None or hint.retry_after is None else hint.retry_after)
            pause *= 2
            try:
                return await self._once(entry, arguments)
            except ToolError as another:
                error = another
        raise error

    async def _within_time(self, entry: Entry, arguments: tuple[Any, ...]) -> Any:
        try:
            return await self._once(entry, arguments)
        except ToolError as error:
            return await self.again(entry, error, *arguments)

    async def _once(self, entry: Entry, arguments: tuple[Any, ...]) -> Any:
        timeout = self.timeout_of(entry)
        if timeout is None:
            return await self._call(entry, arguments)
        task = asyncio.ensure_future(self._call(entry, arguments))
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=_GRACE_S)
        if not done:
            log.warning("tool %s ignores its cancellation and runs on", entry.spec.id)
            task.add_done_callback(_heard)
        message = f"{entry.spec.name} gave no answer within {timeout:g} seconds"
        raise ToolError(message, retry_hint=RetryHint(reason="timeout", tool=entry.spec.id, message=message))

    async def _call(self, entry: Entry, arguments: tuple[Any, ...]) -> Any:
        if entry.is_async:
            return await entry.execute(*arguments)
        returned = await in_thread_of(self._threads, entry.execute, *arguments)
        return await returned if inspect.isawaitable(returned) else returned


async def limited(seconds: float | None, awaitable: Awaitable[T]) -> T:
    """Return what the awaitable gives.

    Raises:
        TimeoutError: it took longer; it was cancelled.
    """
    if seconds is None:
        return await awaitable
    async with asyncio.timeout(seconds):
        return await awaitable


async def in_thread_of(threads: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns in a thread, with the context variables of the caller."""
    work = partial(contextvars.copy_context().run, function, *arguments)
    return await asyncio.get_running_loop().run_in_executor(threads, work)


def _heard(task: asyncio.Future[Any]) -> None:
    """Take the exception of a task that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
