"""How many activities of a run begin in one turn of the event loop, so that other runs go on beside it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

AT_ONCE: Final = 8
"""Activities of a run that begin in one turn of the event loop, and parts of its loop that do."""


class Turnstile:
    """Lets the activities of one run begin in their order, so many in each turn of the event loop.

    Nobody waits for another's end: while some wait, some begin in every turn.
    """

    __slots__ = ("_holders", "_is_turning", "_left", "_waiting")

    def __init__(self) -> None:
        self._left = AT_ONCE
        """How many more may begin in this turn."""
        self._is_turning = False
        """The next turn is awaited."""
        self._holders = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def has_waiting(self) -> bool:
        """Return whether activities are about to begin in the next turns."""
        return bool(self._waiting)

    def pass_at_once(self) -> bool:
        """Return whether an activity may begin now; `wait` is for the others."""
        if self._waiting or self._holders or not self._left:
            return False
        self._await_turn()
        self._left -= 1
        return True

    async def wait(self, timeout: float | None) -> float | None:  # noqa: ASYNC109  # returns what is left of it
        """Wait until an activity may begin that could not at once; return the seconds left of its time.

        Raises:
            TimeoutError: its time is over before.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(future)
        if not self._holders:
            self._await_turn()
        until = None if timeout is None else loop.time() + timeout
        async with asyncio.timeout_at(until):
            await future
        if until is None:
            return None
        if (left := until - loop.time()) <= 0:
            raise TimeoutError
        return left

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let no activity begin meanwhile, as more of them are about to be started."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._waiting and not self._holders:
                self._await_turn()

    def _await_turn(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._is_turning = False
        self._left = AT_ONCE
        if self._holders or not self._waiting:
            return
        self._await_turn()  # before those begin that are let in now, so that the next ones follow at once
        while self._left and self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._left -= 1
