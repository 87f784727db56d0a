"""The parts of a loop that go on side by side: which are awake, and which wait.

A loop has nothing but the operations of its context. So whoever ends an operation, or lets a part begin, says
that this part is awake, and it is until it waits for the next operation or has told the others of its end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class Awake:
    """Counts the parts of one loop that have been given something and do not wait yet."""

    __slots__ = ("_count", "_on_rest")

    def __init__(self, on_rest: Callable[[], None]) -> None:
        """Construct the counter; `on_rest` is called within the last step of the last part."""
        self._count = 0
        self._on_rest = on_rest

    def __bool__(self) -> bool:
        return self._count > 0

    def wake(self, parts: int = 1) -> None:
        """Count parts that go on."""
        self._count += parts

    def rest(self, parts: int = 1) -> None:
        """Count parts no more, which come to their next wait or to their end within this step."""
        self._count -= parts
        if parts and not self._count:
            self._on_rest()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count a part while it waits for what comes by itself, such as a record that is written."""
        self.wake()
        try:
            yield
        finally:
            self.rest()

    async def wait(self, waiting: deque[asyncio.Future[None]]) -> bool:
        """Wait as the last of a queue until `ring` wakes this part; return False where it is cancelled then.

        Raises:
            asyncio.CancelledError: it is cancelled before.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled() or not future.done():
                if future in waiting:
                    waiting.remove(future)
                raise
            self.rest()
            return False
        self.rest()
        return True

    def ring(self, waiting: deque[asyncio.Future[None]]) -> bool:
        """Wake the first part of a queue; return False where none waits."""
        while waiting:
            future = waiting.popleft()
            if not future.done():
                self.wake()
                future.set_result(None)
                return True
        return False


class Bell:
    """Wakes all parts of a loop that wait for one thing."""

    __slots__ = ("_awake", "_waiting")

    def __init__(self, awake: Awake) -> None:
        self._awake = awake
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Wait until it rings.

        Raises:
            asyncio.CancelledError: the part is cancelled, before or at the same time.
        """
        if not await self._awake.wait(self._waiting):
            raise asyncio.CancelledError

    def ring(self) -> None:
        """Wake those that wait now."""
        while self._awake.ring(self._waiting):
            pass


class OneByOne:
    """Lets one part of a loop in at a time, in the order in which they came."""

    __slots__ = ("_awake", "_is_held", "_waiting")

    def __init__(self, awake: Awake) -> None:
        self._awake = awake
        self._is_held = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._is_held and not await self._awake.wait(self._waiting):
            self._leave()
            raise asyncio.CancelledError
        self._is_held = True

    async def __aexit__(self, *raised: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._is_held = self._awake.ring(self._waiting)


class Gathering:
    """Parts of a loop for which another part waits until all have ended, or one of them has failed."""

    __slots__ = ("_awake", "_begun", "_is_over", "_left", "_parts")

    def __init__(self, awake: Awake, parts: int) -> None:
        """Construct the gathering of so many parts, which are about to begin."""
        self._awake = awake
        self._parts = self._left = parts
        self._begun = 0
        self._is_over = False
        awake.wake(parts)

    @contextmanager
    def part(self) -> Iterator[None]:
        """Count one part from its begin to its end."""
        if self._begun < self._parts:
            self._begun += 1
            self._awake.rest()
        is_failed = True
        try:
            yield
            is_failed = False
        finally:
            self._left -= 1
            if not self._is_over and (is_failed or not self._left):
                self._is_over = True
                self._awake.wake()  # of the part that waits

    async def ended(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Wait until the tasks of all parts have ended.

        Raises:
            BaseException: what the first one raised that failed.
        """
        try:
            await asyncio.gather(*tasks)
        finally:
            self._awake.rest(self._parts - self._begun + self._is_over)
            self._begun, self._is_over = self._parts, True
