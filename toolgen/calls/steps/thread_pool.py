"""Threads for blocking author code: bounded, replaced when stuck; none keeps the process alive.

A thread cannot be stopped from outside. A thread whose caller has given up is *stuck* until its function
returns: it is counted, and another thread replaces it as long as at most `max_stuck` threads are stuck.
`in_thread` gives synchronous services behind asynchronous protocols their own threads.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
import weakref
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from toolgen.contract.boundary import Outcome, Raised, TimeLimitError, outcome_of, value_within
from toolgen.contract.logs import logger

from ..errors import ToolError

MAX_STUCK: Final = 32
"""Maximum number of stuck threads before the functions that hold them get no further threads."""

T = TypeVar("T")

log = logger("toolgen.runtime")


class NoThreadError(Exception):
    """No thread was available, because too many are stuck."""


class ThreadPool:
    """Runs functions in daemon threads, for any number of event loops."""

    def __init__(self, max_threads: int, *, max_stuck: int = MAX_STUCK) -> None:
        """Construct a pool; its threads start when they are needed.

        Args:
            max_threads: Maximum number of concurrent threads, not counting stuck ones.
            max_stuck: Maximum number of stuck threads that are replaced. Once it is reached, a function that
                holds a stuck thread gets no further thread, and stuck threads of other functions reduce
                `max_threads`.

        Raises:
            ValueError: the pool could have no thread.
        """
        if max_threads < 1 or max_stuck < 0:
            raise ValueError(
                f"a thread pool needs max_threads >= 1 and max_stuck >= 0, not {max_threads} and {max_stuck}"
            )
        self._max_threads = max_threads
        self._max_stuck = max_stuck
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._busy: dict[Job, _Worker] = {}
        self._blocked: set[Job] = set()
        """Busy jobs that only wait for other jobs."""
        self._stuck: dict[Job, _Worker] = {}
        self._idle: list[_Worker] = []
        self._is_closed = False
        weakref.finalize(self, _dismiss, self._idle).atexit = False

    async def run(
        self, name: str, function: Callable[..., T], *arguments: Any, seconds: float | None = None
    ) -> T:
        """Run a function in a thread with the caller's context variables, and return its value.

        Jobs with the same name belong to the same function; the log contains the name.

        Raises:
            NoThreadError: too many threads are stuck.
            TimeLimitError: the time is over; the function continues to run, unless it had not begun.
            asyncio.CancelledError: the caller's own task is being cancelled; the function continues likewise.
            Exception: an exception of the function, as `boundary.value_of`.
        """
        value: T = await self.ended(self.start(name, function, *arguments), seconds)
        return value

    def start(self, name: str, function: Callable[..., Any], *arguments: Any) -> Job:
        """Start a function in a thread, with the caller's context variables; `ended` waits for it."""
        call = partial(contextvars.copy_context().run, function, *arguments)
        job = Job(self, name, call, asyncio.get_running_loop())
        with self._lock:
            self._forget_other_process()
            self._waiting.append(job)
            self._assign()
        return job

    async def ended(self, job: Job, seconds: float | None = None) -> Any:
        """Wait for the end of a job and return the value of its function; raises as `run`."""
        try:
            return await value_within(seconds, job.ended)
        except asyncio.CancelledError:
            job.is_late = self._abandon(job)
            raise
        except TimeLimitError:
            job.is_late = self._abandon(job)
            raise TimeLimitError(has_begun=job.is_late) from None

    def block(self, job: Job, *, is_blocked: bool) -> None:
        """Mark whether a thread waits for other jobs, in which case another thread can run instead."""
        with self._lock:
            if is_blocked and job in self._busy:
                self._blocked.add(job)
                self._assign()
            else:
                self._blocked.discard(job)

    @property
    def stuck(self) -> Mapping[str, int]:
        """Number of stuck threads, by function name."""
        with self._lock:
            return Counter(job.name for job in self._stuck)

    def close(self) -> None:
        """End the threads; busy ones end when their functions return."""
        with self._lock:
            self._is_closed = True
            _dismiss(self._idle)

    def _assign(self) -> None:
        """Assign free threads to waiting jobs; call it under the lock."""
        while self._waiting:
            job = self._waiting[0]
            limit = self._max_threads - max(0, len(self._stuck) - self._max_stuck)
            if limit < 1 or self._is_refused(job.name):
                self._waiting.popleft().set_outcome(
                    Raised(error=NoThreadError(f"stuck threads: {len(self._stuck)}"))
                )
                continue
            if len(self._busy) - len(self._blocked) >= limit:
                return
            try:
                worker = self._idle.pop() if self._idle else _Worker(self)
            except RuntimeError as error:  # the operating system has no more threads
                if len(self._busy) > len(self._blocked):
                    return
                self._waiting.popleft().set_outcome(Raised(error=error))
                continue
            self._busy[self._waiting.popleft()] = worker
            worker.jobs.put(job)

    def _is_refused(self, name: str) -> bool:
        is_full = len(self._stuck) >= self._max_stuck
        return is_full and any(job.name == name for job in self._stuck)

    def _abandon(self, job: Job) -> bool:
        """Abandon a job whose caller has gone, and return whether its function had begun."""
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                return False
            worker = self._busy.pop(job, None)
            self._blocked.discard(job)
            if worker is None:
                return True
            self._stuck[job] = worker
            mine, all_ = sum(stuck.name == job.name for stuck in self._stuck), len(self._stuck)
            self._assign()
        log.warning(
            "%s did not return within its timeout, so its thread is stuck: %d of this tool, %d in "
                "total, at most %d are replaced",
            job.name, mine, all_, self._max_stuck,
        )  # fmt: skip
        return True

    def release(self, job: Job) -> None:
        """Mark the function of a job as returned, so that its thread takes the next job."""
        with self._lock:
            worker = self._busy.pop(job, None) or self._stuck.pop(job)
            self._blocked.discard(job)
            limit = self._max_threads - max(0, len(self._stuck) - self._max_stuck)
            if self._is_closed or len(self._busy) + len(self._idle) >= limit:
                worker.jobs.put(None)
            else:
                self._idle.append(worker)
            self._assign()

    def _forget_other_process(self) -> None:
        """Reset the pool in a forked process, which has none of its threads; called under the lock."""
        worker = next((worker for group in (self._busy.values(), self._idle) for worker in group), None)
        if worker is not None and not worker.thread.is_alive():
            self._waiting.clear()
            self._busy.clear()
            self._blocked.clear()
            self._stuck.clear()
            self._idle.clear()


class Job:
    """A function that runs in a thread, and the future for its outcome."""

    __slots__ = ("_has_ended", "_loop", "_on_end", "_pool", "call", "ended", "is_late", "name")

    def __init__(
        self, pool: ThreadPool, name: str, call: Callable[[], object], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._pool = pool
        self.name = name
        self.call = call
        self.ended: asyncio.Future[Outcome[Any]] = loop.create_future()
        self._loop = loop
        self.is_late = False
        """Whether it had begun when its caller gave up."""
        self._has_ended = False
        self._on_end: Callable[[Job], object] | None = None

    def add_done_callback(self, callback: Callable[[Job], object], /) -> None:
        """Call the callback in the event loop when the function has returned, even without a waiter."""
        self._on_end = callback
        if self._has_ended:
            self._loop.call_soon(callback, self)

    def block(self) -> None:
        """Mark that the function waits for other jobs, so that another thread can run instead."""
        self._pool.block(self, is_blocked=True)

    def unblock(self) -> None:
        """Mark that the function continues."""
        self._pool.block(self, is_blocked=False)

    def set_outcome(self, outcome: Outcome[Any]) -> None:
        """Set the outcome of the job in its event loop, from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._end, outcome)
        except RuntimeError:  # the loop is closed, so no caller waits
            log.debug("%s returned after its event loop was closed", self.name)

    def _end(self, outcome: Outcome[Any]) -> None:
        self._has_ended = True
        if not self.ended.done():
            self.ended.set_result(outcome)
        if self._on_end is not None:
            self._on_end(self)


class _Worker:
    """A thread that runs one job after the other."""

    __slots__ = ("jobs", "thread")

    def __init__(self, pool: ThreadPool) -> None:
        """Start the thread.

        Raises:
            RuntimeError: the operating system has no more threads.
        """
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        """Next job of the thread; None ends the thread."""
        arguments = (self.jobs, weakref.ref(pool))
        self.thread = threading.Thread(target=_serve, args=arguments, name="toolgen tool", daemon=True)
        self.thread.start()


def _serve(jobs: SimpleQueue[Job | None], pool: weakref.ref[ThreadPool]) -> None:
    """Run jobs until None arrives or the pool is garbage collected; an idle thread references neither."""
    while (job := jobs.get()) is not None:
        outcome = outcome_of(job.call)
        owner = pool()
        if owner is not None:
            owner.release(job)  # before its caller continues, which may have the next job for this thread
        job.set_outcome(outcome)
        if owner is None:
            return
        del job, outcome, owner


def _dismiss(idle: list[_Worker]) -> None:
    while idle:
        idle.pop().jobs.put(None)


def in_thread(service: object, *, max_threads: int = 8) -> Any:
    """Make the methods of a synchronous service asynchronous, for tools that are bound to it.

    Each call runs in one of the service's own threads, with the context variables of the caller. If the
    caller has gone, the method keeps its thread until it returns, and another thread replaces it. If too many
    threads hang, calls of the method raise `ToolError`.

    Args:
        service: Object whose methods can be called from several threads.
        max_threads: Maximum number of threads.
    """
    return _InThread(service, ThreadPool(max_threads))


class _InThread:
    def __init__(self, service: object, threads: ThreadPool) -> None:
        self._service = service
        self._threads = threads

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._service, name)
        if inspect.iscoroutinefunction(method):
            return method  # type: ignore[no-any-return]  # an attribute of an unknown class

        full_name = f"{type(self._service).__name__}.{name}"

        @functools.wraps(method)
        async def call(*args: object, **kwargs: object) -> Any:
            call = functools.partial(method, *args, **kwargs)
            try:
                return await self._threads.run(full_name, call)
            except NoThreadError as error:
                raise ToolError(
                    f"{full_name} cannot run at the moment: too many threads are stuck in earlier calls that "
                    "have not ended"
                ) from error

        return call
