"""The scheduler of a runtime: it decides when an executor runs.

A call takes its lock first and then its slots at the limits. Only a running executor has slots: a call that
waits for its own calls has none, so no call waits while it holds a slot. Only locks can therefore form a
cycle, and an acquisition that would close one is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from toolgen.contract.tasks import Work

from ..errors import EventLoopError, RuntimeClosedError
from .locks import Locks
from .running_call import CALLER, CallLimit, CallLimits, Queues, RunningCall, await_without_slot, open_call

if TYPE_CHECKING:
    from ..call import CallMeta
    from .registered_tool import RegisteredTool
    from .scheduling import Scheduling

T = TypeVar("T")


class Scheduler:
    """Admits the calls of one runtime; belongs to one event loop at a time."""

    def __init__(self, options: Scheduling) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of the calls; None before the first call."""
        self._is_closing = False
        self._options = options
        self._in_runs: dict[str, RunningCall] = {}
        """Parent of the calls of each run that is making calls or is awaited."""
        self._has_narrow_limits = (
            options.max_calls_per_session is not None or options.max_calls_per_tool is not None
        )

    # The event loop.

    def attach(self) -> None:
        """Bind to the running event loop; calls of an earlier loop that has ended are dropped.

        Raises:
            EventLoopError: the other loop has not ended.
        """
        loop, before, options = asyncio.get_running_loop(), self.loop, self._options
        if before is loop:
            return
        if before is not None and not before.is_closed() and (before.is_running() or not self.is_idle):
            raise EventLoopError(
                "the runtime is used by another event loop that is still running",
                hint="create a runtime for each event loop, or use run_coroutine_threadsafe; in a "
                "synchronous tool use ctx.wait(runtime.call, …)",
            )
        self.loop = loop
        self._queues = Queues(options.max_queued)
        self._locks = Locks(self._queues)
        self._process = CallLimit(options.max_calls, loop)
        self._threads = CallLimit(options.max_threads, loop)
        self._runs = CallLimits(options.max_calls_per_run, loop)
        self._sessions = CallLimits(options.max_calls_per_session, loop)
        self._tools = CallLimits(options.max_calls_per_tool, loop)
        self.only_process_limit = (self._process,)
        self._set_limit_outside_runs(loop)
        self._in_runs.clear()

    def close(self, *, is_over: bool = False) -> None:
        """Reject new calls, except calls that running calls make."""
        self._is_closing = not is_over
        if self.loop is not None:
            self._set_limit_outside_runs(self.loop)

    def _set_limit_outside_runs(self, loop: asyncio.AbstractEventLoop) -> None:
        self.limit_outside_runs = (
            CallLimit(0, loop) if self._has_narrow_limits or self._is_closing else self._process
        )
        """The limit of calls outside any run or call; 0 if narrower limits apply or the runtime closes."""

    @property
    def is_idle(self) -> bool:
        """Whether no call runs, waits or holds a lock. Executors that outlive their calls do not count."""
        return self.loop is None or not (
            self._process.running
            or self._threads.running
            or self._queues.waiting
            or self._locks.are_held
            or len(self._runs)
            or len(self._sessions)
            or len(self._tools)
            or self._in_runs
        )

    # One call.

    def admit_at_once(
        self, call: RunningCall, tool: RegisteredTool, meta: CallMeta, payload: object, before: object
    ) -> bool:
        """Admit a call without waiting, and return whether it was admitted; otherwise use `admit`.

        `before` is the call in whose context this call is made; another object if there is none.

        Raises:
            RuntimeClosedError: there is none, and the runtime is being closed.
        """
        if tool.needs_no_thread_or_lock and not meta.run_id and before.__class__ is not RunningCall:
            limit = self.limit_outside_runs
            if limit.running < limit.most:
                limit.running += 1
                call.limits = self.only_process_limit
                call.is_open = call.has_slot = True
                return True
        self._enter(call, tool, meta, before)
        if tool.spec.is_sequential:
            call.key = tool.lock_key(payload, meta)
            if not self._locks.try_acquire(call.key, call):
                return False
        return _take_places_at_once(call)

    async def admit(self, call: RunningCall) -> None:
        """Wait until a call that was not admitted at once can run.

        Raises:
            BusyError: too many calls are already waiting.
            DeadlockError: the call would wait for a call that waits for it.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        if call.key is not None and call.lock is None:
            await self._locks.acquire(call.key, call)
        await self._take_places(call)

    def leave(self, call: RunningCall) -> None:
        """End a call, or its wait for admission, and admit the next calls.

        An executor that is still running keeps the lock until it ends, so that no other executor runs
        concurrently.
        """
        call.is_open = False
        if call.has_slot:
            call.has_slot = False
            if call.run_limit is None:  # admitted at once: only the process limits it
                limit = call.limits[0]
                limit.running -= 1
                if limit.queue.waiters:
                    limit.admit_next()
                return
            for limit in call.limits:
                limit.release()
        if call.run_limit is None:
            return
        call.thread = None
        if call.lock is not None and call.late is not None:
            self._locks.release_after(call.late, call)
        else:
            if call.lock is not None:
                self._locks.release(call)
            call.drop_caller()
        for limit in call.limits:
            self._runs.release(limit)
            self._sessions.release(limit)
            self._tools.release(limit)

    async def pause(self, call: RunningCall, seconds: float) -> None:
        """Wait before the next attempt of a call, which keeps its lock and is then admitted again.

        Raises:
            BusyError: too many calls are already waiting.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        call.is_paused, call.thread = True, None
        call.release_places()
        await asyncio.sleep(seconds)
        if call.run_limit is None:
            call.run_limit = self._new_run_limit()
        await self._take_places(call)

    def _new_run_limit(self) -> CallLimit:
        """Return the limit for calls that belong to no run."""
        assert self.loop is not None, "calls are made in an event loop"
        return CallLimit(self._options.max_calls_per_run, self.loop)

    def _enter(self, call: RunningCall, tool: RegisteredTool, meta: CallMeta, before: object) -> None:
        """Set the caller of a call and the limits that it has to pass, widest last.

        Raises:
            RuntimeClosedError: the runtime is being closed, and no running call made this call.
        """
        call.tool = tool.spec.id
        caller = open_call(before) if isinstance(before, RunningCall) else None
        if caller is not None:
            call.set_caller(caller)
        elif self._is_closing:
            raise RuntimeClosedError(call.tool)
        call.run_limit = run_limit = self._run_limit(caller, meta.run_id)
        if tool.is_async and not self._has_narrow_limits:
            call.limits = (run_limit, self._process)
            return
        threads = None if tool.is_async else self._threads
        narrow = (self._tools.get(tool.spec.id), self._sessions.get(meta.session_id), run_limit, threads)
        call.limits = (*(limit for limit in narrow if limit is not None), self._process)

    def _run_limit(self, caller: RunningCall | None, run_id: str) -> CallLimit:
        """Return the limit for a call: its caller's limit, or the limit of its run and the runs above."""
        run_limit = None
        if caller is not None and caller.limits[-1] is self._process:
            if caller.run_limit is None and not run_id:
                caller.run_limit = self._new_run_limit()
            run_limit = caller.run_limit
        if run_limit is None:
            return self._runs.get(_root(run_id)) or self._new_run_limit()
        run_limit.users += 1
        return run_limit

    async def _take_places(self, call: RunningCall) -> None:
        """Take a slot at each limit, one after the other.

        Raises:
            BusyError: too many calls are already waiting.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        passed = 0
        try:
            for limit in call.limits:
                if limit.running < limit.most:
                    limit.running += 1
                else:
                    await self._queues.wait(limit.queue, call, limit.release)
                passed += 1
        except BaseException:
            for limit in call.limits[:passed]:
                limit.release()
            raise
        _begin(call)

    async def together(self, calls: Iterable[Work[T]]) -> list[T | BaseException]:
        """Await concurrent calls, and return their results or errors in order.

        They share the limit of a run, and their caller waits for them.
        """
        self.attach()
        caller = open_call(CALLER.get())
        batch = self._waiting_call()
        batch.is_open = caller is not None or not self._is_closing
        if caller is not None:
            batch.set_caller(caller)
            batch.run_limit = caller.run_limit
        token = CALLER.set(batch)
        try:
            ended = asyncio.gather(*calls, return_exceptions=True)
        finally:
            CALLER.reset(token)
        try:
            return await (ended if caller is None else await_without_slot(caller, ended))
        finally:
            batch.is_open = False
            batch.drop_caller()

    # Runs that make calls, and runs that calls wait for.

    async def wait_for_run(self, run_id: str, work: Awaitable[T]) -> T:
        """Await work of a run; its calls count as calls of the waiting call, if there is one."""
        caller = open_call(CALLER.get())
        if caller is None:
            return await work
        run = self._use_run(run_id)
        run.waiters = (*run.waiters, caller)
        caller.add_child(run)
        self._locks.recheck(run)
        try:
            return await await_without_slot(caller, work)
        finally:
            waiters = list(run.waiters)
            waiters.remove(caller)
            run.waiters = tuple(waiters)
            if caller not in waiters and caller.children is not None:
                caller.children.pop(run, None)
            self._leave_run(run_id, run)

    @contextmanager
    def in_run(self, run_id: str) -> Iterator[None]:
        """Attribute the calls made in the block to a run."""
        self.attach()
        run = self._use_run(run_id)
        token = CALLER.set(run)
        try:
            yield
        finally:
            CALLER.reset(token)
            self._leave_run(run_id, run)

    def _use_run(self, run_id: str) -> RunningCall:
        """Return the parent of the calls of a run and of the runs below it."""
        name = _root(run_id)
        run = self._in_runs.get(name)
        if run is None:
            run = self._in_runs[name] = self._waiting_call()
            run.run_limit = self._runs.get(name)
        run.users += 1
        return run

    def _leave_run(self, run_id: str, run: RunningCall) -> None:
        run.users -= 1
        if not run.users:
            run.is_open = False
            if self._in_runs.get(_root(run_id)) is run:
                del self._in_runs[_root(run_id)]
            if run.run_limit is not None:
                self._runs.release(run.run_limit)

    def _waiting_call(self) -> RunningCall:
        """Return a parent of calls that has no slot, because it only waits for them."""
        call = RunningCall()
        call.is_open, call.waits = True, 1
        call.limits = self.only_process_limit
        return call


def _root(run_id: str) -> str:
    """Return the ID of the topmost run."""
    return run_id.partition("/")[0]


def _take_places_at_once(call: RunningCall) -> bool:
    """Take a slot at every limit if all are free; return whether they were."""
    for limit in call.limits:
        if limit.running >= limit.most:
            return False
    for limit in call.limits:
        limit.running += 1
    _begin(call)
    return True


def _begin(call: RunningCall) -> None:
    call.is_open = call.has_slot = True
    call.is_paused = False
    if call.waits:  # left over from its previous attempt
        call.release_places()
