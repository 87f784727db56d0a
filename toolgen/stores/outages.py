"""Outages of stores: how a step of a run waits until its store works again.

Steps that can be repeated:

- Reads, and writes under a key of their own, which a run repeats with the same effect: messages by run and
  step, answers by run and call, turns by run, artifacts of results by run and digest. They are repeated even
  if it is unknown whether they were stored (`StoreConnectionError.is_unknown`).
- The agent of a session, which `hand_over` sets: only the run that holds the turn of the session sets it, and
  it holds the turn until after the step, so nothing else is overwritten.
- Changes of state, and results that are too large, only if the store has none of them: a stored addition
  would be added twice.

Executors are not executed again because of a store. An executor that raises an error of its own store has
failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Final, TypeVar

from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record

from .errors import (
    StoreConnectionError,
    StoreError,
)

T = TypeVar("T")

AGAIN_S: Final = 1.0
"""Seconds between two attempts of a step that waits for its store."""

log = logger("toolgen.runtime")


def _no_pause(attempt: int) -> float:
    return 0.0


@frozen_record
class StoreRetry:
    """Repeats a step of a store that is unavailable, until the store is back or the time is over."""

    pause: Callable[[int], float] = field(default=_no_pause, repr=False)
    """Returns the delay in seconds after a failed attempt, counted from 1."""
    total_s: float = 0.0
    """Seconds after the first attempt within which more attempts can start; 0 for a single attempt."""
    ends_at: float | None = None
    """Time at which every attempt ends, by the clock of the event loop; None without a time limit."""

    async def run(self, step: Callable[[], Awaitable[T]], what: str, *, is_idempotent: bool) -> T:
        """Run a step, repeat it while its store is unavailable, and return its value.

        Args:
            step: Called for each attempt.
            what: Name of the step in the log, for example "run r-1: record:2".
            is_idempotent: Whether a stored step can be repeated without effect.

        Raises:
            StoreError: `total_s` is over, the error is not temporary, or the step must not be repeated.
            TimeoutError: `ends_at` came during an attempt.
        """
        loop = asyncio.get_running_loop()
        began, attempt = loop.time(), 0
        while True:
            attempt += 1
            try:
                async with asyncio.timeout_at(self.ends_at):
                    return await step()
            except StoreError as error:
                if not error.is_temporary or (is_unknown(error) and not is_idempotent):
                    raise
                delay = self.pause(attempt)
                if self._is_over(began, loop.time() + delay):
                    raise
                log.warning(
                    "%s: attempt %d failed; the next is in %.1f s: %s", what, attempt, delay, error.message
                )
            await asyncio.sleep(delay)

    def _is_over(self, began: float, next_at: float) -> bool:
        return next_at - began >= self.total_s or (self.ends_at is not None and next_at >= self.ends_at)


async def until_back(step: Callable[[], Awaitable[T]], what: str) -> T:
    """Repeat a step until its store is back, while the caller waits, and return its value.

    The step must be idempotent; `what` names it in the log, once.

    Raises:
        StoreError: the error is not temporary.
    """
    is_logged = False
    while True:
        try:
            return await step()
        except StoreError as error:
            if not error.is_temporary:
                raise
            if not is_logged:
                log.warning("%s waits for its store: %s", what, error)
            is_logged = True
        await asyncio.sleep(AGAIN_S)


def is_unknown(error: StoreError) -> bool:
    """Return whether it is unknown if the failed step was stored."""
    return isinstance(error, StoreConnectionError) and error.is_unknown
