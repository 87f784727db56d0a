"""A call whose executor is running: its caller, its locks and slots, and the limits and queues it passes.

A context variable refers to the call. It is a parent only while it is open: calls of a task that outlives its
call have no parent. A limit admits a number of calls at once; the queues of limits serve the runs in turn.

All of this belongs to one event loop. A slot that becomes free is handed to the next call, so that no later
call can overtake it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from ..errors import BusyError

if TYPE_CHECKING:
    from .thread_pool import Job

T = TypeVar("T")

LateExecutor: TypeAlias = "asyncio.Task[object] | Job"
"""An executor that is still running after the end of its call."""


class FairQueue:
    """Queue of calls: first in, first out within a run, and round-robin between runs."""

    __slots__ = ("waiters",)

    def __init__(self) -> None:
        self.waiters: OrderedDict[CallLimit, OrderedDict[RunningCall, asyncio.Future[bool]]] = OrderedDict()
        """Waiting calls by run; the run whose turn is next comes first."""

    def add(self, call: RunningCall, future: asyncio.Future[bool]) -> None:
        """Append a call to the waiting calls of its run."""
        assert call.run_limit is not None, "a call that waits has the limit of its run"
        self.waiters.setdefault(call.run_limit, OrderedDict())[call] = future

    def discard(self, call: RunningCall) -> asyncio.Future[bool] | None:
        """Remove a call and return its future; None if it is not queued."""
        assert call.run_limit is not None, "a call that waits has the limit of its run"
        waiters = self.waiters.get(call.run_limit)
        future = None if waiters is None else waiters.pop(call, None)
        if waiters is not None and not waiters:
            del self.waiters[call.run_limit]
        return future

    def pop(self) -> tuple[RunningCall, asyncio.Future[bool]] | None:
        """Remove and return the first call of the run whose turn it is; None if the queue is empty.

        Calls that are being cancelled are removed too.
        """
        while self.waiters:
            run_limit, waiters = next(iter(self.waiters.items()))
            call, future = waiters.popitem(last=False)
            if waiters:
                self.waiters.move_to_end(run_limit)
            else:
                del self.waiters[run_limit]
            if not future.done():
                return call, future
        return None


class Queues:
    """Counts the calls that wait in any queue of a scheduler."""

    __slots__ = ("_limit", "waiting")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.waiting = 0

    async def wait(self, queue: FairQueue, call: RunningCall, release: Callable[[], None]) -> bool:
        """Wait in a queue until the future of the call is set, and return its value.

        `release` undoes the grant to a call that is cancelled at the same time.

        Raises:
            BusyError: too many calls are already waiting, and this call is not resumed with an answer.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        run_limit = call.run_limit
        assert run_limit is not None, "a call that waits has the limit of its run"
        if run_limit.waiting >= self._limit - self.waiting and not call.is_answered:
            raise BusyError(call.tool, run_limit.waiting, self.waiting, self._limit)
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        queue.add(call, future)
        run_limit.waiting += 1
        self.waiting += 1
        try:
            return await future
        except asyncio.CancelledError:
            if queue.discard(call) is None and future.done() and not future.cancelled() and future.result():
                release()
            raise
        finally:
            run_limit.waiting -= 1
            self.waiting -= 1


class CallLimit:
    """Limits the number of concurrent calls; if it is reached, the runs take turns."""

    __slots__ = ("loop", "most", "name", "queue", "running", "users", "waiting")

    def __init__(self, most: int, loop: asyncio.AbstractEventLoop, name: str = "") -> None:
        self.most = most
        self.loop = loop
        self.name = name
        self.running = 0
        self.queue = FairQueue()
        """Empty unless the limit is reached."""
        self.waiting = 0
        """Number of calls of the run in any queue, if this is the limit of a run."""
        self.users = 0
        """Number of calls that have this limit; `CallLimits` counts them."""

    def release(self) -> None:
        """Release the slot of a call and admit the next call."""
        self.running -= 1
        if self.queue.waiters:
            self.admit_next()

    def admit_next(self) -> None:
        """Admit the next call after one has left, unless more calls run than the limit allows."""
        if self.running < self.most and (waiting := self.queue.pop()):
            self.running += 1
            waiting[1].set_result(True)


class CallLimits:
    """Limits by name, which exist as long as a call has them."""

    __slots__ = ("_limits", "_loop", "_most")

    def __init__(self, most: int | None, loop: asyncio.AbstractEventLoop) -> None:
        self._most = most
        self._loop = loop
        self._limits: dict[str, CallLimit] = {}

    def __len__(self) -> int:
        return len(self._limits)

    def get(self, name: str) -> CallLimit | None:
        """Return the limit with this name for one more call; None without a limit or a name."""
        if self._most is None or not name:
            return None
        limit = self._limits.get(name)
        if limit is None:
            limit = self._limits[name] = CallLimit(self._most, self._loop, name)
        limit.users += 1
        return limit

    def release(self, limit: CallLimit) -> None:
        """Release a limit that `get` returned for a call."""
        if self._limits.get(limit.name) is limit:
            limit.users -= 1
            if not limit.users:
                del self._limits[limit.name]


class RunningCall:
    """A call from its request for admission to the end of its executor, or another parent of calls.

    A batch of concurrent calls and a run of an engine are such parents, which only wait.

    The defaults are for a call that has not requested admission; most calls change three of them.
    """

    is_open: bool = False
    """Whether it was admitted and has not ended."""
    has_slot: bool = False
    """Whether it holds a slot at its limits."""
    is_paused: bool = False
    """Whether it waits for its next attempt."""
    is_answered: bool = False
    """Whether it resumes with an answer, which a refusal would use up: it queues even beyond the limit."""
    waits: int = 0
    """Number of calls and runs that it waits for."""
    tool: str = ""
    """ID of its tool."""
    caller: RunningCall | None = None
    """The call or run that made it."""
    waiters: tuple[RunningCall, ...] = ()
    """The calls that wait for it, if it is a run."""
    users: int = 0
    """Number of its active activities and of the calls that wait for it, if it is a run."""
    children: dict[RunningCall, None] | None = None
    """Calls that it made and that request admission or run."""
    run_limit: CallLimit | None = None
    """Limit of its run, by which waiting calls take turns; None if admitted at once outside runs."""
    limits: tuple[CallLimit, ...] = ()
    key: Hashable = None
    """Key of the lock that it must hold; None if it needs none."""
    lock: Lock | None = None
    """Lock that the call holds."""
    waits_for: Lock | None = None
    queue: FairQueue | None = None
    """The queue in which it waits for a lock."""
    thread: Job | None = None
    """The thread of a synchronous call."""
    late: LateExecutor | None = None
    """Executor that is still running after the timeout or the cancellation of its caller."""
    is_stuck: bool = False
    """Whether it has been running for so long that calls no longer wait for its lock."""

    def lineage(self) -> Iterator[RunningCall]:
        """Yield the call and all open calls that wait for it: its caller, and those waiting for its run."""
        seen, unvisited = set[RunningCall](), list[RunningCall]((self,))
        while unvisited:
            call = unvisited.pop()
            if call in seen or not (call is self or call.is_open):
                continue
            seen.add(call)
            yield call
            unvisited += call.waiters
            if call.caller is not None:
                unvisited.append(call.caller)

    def set_caller(self, caller: RunningCall) -> None:
        """Set the open call that made this call."""
        self.caller = caller
        caller.add_child(self)

    def add_child(self, child: RunningCall) -> None:
        """Add a call that this one made, or a run that it waits for."""
        if self.children is None:
            self.children = {}
        self.children[child] = None

    def drop_caller(self) -> None:
        """Detach the call from its caller, and its own calls from it."""
        self.children = None
        if self.caller is not None and self.caller.children is not None:
            self.caller.children.pop(self, None)

    def set_late(self, executor: LateExecutor) -> None:
        """Mark that the executor is still running after the call ended."""
        self.late = executor

    def outlive_caller(self) -> None:
        """Become independent: the caller no longer waits for it, and its own calls continue."""
        children = self.children
        self.drop_caller()
        self.children, self.caller, self.is_open = children, None, True

    def release_places(self) -> None:
        """Release the slots at the limits to the next calls; another thread can run instead of its own."""
        if not self.has_slot:
            return
        self.has_slot = False
        for limit in self.limits:
            limit.release()
        if self.thread is not None:
            self.thread.block()

    def retake_places(self) -> None:
        """Take the slots again, even beyond the limits, unless the call still waits or has ended."""
        if self.waits or self.is_paused or not self.is_open or self.has_slot or self.late is not None:
            return
        self.has_slot = True
        for limit in self.limits:
            limit.running += 1
        if self.thread is not None:
            self.thread.unblock()


class Lock:
    """Lock of sequential calls with the same key."""

    __slots__ = ("holders", "key", "queues")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.holders: list[RunningCall] = []
        """Holders, innermost last: each is a descendant of the previous one, unless that ended early."""
        self.queues: dict[RunningCall | None, FairQueue] = {}
        """Waiting calls by the lock holder below which they can run; None for the others."""

    def holder_above(self, call: RunningCall) -> RunningCall | None:
        """Return the innermost holder among the ancestors of a call; None if there is none."""
        above = {caller for caller in call.lineage() if caller.lock is self}
        return next((holder for holder in reversed(self.holders) if holder in above), None)

    def holders_below(self, above: RunningCall | None) -> list[RunningCall]:
        """Return the holders that a call would wait for before it can enter below `above`."""
        return self.holders if above is None else self.holders[self.holders.index(above) + 1 :]


CALLER: Final[ContextVar[RunningCall | None]] = ContextVar("toolgen.runtime.caller", default=None)
"""The call whose executor runs in this context; it may have ended."""


def open_call(call: RunningCall | None) -> RunningCall | None:
    """Return the call if it is open and belongs to the running event loop."""
    if call is None or not call.is_open or call.limits[-1].loop is not asyncio.get_running_loop():
        return None
    return call


async def await_without_slot(caller: RunningCall, work: Awaitable[T]) -> T:
    """Await work for an open call, which has no slot in the meantime."""
    if open_call(caller) is None:
        return await work
    caller.waits += 1
    caller.release_places()
    try:
        return await work
    finally:
        caller.waits -= 1
        caller.retake_places()
