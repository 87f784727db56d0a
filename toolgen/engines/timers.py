"""The timers of an engine: a function that calls back later, which a test can replace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeAlias


class Timer(Protocol):
    """A callback that is scheduled."""

    def cancel(self) -> None:
        """Cancel the callback, unless it was called."""
        ...


CallLater: TypeAlias = Callable[[float, Callable[[], None]], Timer]
"""Calls back once, in the thread of the event loop, after so many seconds."""


def call_later(delay_s: float, callback: Callable[[], None]) -> Timer:
    """Call back by the clock of the event loop."""
    return asyncio.get_running_loop().call_later(delay_s, callback)
