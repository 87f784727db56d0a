"""An unfinished run: its operations in flight, and which parts of its loop are waiting.

A loop uses only the operations of its context. So the code that ends an operation, or starts a part of the
loop, marks this part as awake. The part stays awake until it waits for its next operation, or has ended and
woken the others. Activities of a run start in several turns of the event loop, so that other runs proceed at
the same time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.tasks import Timer

from ..errors import NondeterminismError
from .journal import NO_ATTEMPT, OpRecord, RunRecord, SignalRecord

AT_ONCE: Final = 8
"""Number of activities of a run that begin before others wait for a turn, and of loop parts started in each
turn."""


class SteadyClock:
    """Wall time at its construction, plus the monotonic time since then.

    A later change of the wall clock therefore moves no deadline.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._offset = wall() - monotonic()

    def __call__(self) -> float:
        return self._offset + self._monotonic()


def call_later(delay_s: float, callback: Callable[[], None]) -> Timer:
    """Schedule a callback by the clock of the event loop."""
    return asyncio.get_running_loop().call_later(delay_s, callback)


def _do_nothing() -> None:
    pass


class Awake:
    """Counts the parts of one loop that have work to do and do not wait yet."""

    __slots__ = ("_count", "_on_rest")

    def __init__(self, on_rest: Callable[[], None]) -> None:
        """Construct the counter; `on_rest` is called within the last step of the last part."""
        self._count = 0
        self._on_rest = on_rest

    def __bool__(self) -> bool:
        return self._count > 0

    def wake(self, parts: int = 1) -> None:
        """Count more parts that have work to do."""
        self._count += parts

    def rest(self, parts: int = 1) -> None:
        """Stop counting parts that wait or end within this step."""
        self._count -= parts
        if parts and not self._count:
            self._on_rest()

    def close(self) -> None:
        """Drop the callback, so that the run and its counter form no reference cycle."""
        self._on_rest = _do_nothing

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count a part as awake while it waits for an internal step, for example a write to the journal."""
        self.wake()
        try:
            yield
        finally:
            self.rest()

    async def wait(self, waiting: deque[asyncio.Future[None]]) -> bool:
        """Wait at the end of a queue for `wake_next`; return False if it is canceled at the same time.

        Raises:
            asyncio.CancelledError: it is canceled before it is woken.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled() or not future.done():
                if future in waiting:
                    waiting.remove(future)
                raise
            self.rest()
            return False
        self.rest()
        return True

    def wake_next(self, waiting: deque[asyncio.Future[None]]) -> bool:
        """Wake the first part of a queue; return False if no part waits."""
        while waiting:
            future = waiting.popleft()
            if not future.done():
                self.wake()
                future.set_result(None)
                return True
        return False


class Wakeup:
    """Wakes all parts of a loop that wait for the same event."""

    __slots__ = ("_awake", "_waiting")

    def __init__(self, awake: Awake) -> None:
        self._awake = awake
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Wait until `notify` is called.

        Raises:
            asyncio.CancelledError: the part is canceled, before or at the same time.
        """
        if not await self._awake.wait(self._waiting):
            raise asyncio.CancelledError

    def notify(self) -> None:
        """Wake the parts that currently wait."""
        while self._awake.wake_next(self._waiting):
            pass


class Turnstile:
    """Lets activities of one run begin in order: some immediately, then one in each event loop turn.

    No activity waits for another to end: while some wait, one begins in every turn. So in each of its turns,
    another run waits for the start of only one activity of this run.
    """

    __slots__ = ("_holders", "_is_turning", "_starts_left", "_until", "_until_key", "_waiting")

    def __init__(self) -> None:
        self._starts_left = AT_ONCE
        """Number of activities that can still begin in this turn; it is reset once no activity waits."""
        self._is_turning = False
        """Whether a callback for the next turn is scheduled."""
        self._holders = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._until_key: tuple[float, float] | None = None
        self._until = 0.0

    def until(self, asked_at: float, limit_s: float) -> float:
        """Return the deadline of a requested activity, by the clock of the event loop.

        Activities that are requested at the same time of the run, with the same limit, have the same
        deadline. Otherwise, the first one that times out would let the next one begin, which would only time
        out too.
        """
        now = asyncio.get_running_loop().time()
        if self._until_key != (asked_at, limit_s) or self._until <= now:
            self._until_key, self._until = (asked_at, limit_s), now + limit_s
        return self._until

    def has_waiting(self) -> bool:
        """Return whether activities will begin in the next turns."""
        return bool(self._waiting)

    def pass_at_once(self) -> bool:
        """Return whether an activity can begin now; if not, call `wait`."""
        if self._waiting or self._holders or not self._starts_left:
            return False
        self._await_turn()
        self._starts_left -= 1
        return True

    async def wait(self, until: float | None) -> None:
        """Wait until an activity can begin that `pass_at_once` refused.

        Raises:
            TimeoutError: its deadline came first.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(future)
        if not self._holders:
            self._await_turn()
        async with asyncio.timeout_at(until):
            await future
        if until is not None and until <= loop.time():
            raise TimeoutError

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let no activity begin inside the context, because more activities are about to be started."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._waiting and not self._holders:
                self._await_turn()

    def _await_turn(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._is_turning = False
        if not self._waiting:
            self._starts_left = AT_ONCE
        if self._holders or not self._waiting:
            return
        # scheduled before the woken activities begin, so that the next ones follow immediately
        self._await_turn()
        self._starts_left = self._starts_left or 1  # other runs' turns are shorter if this run does less
        while self._starts_left and self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._starts_left -= 1


@dataclass(slots=True, eq=False)
class LoopWait:
    """One `wait` of a loop that has not ended."""

    op: str
    names: tuple[str, ...]
    digest: bytes
    about: bytes
    wakeup: Wakeup
    timer: Timer | None = None
    until: float | None = None
    """Time at which the wait ends without a signal, in seconds since 1970."""
    record: OpRecord | None = None
    """Stored end of the wait; None while it is open."""


@dataclass(slots=True, frozen=True, kw_only=True)
class Parking:
    """Callbacks for runs that are parked, unparked or stalled."""

    parked: Callable[[LiveRun], None]
    unparked: Callable[[LiveRun], None]
    stalled: Callable[[LiveRun], None]


@dataclass(slots=True, eq=False)
class LiveRun:
    """One unfinished run, in the process that executes it."""

    record: RunRecord
    parent: LiveRun | None
    parking: Parking
    task: asyncio.Task[None] | None = None
    """Task of the loop; None before it began."""
    in_flight: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """Tasks of the running activities, by operation."""
    waits: dict[str, LoopWait] = field(default_factory=dict)
    children: dict[str, LiveRun] = field(default_factory=dict)
    """Child runs that the loop waits for, by operation."""
    awake: Awake = field(init=False)
    """Counter of the parts of the loop that do not wait."""
    over: Wakeup | None = None
    """Wakes the part of the parent's loop that waits for the end of this run."""
    beginning: set[str] = field(default_factory=set)
    """Activities that wait until the record that they begin is durable."""
    ends_not_durable: int = 0
    """Number of ended waits whose end is not durable yet; the loop receives it afterwards."""
    is_stopped: bool = False
    """Whether the run is over or its engine was closed; then its results are ignored."""
    is_parked: bool = False
    """Whether the run makes no progress until a signal arrives."""
    fault: ToolgenError | None = None
    """Reason why the run is stalled in this process; None if it is not."""
    turnstile: Turnstile = field(default_factory=Turnstile)
    """Lets the activities of the run begin in order."""
    _is_checking: bool = False

    def __post_init__(self) -> None:
        self.awake = Awake(self.park_when_idle)

    def has_begun(self, op: str) -> bool:
        """Return whether an effect that must not happen twice began, in this or an earlier process."""
        return op not in self.beginning and self.record.attempts.get(op, NO_ATTEMPT).has_begun

    def begun_ops(self) -> Set[str]:
        """Return the operations with an effect that began and must not happen twice."""
        return frozenset(op for op in self.record.attempts if self.has_begun(op))

    def next_signal(self, names: tuple[str, ...]) -> SignalRecord | None:
        """Return the oldest unused signal with one of these names; None if there is none."""
        signals = self.record.signals.values()
        return next((signal for signal in signals if not signal.is_taken and signal.name in names), None)

    def waiting_for(self, name: str) -> LoopWait | None:
        """Return the oldest wait for a signal name."""
        return next((wait for wait in self.waits.values() if name in wait.names), None)

    def moved(self) -> None:
        """Record that an operation began or ended, and unpark the run."""
        if self.is_stopped:
            return
        self.unpark()
        self.park_when_idle()

    def require_no_fault(self) -> None:
        """Raise if the run, or a child that it waits for, is stalled.

        Raises:
            NondeterminismError: the loop makes other operations than its journal has.
            StoreCorruptError: the journal is damaged.
        """
        if isinstance(self.fault, NondeterminismError):
            raise NondeterminismError(
                f"run {self.record.run_id} is stalled: {self.fault.message}",
                hint="cancel it, or go back to the version that started it",
            )
        if self.fault is not None:
            raise self.fault
        for child in self.children.values():
            child.require_no_fault()

    def stall(self, fault: ToolgenError) -> None:
        """Mark the run as stalled with its fault, and wake all tasks that wait for it or its ancestors."""
        self.fault = fault
        run: LiveRun | None = self
        while run is not None:
            self.parking.stalled(run)
            run = run.parent

    def unpark(self) -> None:
        run: LiveRun | None = self
        while run is not None and run.is_parked:
            run.is_parked = False
            self.parking.unparked(run)
            run = run.parent

    def park_when_idle(self) -> None:
        """Park the run if it is idle at the end of the current step."""
        if not self._is_checking and not self.is_parked and not self.is_stopped:
            self._is_checking = True
            asyncio.get_running_loop().call_soon(self._park_if_idle)

    def _is_idle(self) -> bool:
        return (
            not self.awake
            and not self.in_flight
            and not self.ends_not_durable
            and not self.is_stopped
            and bool(self.waits or self.children)
            and all(wait.names for wait in self.waits.values())  # a wait without names only sleeps
            and all(child.is_parked for child in self.children.values())
        )

    def _park_if_idle(self) -> None:
        """Park the run if all parts of its loop wait only for signals and parked children."""
        self._is_checking = False
        if self.is_parked or not self._is_idle():
            return
        self.is_parked = True
        self.parking.parked(self)
        if self.parent is not None:
            self.parent.park_when_idle()
