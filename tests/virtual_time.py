"""Time that passes by itself: tests of limits that wait no real time and depend on no machine's speed."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, ParamSpec

import pytest

P = ParamSpec("P")
LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while something runs, and jumps to the next timer else.

    It does not wait for threads: while one works, the next timer is due at once. Where no timer is set, as
    without a time limit, the loop waits for the thread as any other does.
    """

    def __init__(self) -> None:
        self._now = 1_000_000.0
        super().__init__(_Selector(self.put_forward))

    def time(self) -> float:
        return self._now

    def put_forward(self, seconds: float) -> None:
        """Let time pass without a turn for anybody, as while something blocks the loop."""
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


def loop_factories(item: pytest.Item, default: str) -> Mapping[str, LoopFactory]:
    """Return the event loop of a test: the default of its folder, or the one that its marker names.

    A test names one by `pytest.mark.asyncio(loop_factories=["real"])` or `["virtual"]`.
    """
    known: dict[str, LoopFactory] = {"real": asyncio.new_event_loop, "virtual": VirtualTimeLoop}
    marker = item.get_closest_marker("asyncio")
    is_named = marker is not None and "loop_factories" in marker.kwargs
    return known if is_named else {default: known[default]}


def now() -> float:
    """Return the seconds since 1970, or the loop's own where they are virtual: a clock for engines."""
    loop = asyncio.get_running_loop()
    return loop.time() if isinstance(loop, VirtualTimeLoop) else time.time()
