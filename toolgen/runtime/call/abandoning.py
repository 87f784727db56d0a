"""Time limits for foreign work that may ignore its cancellation."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from toolgen.contract.tasks import GRACE_S

from .deadlines import run_in_task

_GRACE_S: Final = 2 * GRACE_S
"""For work to end after it was cancelled: longer than the tool in it has."""

T = TypeVar("T")


async def run_or_abandon(work: Coroutine[Any, Any, T]) -> T:
    """Await work that is cancelled on time; work that ignores this is abandoned and runs on.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled.
        Exception: what the work raises, as `boundary.value_of`.
    """
    return await run_in_task(work, name=getattr(work, "__qualname__", "work"), grace_s=_GRACE_S)
