"""The execution of an admitted call: in the event loop or in a thread, with time limit and retries."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.boundary import TimeLimitError, awaited_work, run_in_task
from toolgen.contract.logs import logger

from ..errors import BusyError, CredentialNeededError, MalformedResultError, OutcomeUnknownError, ToolError
from ..results import RetryHint, RetryReason, ToolOutcome, ToolResult, WithoutResult

if TYPE_CHECKING:
    from ..context import ToolContext
    from ..reports import CallMetrics
    from .registered_tool import RegisteredTool
    from .running_call import RunningCall
    from .scheduler import Scheduler
    from .scheduling import Scheduling
    from .thread_pool import ThreadPool

_FIRST_PAUSE_S: Final = 0.1
"""Seconds before the first retry; doubled for each further retry."""
MAX_PAUSE_S: Final = 5.0
"""Maximum delay in seconds; a longer `RetryHint.retry_after` is left to the planner."""

log = logger("toolgen.runtime")


class Execution:
    """Runs the executors of admitted calls for one runtime, in the event loop or in a bounded thread pool."""

    def __init__(self, scheduler: Scheduler, options: Scheduling, metrics: CallMetrics | None = None) -> None:
        self._scheduler = scheduler
        self._max_retries = options.max_retries
        self._metrics = metrics
        self._options = options
        self._threads: ThreadPool | None = None
        """Threads of synchronous executors; None before the first use."""

    @property
    def stuck_threads(self) -> Mapping[str, int]:
        """Number of threads, by tool, whose functions are still running although their calls have ended."""
        return {} if self._threads is None else self._threads.stuck

    async def run(self, call: RunningCall, tool: RegisteredTool, argument: Any, context: ToolContext) -> Any:
        """Run the executor of an admitted call, whose time limit starts now, and return its value.

        `argument` is the payload, or the call for a raw executor.

        Raises:
            OutcomeUnknownError: the call timed out after it began, and must not run twice.
            ToolError: the call timed out otherwise, or there is no thread for it.
            BaseException: an exception of the executor.
        """
        if tool.timeout is not None:
            assert self._scheduler.loop is not None, "it has admitted the call"
            context.deadline = self._scheduler.loop.time() + tool.timeout
        try:
            returned = await self._attempt(call, tool, argument, context)
        except (ToolError, TimeLimitError) as error:
            returned = await self.retry(call, tool, _failure(tool, context, error), argument, context)
        return _outcome_of_raw(returned) if tool.raw else returned

    def close(self) -> None:
        """Stop the threads; a busy thread ends with its function or with the process."""
        if self._threads is not None:
            self._threads.close()

    async def retry(
        self, call: RunningCall, tool: RegisteredTool, error: ToolError, argument: Any, context: ToolContext
    ) -> Any:
        """Retry an executor after a failed attempt, with backoff, and return its value.

        If the executor needs a credential, the value is `ToolOutcome.need_credential`. All attempts share the
        time limit of the tool. A delay that does not fit into it, or exceeds `MAX_PAUSE_S`, ends the retries
        and is left to the caller.

        Raises:
            ToolError: the executor must not be called again, or the retries are used up.
        """
        from .attempts import restart_state  # few calls are retried

        backoff = _FIRST_PAUSE_S
        for _ in range(self._max_retries if tool.spec.may_repeat else 0):
            if not error.is_retryable:
                break
            pause = _pause_after(error, backoff)
            time_left = context.time_left
            if not pause <= MAX_PAUSE_S or (time_left is not None and pause >= time_left):
                break
            try:
                await self._scheduler.pause(call, pause)
            except BusyError:
                break
            backoff *= 2
            if self._metrics is not None:
                self._metrics.retry("call", tool.spec.id)
            restart_state(context)
            try:
                return await self._attempt(call, tool, argument, context)
            except (ToolError, TimeLimitError) as another:
                error = _failure(tool, context, another)
        if isinstance(error, CredentialNeededError):
            return ToolOutcome.need_credential(error.request, error.message)
        raise error

    def _attempt(
        self, call: RunningCall, tool: RegisteredTool, argument: Any, context: ToolContext
    ) -> Awaitable[Any]:
        """Return the coroutine of one attempt, which must end before the deadline of its context."""
        if not tool.is_async:
            return self._in_thread(call, tool, argument, context)
        work = tool.execute(argument, context)
        if context.deadline is None:
            return work  # type: ignore[no-any-return]  # a coroutine
        return run_in_task(work, name=tool.spec.id, deadline=context.deadline, on_late=call.set_late)

    async def _in_thread(
        self, call: RunningCall, tool: RegisteredTool, payload: Any, context: ToolContext
    ) -> object:
        """Run a synchronous executor in a thread and return its value; await the value if it is awaitable."""
        from ..sync_context import SyncToolContext  # only synchronous executors need threads
        from .bridge import Bridge
        from .thread_pool import NoThreadError, ThreadPool

        if self._threads is None:
            options = self._options
            self._threads = ThreadPool(options.max_threads, max_stuck=options.max_stuck_threads)
        with Bridge(call) as bridge:
            own_context = SyncToolContext(context, bridge) if tool.takes_sync_context else context
            call.thread = job = self._threads.start(tool.spec.id, tool.execute, payload, own_context)
            try:
                returned = await self._threads.ended(job, context.time_left)
            except (asyncio.CancelledError, TimeLimitError):
                if job.is_late:
                    call.set_late(job)
                raise
            except NoThreadError as error:
                log.error("%s was not run: %s", tool.spec.id, error)
                text = (
                    "cannot run at the moment: too many threads are stuck in earlier calls that have not "
                    "ended"
                )
                raise _unfinished(tool, "tool_unavailable", text) from None
            finally:
                call.thread = None
            if not inspect.isawaitable(returned):
                return returned
            if (deadline := context.deadline) is None:
                return await returned
            work = awaited_work(returned)
            return await run_in_task(work, name=tool.spec.id, deadline=deadline, on_late=call.set_late)


def _outcome_of_raw(answer: object) -> ToolOutcome | WithoutResult:
    """Return the `ToolResult` of a raw executor as a `ToolOutcome`; a value without a result unchanged.

    Raises:
        MalformedResultError: it is not a `ToolResult`.
        ToolError: it is an error.
    """
    if isinstance(answer, WithoutResult):
        return answer
    if not isinstance(answer, ToolResult):
        raise MalformedResultError(
            f"a raw executor must return a ToolResult, not a value of type {type(answer).__name__}"
        )
    if answer.error is not None:
        raise answer.error
    return ToolOutcome(
        result=answer.result,
        artifacts=answer.artifacts,
        content=answer.content,
        display=answer.display or None,
        is_final=answer.is_final,
    )


def _failure(tool: RegisteredTool, context: ToolContext, error: ToolError | TimeLimitError) -> ToolError:
    """Return the error of an executor; after a timeout, it states the limit."""
    if isinstance(error, ToolError):
        return error
    limit = error.limit or f"within {tool.timeout:g} seconds"
    if not (error.has_begun and context.has_begun):
        late = _unfinished(tool, "timeout", f"was not run: it could not start {limit}")
    elif not tool.may_repeat:
        late = OutcomeUnknownError(f"{tool.spec.name} did not respond {limit}; it may have run")
    else:
        late = _unfinished(tool, "timeout", f"did not respond {limit}")
    late.__suppress_context__ = True  # as with `raise … from None`
    return late


def _pause_after(error: ToolError, backoff: float) -> float:
    """Return the seconds before the next attempt: the delay that the executor requests, or the backoff."""
    after = None if error.retry_hint is None else error.retry_hint.retry_after
    return after if isinstance(after, int | float) else backoff


def _unfinished(tool: RegisteredTool, reason: RetryReason, text: str) -> ToolError:
    message = f"{tool.spec.name} {text}"
    return ToolError(message, retry_hint=RetryHint(reason=reason, tool=tool.spec.id, message=message))
