"""The call whose executor runs, as the parent of the calls that its executor makes, and what it holds.

A context variable refers to it. It is a parent only while it is open: a task that outlives the call that has
started it makes calls of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Hashable, Iterator
from contextvars import ContextVar
from typing import Final, Protocol, TypeVar

from .gates import FairQueue, Gate

T = TypeVar("T")


class Thread(Protocol):
    """The thread of a synchronous call: `thread_pool.Job`."""

    def block(self) -> None:
        """Let another thread run in the place of this one, which waits."""
        ...

    def unblock(self) -> None:
        """Go on."""
        ...


class RunningCall:
    """A call from the time when it asks for admission to the end of its executor; or what makes calls as one.

    A batch of calls that are made at once, and a run of an engine, are calls that only wait.

    The defaults are those of a call that has not asked yet; most calls change three of them.
    """

    is_open: bool = False
    """It was admitted and has not ended."""
    has_slot: bool = False
    """It counts at its gates."""
    is_paused: bool = False
    """It waits to be tried again."""
    waits: int = 0
    """Calls and runs that it waits for."""
    tool: str = ""
    """Id of its tool."""
    caller: RunningCall | None = None
    """The call that has made it, or the run."""
    waiters: tuple[RunningCall, ...] = ()
    """Of a run: the calls that wait for it."""
    users: int = 0
    """Of a run: the activities that go on, and the calls that wait for it."""
    children: dict[RunningCall, None] | None = None
    """Calls that it has made and that ask for admission or run."""
    lane: Gate | None = None
    """The gate of its run; calls that wait take turns by it."""
    gates: tuple[Gate, ...] = ()
    key: Hashable = None
    """Of the lock that it must hold; None for none."""
    lock: Lock | None = None
    """What it holds."""
    waits_for: Lock | None = None
    queue: FairQueue[RunningCall] | None = None
    """In which it waits for a lock."""
    thread: Thread | None = None

    def lineage(self) -> Iterator[RunningCall]:
        """Yield the call and all open calls that wait for it: its caller, those that wait for its run."""
        seen, left = set[RunningCall](), list[RunningCall]((self,))
        while left:
            call = left.pop()
            if call in seen or not (call is self or call.is_open):
                continue
            seen.add(call)
            yield call
            left += call.waiters
            if call.caller is not None:
                left.append(call.caller)

    def set_caller(self, caller: RunningCall) -> None:
        """Set the open call that has made this one."""
        self.caller = caller
        caller.add_child(self)

    def add_child(self, child: RunningCall) -> None:
        """Add a call that this one has made, or a run that it waits for."""
        if self.children is None:
            self.children = {}
        self.children[child] = None

    def drop_caller(self) -> None:
        """End what it is to its caller, and its calls to it."""
        self.children = None
        if self.caller is not None and self.caller.children is not None:
            self.caller.children.pop(self, None)

    def give_back(self) -> None:
        """Leave the gates and let the next calls in; another thread may run in the place of its own."""
        if not self.has_slot:
            return
        self.has_slot = False
        for gate in self.gates:
            gate.leave()
        if self.thread is not None:
            self.thread.block()

    def go_on(self) -> None:
        """Count at the gates again, also beyond their limits, unless it still waits."""
        if self.waits or self.is_paused or not self.is_open or self.has_slot:
            return
        self.has_slot = True
        for gate in self.gates:
            gate.running += 1
        if self.thread is not None:
            self.thread.unblock()


class Lock:
    """What calls of one key hold one after the other."""

    __slots__ = ("holders", "key", "queues")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.holders: list[RunningCall] = []
        """The innermost last: each is a descendant of the one before it, unless that has ended early."""
        self.queues: dict[RunningCall | None, FairQueue[RunningCall]] = {}
        """By the holder under which a call may enter, who waits; None for those below no holder."""

    def holder_above(self, call: RunningCall) -> RunningCall | None:
        """Return the innermost holder among the ancestors of a call; None without one."""
        above = {one for one in call.lineage() if one.lock is self}
        return next((one for one in reversed(self.holders) if one in above), None)

    def holders_below(self, above: RunningCall | None) -> list[RunningCall]:
        """Return the holders that a call waits for which may enter under `above`."""
        return self.holders if above is None else self.holders[self.holders.index(above) + 1 :]


CALLER: Final[ContextVar[RunningCall | None]] = ContextVar("toolgen.runtime.caller", default=None)
"""The call whose executor runs in this context; it may have ended."""


def open_call(call: RunningCall | None) -> RunningCall | None:
    """Return the call if it is open and belongs to the running event loop."""
    if call is None or not call.is_open or call.gates[-1].loop is not asyncio.get_running_loop():
        return None
    return call


async def waited_for(caller: RunningCall, work: Awaitable[T]) -> T:
    """Await what a call waits for, if it is open; it has no slot meanwhile."""
    if open_call(caller) is None:
        return await work
    caller.waits += 1
    caller.give_back()
    try:
        return await work
    finally:
        caller.waits -= 1
        caller.go_on()
