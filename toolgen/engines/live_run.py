"""A run that is not over: its operations in flight, and whether it only waits."""

from __future__ import annotations

import asyncio
from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from toolgen.runtime.engine import NondeterminismError

from .journal import NO_ATTEMPT, OpRecord, RunRecord, SignalRecord
from .loop_parts import Awake, Bell
from .timers import Timer
from .turnstile import Turnstile


class Notifier:
    """Wakes all current waiters; later ones wait for the next time."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def notify_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


@dataclass(slots=True, eq=False)
class Wait:
    """One `wait` of a loop that is not over."""

    op: str
    names: tuple[str, ...]
    digest: bytes
    about: bytes
    bell: Bell
    timer: Timer | None = None
    until: float | None = None
    """When it ends without a signal, in seconds since 1970."""
    record: OpRecord | None = None
    """How it ended, once that is kept."""


class Parking(Protocol):
    """Callbacks for runs that are parked, unparked or stalled."""

    def parked(self, run: Run) -> None: ...

    def unparked(self, run: Run) -> None: ...

    def stalled(self, run: Run) -> None: ...


class Run:
    """One run that is not over, in the process that executes it."""

    __slots__ = (
        "_is_checking",
        "_parking",
        "appended",
        "awake",
        "beginning",
        "children",
        "fault",
        "in_flight",
        "inbox",
        "is_parked",
        "is_stopped",
        "over",
        "parent",
        "record",
        "task",
        "turned",
        "turnstile",
        "unkept",
        "waits",
    )

    def __init__(self, record: RunRecord, parent: Run | None, parking: Parking) -> None:
        self.record = record
        self.parent = parent
        self._parking = parking
        self.task: asyncio.Task[None] | None = None
        """Of the loop; None before it began."""
        self.in_flight: dict[str, asyncio.Task[None]] = {}
        """The activities."""
        self.waits: dict[str, Wait] = {}
        self.children: dict[str, Run] = {}
        """The child runs that the loop waits for, by their operation."""
        self.awake = Awake(self.park_when_idle)
        """The parts of the loop that do not wait."""
        self.over: Bell | None = None
        """Wakes the part of the parent's loop that waits for the end."""
        self.inbox = [signal for signal in record.signals.values() if not signal.is_taken]
        self.beginning: set[str] = set()
        """Activities whose record that they begin is not kept yet, so that they wait for it."""
        self.unkept = 0
        """Waits that have ended, and of which the loop hears once that is kept."""
        self.is_stopped = False
        """It is over, or its engine was closed: nothing of it counts any more."""
        self.is_parked = False
        """Nothing goes on in it before a signal comes."""
        self.fault = ""
        """Why the run is stalled in this process; "" where it does not."""
        self.appended = Notifier()
        """Rings for every event, and at the end."""
        self.turned = Notifier()
        """Notified when the run is parked or stalled, and at the end."""
        self.turnstile = Turnstile()
        """Before its activities."""
        self._is_checking = False

    def has_begun(self, op: str) -> bool:
        """Return whether an activity began what must not happen twice, in this process or one before."""
        return op not in self.beginning and self.record.attempts.get(op, NO_ATTEMPT).has_begun

    def begun(self) -> Set[str]:
        """Return the activities that began what must not happen twice."""
        return frozenset(op for op in self.record.attempts if self.has_begun(op))

    def take_signal(self, names: tuple[str, ...]) -> SignalRecord | None:
        """Remove and return the oldest signal with one of these names; None where there is none."""
        for index, signal in enumerate(self.inbox):
            if signal.name in names:
                return self.inbox.pop(index)
        return None

    def waiting_for(self, name: str) -> Wait | None:
        """Return the oldest wait for a name."""
        return next((wait for wait in self.waits.values() if name in wait.names), None)

    def moved(self) -> None:
        """Record that an operation began or ended, and unpark the run."""
        if self.is_stopped:
            return
        self.unpark()
        self.park_when_idle()

    def require_no_fault(self) -> None:
        """Raise where the run, or a child that it waits for, is stalled.

        Raises:
            NondeterminismError: as said.
        """
        if self.fault:
            raise NondeterminismError(
                f"run {self.record.run_id} is stalled: {self.fault}",
                hint="cancel it, or go back to the version that began it",
            )
        for child in self.children.values():
            child.require_no_fault()

    def stall(self, fault: str) -> None:
        """Mark the run as stalled with its fault, and wake everyone who waits for it or its ancestors."""
        self.fault = fault
        run: Run | None = self
        while run is not None:
            run.turned.notify_all()
            self._parking.stalled(run)
            run = run.parent

    def unpark(self) -> None:
        run: Run | None = self
        while run is not None and run.is_parked:
            run.is_parked = False
            self._parking.unparked(run)
            run = run.parent

    def park_when_idle(self) -> None:
        """Park the run if it is idle when the step that goes on now has come to its end."""
        if not self._is_checking and not self.is_parked and not self.is_stopped:
            self._is_checking = True
            asyncio.get_running_loop().call_soon(self._park_if_idle)

    def _is_idle(self) -> bool:
        return (
            not self.awake
            and not self.in_flight
            and not self.unkept
            and not self.is_stopped
            and bool(self.waits or self.children)
            and all(wait.names for wait in self.waits.values())  # without a name it only sleeps
            and all(child.is_parked for child in self.children.values())
        )

    def _park_if_idle(self) -> None:
        """Park the run if all parts of its loop wait, and for nothing but signals and parked children."""
        self._is_checking = False
        if self.is_parked or not self._is_idle():
            return
        self.is_parked = True
        self._parking.parked(self)
        self.turned.notify_all()
        if self.parent is not None:
            self.parent.park_when_idle()
