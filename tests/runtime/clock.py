"""The clock of the running event loop, which a test may put forward."""

from __future__ import annotations

import asyncio
from typing import Self


class LoopClock:
    """`async with LoopClock() as clock`: timers of the loop ring when a test says so.

    Time goes on beside, so that nothing that is due is missed; limits in tests are hours.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._time = self._loop.time
        self._ahead = 0.0

    async def __aenter__(self) -> Self:
        setattr(self._loop, "time", lambda: self._time() + self._ahead)  # noqa: B010  # a method
        return self

    async def __aexit__(self, *raised: object) -> None:
        setattr(self._loop, "time", self._time)  # noqa: B010

    def put_forward(self, seconds: float) -> None:
        """Put the clock forward."""
        self._ahead += seconds

    async def advance(self, seconds: float) -> None:
        """Put the clock forward, and let the timers ring that are due then."""
        self.put_forward(seconds)
        for _ in range(3):
            await asyncio.sleep(0)


HOUR = 3600.0
