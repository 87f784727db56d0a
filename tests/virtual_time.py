"""Time that passes by itself: tests of limits that wait no real time and depend on no machine's speed."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while something runs, and jumps to the next timer else.

    Nothing may run in threads meanwhile: the loop would not wait for them.
    """

    def __init__(self) -> None:
        self._now = 1_000_000.0
        super().__init__(_Selector(self._jump))

    def time(self) -> float:
        return self._now

    def _jump(self, seconds: float) -> None:
        self._now += seconds


class _Selector(selectors.DefaultSelector):
    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        found = super().select(0)
        if not found and timeout > 0:
            self._jump(timeout)
        return found


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a test run in a loop of its own, whose time is virtual."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run


def now() -> float:
    """Return the seconds since 1970, or the loop's own where they are virtual: a clock for engines."""
    loop = asyncio.get_running_loop()
    return loop.time() if isinstance(loop, VirtualTimeLoop) else time.time()
