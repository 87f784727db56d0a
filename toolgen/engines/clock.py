"""The clock of the runs in a file, and the timers of an engine, which a test can replace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias


class Timer(Protocol):
    """A callback that is scheduled."""

    def cancel(self) -> None:
        """Cancel the callback, unless it was called."""
        ...


CallLater: TypeAlias = Callable[[float, Callable[[], None]], Timer]
"""Calls back once, in the thread of the event loop, after so many seconds."""


class RunClock:
    """A clock that continues from a time that was seen before, such as by another process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._clock() + self._ahead

    def continue_from(self, at: float) -> None:
        """Advance the clock to at least this time."""
        self._ahead = max(self._ahead, at - self._clock())

    def hold_at(self, at: float) -> None:
        """Continue from this time, which is before that of the clock that it follows."""
        self._ahead = at - self._clock()

    def release(self) -> None:
        """Advance the clock to the time of the one that it follows."""
        self._ahead = max(self._ahead, 0.0)

    @property
    def held_s(self) -> float:
        """The seconds by which it is held behind the clock that it follows; 0.0 while it is not."""
        return max(0.0, -self._ahead)
