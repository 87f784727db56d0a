"""The clock of an engine: seconds since 1970 that never run backwards."""

from __future__ import annotations

import time
from collections.abc import Callable


class SteadyClock:
    """Wall time at its construction, plus the monotonic time since then.

    So a wall clock that is set anew in between moves no deadline.
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
