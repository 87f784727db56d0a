"""The execution of an executor's method: in the event loop or in a thread, in a queue, with a time limit."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.logs import logger

from ..errors import OutcomeUnknownError, ToolError
from ..results import RetryHint, RetryReason
from ..sync_context import SyncToolContext
from .bridge import Bridge
from .deadlines import TimeLimitError, run_in_task
from .registered_tool import RegisteredTool
from .thread_pool import NoThreadError, ThreadPool

if TYPE_CHECKING:
    from ..metrics import Metrics

_FIRST_PAUSE_S: Final = 0.1
"""Before the first retry; it doubles with each."""

log = logger("toolgen.runtime")


class Execution:
    """Runs executors for one runtime: bounded threads, one queue of sequential tools, bounded retries."""

    def __init__(
        self,
        *,
        max_parallel: int,
        max_threads: int,
        max_stuck_threads: int,
        max_retries: int,
        timeout: float | None,
        metrics: Metrics | None = None,
    ) -> None:
        self.timeout = timeout
        """Seconds for a tool whose design says nothing."""
        self._max_parallel = max_parallel
        self._max_retries = max_retries
        self._metrics = metrics
        self._threads = ThreadPool(max_threads, max_stuck=max_stuck_threads)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sequential_lock = asyncio.Lock()
        self._slots = asyncio.Semaphore(max_parallel)

    def timeout_of(self, tool: RegisteredTool) -> float | None:
        return self.timeout if tool.spec.timeout is None else tool.spec.timeout

    @property
    def stuck_threads(self) -> Mapping[str, int]:
        """Number of threads by tool whose calls are over and whose functions still run."""
        return self._threads.stuck

    async def run(self, tool: RegisteredTool, *arguments: Any) -> Any:
        """Run the executor and return its value.

        Raises:
            OutcomeUnknownError: its time is over, it has begun, and it may not run twice.
            ToolError: its time is over otherwise, or there is no thread for it.
            BaseException: what the executor raises.
        """
        self._make_locks()
        if not tool.spec.is_sequential:
            return await self._with_retries(tool, arguments)
        async with self._sequential_lock:
            return await self._with_retries(tool, arguments)

    async def run_in_slot(self, call: Awaitable[Any]) -> Any:
        """Await a call when a slot of the parallel calls is free, and return its result."""
        self._make_locks()
        try:
            async with self._slots:
                return await call
        finally:
            if inspect.iscoroutine(call):
                call.close()  # where no place became free in time

    def close(self) -> None:
        """End the threads; a busy one ends with its function, or with the process."""
        self._threads.close()

    def _make_locks(self) -> None:
        """Create the locks for the running event loop; they belong to one event loop."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._sequential_lock = asyncio.Lock()
            self._slots = asyncio.Semaphore(self._max_parallel)

    async def retry(self, tool: RegisteredTool, error: ToolError, *arguments: Any) -> Any:
        """Retry an executor after a failed attempt, with backoff, and return its value.

        Raises:
            ToolError: it must not be called again, or it failed as often as it may.
        """
        pause = _FIRST_PAUSE_S
        for _ in range(self._max_retries if tool.may_be_retried else 0):
            if not error.is_retryable:
                break
            hint = error.retry_hint
            await asyncio.sleep(pause if hint is None or hint.retry_after is None else hint.retry_after)
            pause *= 2
            if self._metrics is not None:
                self._metrics.retry("call", tool.spec.id)
            try:
                return await self._run_attempt(tool, arguments)
            except ToolError as another:
                error = another
        raise error

    async def _with_retries(self, tool: RegisteredTool, arguments: tuple[Any, ...]) -> Any:
        try:
            return await self._run_attempt(tool, arguments)
        except ToolError as error:
            return await self.retry(tool, error, *arguments)

    async def _run_attempt(self, tool: RegisteredTool, arguments: tuple[Any, ...]) -> Any:
        timeout = self.timeout_of(tool)
        try:
            if not tool.is_async:
                return await self._in_thread(tool, timeout, *arguments)
            if timeout is None:
                return await tool.execute(*arguments)
            return await run_in_task(tool.execute(*arguments), name=tool.spec.id, seconds=timeout)
        except TimeLimitError as over:
            has_begun = over.has_begun and arguments[-1].has_begun
            raise _late(tool, f"within {timeout:g} seconds", has_begun=has_begun) from None
        except NoThreadError as error:
            log.error("%s was not run: %s", tool.spec.id, error)
            text = "cannot run now: earlier calls have not ended, and hold all its threads"
            raise _unfinished(tool, "tool_unavailable", text) from None

    async def _in_thread(
        self, tool: RegisteredTool, seconds: float | None, payload: Any, context: Any
    ) -> Any:
        """Run a synchronous executor in a thread and return its value, awaited where it is awaitable."""
        clock = asyncio.get_running_loop().time
        began = clock()
        with Bridge() as bridge:
            given = SyncToolContext(context, bridge) if tool.takes_sync_context else context
            work = self._threads.run(tool.spec.id, tool.execute, payload, given, seconds=seconds)
            returned = await work
            if not inspect.isawaitable(returned):
                return returned
            if seconds is None:
                return await returned
            left = began + seconds - clock()
            return await run_in_task(_awaited(returned), name=tool.spec.id, seconds=left)


async def _awaited(returned: Awaitable[Any]) -> Any:
    return await returned


def _late(tool: RegisteredTool, limit: str, *, has_begun: bool) -> ToolError:
    """Return the error of an executor whose time is over."""
    if not has_begun:
        return _unfinished(tool, "timeout", f"was not run: it could not begin {limit}")
    text = f"gave no answer {limit}"
    if tool.runs_once:
        return OutcomeUnknownError(f"{tool.spec.name} {text}; it may have run")
    return _unfinished(tool, "timeout", text)


def _unfinished(tool: RegisteredTool, reason: RetryReason, text: str) -> ToolError:
    message = f"{tool.spec.name} {text}"
    return ToolError(message, retry_hint=RetryHint(reason=reason, tool=tool.spec.id, message=message))
