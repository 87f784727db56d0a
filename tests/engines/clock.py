"""A clock that tests wind themselves: what waits for it waits no real time."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count


class ManualClock:
    """Time that passes when a test says so; `time` and `call_later` are what an engine takes."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self._numbers = count()
        self._timers: list[tuple[float, int, _Callback]] = []
        self._set = asyncio.Event()

    def time(self) -> float:
        """Return the seconds since 1970."""
        return self._now

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> _Callback:
        """Call back when the time has passed."""
        timer = _Callback(callback)
        heapq.heappush(self._timers, (self._now + delay_s, next(self._numbers), timer))
        self._set.set()
        return timer

    async def wait(self) -> float:
        """Return the seconds until the next callback, as soon as somebody waits for one."""
        while not (found := self._next()):
            self._set.clear()
            await asyncio.wait_for(self._set.wait(), 60)
        return found[0] - self._now

    async def advance(self) -> float:
        """Let the time pass until the next callback, and return how much it was."""
        seconds = await self.wait()
        at, _, timer = heapq.heappop(self._timers)
        self._now = max(self._now, at)
        timer.run()
        return seconds

    def _next(self) -> tuple[float, int, _Callback] | None:
        while self._timers and self._timers[0][2].is_canceled:
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None


class _Callback:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.run = callback
        self.is_canceled = False

    def cancel(self) -> None:
        self.is_canceled = True
