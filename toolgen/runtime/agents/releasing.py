"""Work of others that is over when its time is, whatever it makes of its cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from ..failures import log

_GRACE_S: Final = 1.0
"""For work to end after it was cancelled; then it is left behind."""

T = TypeVar("T")


async def released(work: Coroutine[Any, Any, T]) -> T:
    """Return what the work gives; work that ignores its cancellation runs on, and nobody waits for it.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        Exception: what the work raises.
    """
    results: list[T] = []
    exits: list[SystemExit] = []

    async def kept() -> None:
        try:
            results.append(await work)
        except SystemExit as error:  # out of a task it would end the event loop
            exits.append(error)

    task = asyncio.ensure_future(kept())
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        _, late = await asyncio.wait({task}, timeout=_GRACE_S)
        if late:
            log.warning("%s ignores its cancellation and runs on", getattr(work, "__qualname__", "work"))
        else:
            work.close()  # where it has not begun
        task.add_done_callback(_heard)
        raise
    task.result()
    for error in exits:
        raise error
    return results[0]


def _heard(task: asyncio.Future[Any]) -> None:
    """Take the exception of a task that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
