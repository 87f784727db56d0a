"""A clock that a test moves: its loop waits for sockets as every other, and for no time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes by `put_forward` alone."""

    def __init__(self) -> None:
        self._now = 1_000_000.0
        super().__init__()

    def time(self) -> float:
        return self._now

    def put_forward(self, seconds: float) -> None:
        self._now += seconds


def put_forward(seconds: float) -> None:
    """Let time pass in the running loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ClockLoop)
    loop.put_forward(seconds)


def by_clock(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a test run in a loop of its own, whose time it moves."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with asyncio.Runner(loop_factory=ClockLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run
