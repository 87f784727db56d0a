"""asyncio tasks that are referenced until they end, long work in pieces, and timers."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, Final, Protocol, TypeAlias, TypeVar

GRACE_S: Final = 1.0
"""Seconds for work to end after its cancellation; then it is abandoned.

Work that waits for other work to end in this way has twice as long.
"""

T = TypeVar("T")


class Timer(Protocol):
    """A scheduled callback."""

    def cancel(self) -> None:
        """Cancel the callback, unless it was already called."""
        ...


CallLater: TypeAlias = Callable[[float, Callable[[], None]], Timer]
"""Calls the callback once, in the thread of the event loop, after this number of seconds."""
Work: TypeAlias = Coroutine[Any, Any, T]
"""Result of an `async def`, which is awaited once or becomes a task."""


async def awaited(value: T | Awaitable[T]) -> T:
    """Return the value that author code returned, awaited if it is awaitable."""
    returned: Any = value
    return await returned if inspect.isawaitable(returned) else returned  # type: ignore[no-any-return]  # a T


def start_task(
    tasks: set[asyncio.Task[Any]],
    work: Work[T],
    *,
    name: str | None = None,
    context: contextvars.Context | None = None,
) -> asyncio.Task[T]:
    """Start a task and hold it in the set until it ends, because event loops only hold weak references."""
    task = asyncio.get_running_loop().create_task(work, name=name, context=context)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


async def in_pieces(items: Iterable[T], size: int) -> AsyncIterator[T]:
    """Yield items, and let other tasks run after each piece except the last."""
    for number, item in enumerate(items):
        if number and number % size == 0:
            await asyncio.sleep(0)
        yield item
