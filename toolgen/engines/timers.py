"""How an engine waits: one function that calls back later, so that a test can let the time pass itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeAlias


class Timer(Protocol):
    """A callback that is to come."""

    def cancel(self) -> None:
        """Drop the callback, if it has not come."""
        ...


CallLater: TypeAlias = Callable[[float, Callable[[], None]], Timer]
"""Calls back once, in the thread of the event loop, after so many seconds."""


def call_later(delay_s: float, callback: Callable[[], None]) -> Timer:
    """Call back by the clock of the event loop."""
    return asyncio.get_running_loop().call_later(delay_s, callback)
