"""The locks of sequential tools: one holder at a time; its descendants enter too, one at a time.

A call that waits for a lock waits for the lock's holders; a holder waits for the calls that it made. An
acquisition that would close a cycle of waits is refused, even between two runs.

An executor that outlives its call holds the lock until it ends. It stays in this graph as a call that no call
waits for.
"""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Hashable
from functools import partial
from typing import Final

from toolgen.contract.logs import logger

from ..errors import DeadlockError, StuckLockError
from .running_call import FairQueue, LateExecutor, Lock, Queues, RunningCall

_LATE_S: Final = 60.0
"""Maximum seconds to wait for the lock of an executor that outlives its call and may hang forever."""

log: Final = logger("toolgen.runtime")


class Locks:
    """The held locks of one scheduler."""

    __slots__ = ("_locks", "_queues")

    def __init__(self, queues: Queues) -> None:
        self._queues = queues
        self._locks: dict[Hashable, Lock] = {}

    @property
    def are_held(self) -> bool:
        """Whether a call that has not ended holds a lock."""
        return any(call.late is None for lock in self._locks.values() for call in lock.holders)

    def try_acquire(self, key: Hashable, call: RunningCall) -> bool:
        """Acquire the lock of a key without waiting; return whether it was acquired."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = Lock(key)
        elif lock.holders[-1] is not lock.holder_above(call):
            return False
        self._grant(lock, call)
        return True

    async def acquire(self, key: Hashable, call: RunningCall) -> None:
        """Acquire the lock of a key, and wait for it if necessary.

        Raises:
            DeadlockError: a holder waits, directly or through other calls, for the call or one of its
                callers.
            BusyError: too many calls are already waiting.
            StuckLockError: an executor that outlives its call has held the lock for a minute.
            asyncio.CancelledError: the caller's own task is being cancelled.
        """
        while call.lock is None and not self.try_acquire(key, call):
            lock = self._locks[key]
            above = lock.holder_above(call)
            _refuse_stuck(lock, above, call)
            _refuse_circle(lock, above, call)
            queue = lock.queues.setdefault(above, FairQueue())
            call.waits_for, call.queue = lock, queue
            try:
                await self._queues.wait(queue, call, lambda: self.release(call))
            finally:
                call.waits_for = call.queue = None

    def release(self, call: RunningCall) -> None:
        """Release the lock of a call to the next call; calls that could enter below it check again."""
        lock, call.lock = call.lock, None
        if lock is None:
            return
        lock.holders.remove(call)
        below = lock.queues.pop(call, None)
        while below and (waiting := below.pop()):
            waiting[1].set_result(False)
        self._admit_next(lock)
        # A lock of an ended event loop is no longer in the dict.
        if not lock.holders and self._locks.get(lock.key) is lock:
            del self._locks[lock.key]

    def release_after(self, late: LateExecutor, call: RunningCall) -> None:
        """Keep the lock of a call whose executor is still running, until the executor returns."""
        call.outlive_caller()
        loop = call.limits[-1].loop
        timer = None if loop.is_closed() else loop.call_later(_LATE_S, self._give_up, call)
        late.add_done_callback(partial(self._end, call, timer))
        log.warning(
            "the executor of %s is still running after its call ended, and keeps its lock; sequential "
            "calls wait up to %g seconds for it",
            call.tool,
            _LATE_S,
        )

    @staticmethod
    def _give_up(call: RunningCall) -> None:
        """Reject the calls that wait for the lock of an executor that is still running."""
        if call.lock is None:
            return
        call.is_stuck = True
        log.error(
            "the executor of %s is still running after its call ended; sequential calls are rejected "
            "until it returns",
            call.tool,
        )
        for queue in call.lock.queues.values():
            while waiting := queue.pop():
                waiting[1].set_result(False)

    def _end(self, call: RunningCall, timer: TimerHandle | None, late: object) -> None:
        if timer is not None:
            timer.cancel()
        call.is_open = False
        self.release(call)
        call.drop_caller()

    @staticmethod
    def recheck(run: RunningCall) -> None:
        """Check the waiting calls of a run again, because another call now waits for the run."""
        seen, unvisited = set[RunningCall](), [run]
        while unvisited:
            call = unvisited.pop()
            if call in seen:
                continue
            seen.add(call)
            unvisited += call.children or ()
            future = None if call.queue is None else call.queue.discard(call)
            if future is not None and not future.done():
                future.set_result(False)

    def _admit_next(self, lock: Lock) -> None:
        """Admit the next call below the innermost holder; calls only wait there after another has left."""
        queue = lock.queues.get(lock.holders[-1] if lock.holders else None)
        if queue and (waiting := queue.pop()):
            call, future = waiting
            self._grant(lock, call)
            future.set_result(True)

    @staticmethod
    def _grant(lock: Lock, call: RunningCall) -> None:
        lock.holders.append(call)
        call.lock = lock


def _refuse_stuck(lock: Lock, above: RunningCall | None, call: RunningCall) -> None:
    """Raise if a call would wait for a stuck executor.

    Raises:
        StuckLockError: the executor that holds the lock is stuck.
    """
    for holder in lock.holders_below(above):
        if holder.is_stuck:
            raise StuckLockError(call.tool, holder.tool)


def _refuse_circle(lock: Lock, above: RunningCall | None, call: RunningCall) -> None:
    """Raise if waiting for the lock would deadlock.

    If none of the call's callers holds a lock, no call can wait for them.

    Raises:
        DeadlockError: the call would wait for itself or one of its callers.
    """
    callers = set(call.lineage())
    if all(caller.lock is None for caller in callers):
        return
    holders = lock.holders_below(above)
    seen, unvisited = set[RunningCall](), list(holders)
    while unvisited:
        awaited = unvisited.pop()
        if awaited in callers:
            raise DeadlockError(call.tool, holders[0].tool, awaited.tool)
        if awaited in seen:
            continue
        seen.add(awaited)
        unvisited += awaited.children or ()
        if (wanted := awaited.waits_for) is not None:
            unvisited += wanted.holders_below(wanted.holder_above(awaited))
