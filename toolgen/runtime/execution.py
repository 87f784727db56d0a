"""How an executor's method runs: in the loop or in a thread, alone or with others, within its time."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from .boundary import Outcome, outcome_of, value_of
from .deadlines import TimeLimitError, in_own_task
from .entry import Entry
from .errors import ToolError
from .results import RetryHint

_FIRST_PAUSE_S: Final = 0.1
"""Before the first retry; it doubles with each."""


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
            ToolError: its time is over.
            BaseException: what the executor raises.
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
        work = self._call(entry, arguments)
        if timeout is None:
            return await work
        try:
            return await in_own_task(work, name=entry.spec.id, seconds=timeout)
        except TimeLimitError:
            message = f"{entry.spec.name} gave no answer within {timeout:g} seconds"
            hint = RetryHint(reason="timeout", tool=entry.spec.id, message=message)
            raise ToolError(message, retry_hint=hint) from None

    async def _call(self, entry: Entry, arguments: tuple[Any, ...]) -> Any:
        if entry.is_async:
            return await entry.execute(*arguments)
        returned = await in_thread_of(self._threads, entry.execute, *arguments)
        return await returned if inspect.isawaitable(returned) else returned


async def in_thread_of(threads: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns in a thread, with the context variables of the caller.

    Raises:
        Exception: what the function raises, as `boundary.contained`.
    """
    work = partial(contextvars.copy_context().run, function, *arguments)
    outcome: Outcome[Any] = await asyncio.get_running_loop().run_in_executor(threads, outcome_of, work)
    return value_of(outcome)
