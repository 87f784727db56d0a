"""Signals that stop a server in its own process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from toolgen.contract.tasks import Work


@asynccontextmanager
async def on_signal(close: Callable[[], Work[None]]) -> AsyncIterator[None]:
    """Call `close` once when the process is asked to stop; a second signal has its default effect."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGINT, signal.SIGTERM)
    tasks: list[asyncio.Task[None]] = []

    def begin() -> None:
        for signal_ in handled:
            loop.remove_signal_handler(signal_)
        tasks.append(loop.create_task(close(), name="closing the server"))

    with suppress(NotImplementedError, RuntimeError):  # Windows, and threads other than the main one
        for signal_ in handled:
            loop.add_signal_handler(signal_, begin)
    try:
        yield
    finally:
        for signal_ in handled:
            with suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(signal_)
