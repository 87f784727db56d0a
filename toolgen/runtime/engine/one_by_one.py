"""Parts of a loop that go on side by side, and do one thing one by one."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager


def one_by_one() -> AbstractAsyncContextManager[None]:
    """Return what lets one part of a loop in at a time, in the order in which they came.

    That order follows from the loop, so that it is the same when an engine runs the loop again.
    """
    return asyncio.Lock()
