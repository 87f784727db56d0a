"""Limit of concurrent requests, in total and per caller."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..ports.admission import most_of_one
from .callers import Caller
from .problems import HTTPProblem


class RequestLimit:
    """Limit of concurrent requests of one kind."""

    def __init__(self, noun: str, most: int, most_of_caller: int | None) -> None:
        """Create a limit.

        Args:
            noun: Plural noun for the requests, for messages.
            most: Maximum number for all callers.
            most_of_caller: Maximum for one caller while there are no others; by default a quarter of `most`.
        """
        self._noun = noun
        self._most = most
        self._most_of_caller = most_of_caller or max(1, most // 4)
        self._of_caller = Counter[str]()
        self.count = 0
        """Number of requests that hold a place now."""
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    async def emptied(self) -> None:
        """Wait until no request holds a place."""
        await self._is_empty.wait()

    @contextmanager
    def place(self, caller: Caller) -> Iterator[None]:
        """Hold a place for the duration of the context.

        Raises:
            HTTPProblem: No place is free.
        """
        key = caller.key
        own = self._of_caller[key]
        if own >= most_of_one(self._most, self._most_of_caller, self.count - own):
            raise HTTPProblem(
                "too-many-requests", f"too many concurrent {self._noun} from this caller ({own} running)"
            )
        if self.count >= self._most:
            raise HTTPProblem(
                "unavailable", f"too many concurrent {self._noun} ({self._most} running); try again later"
            )
        self.count += 1
        self._is_empty.clear()
        self._of_caller[key] += 1
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                self._is_empty.set()
            self._of_caller[key] -= 1
            if not self._of_caller[key]:
                del self._of_caller[key]
