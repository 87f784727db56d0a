"""Retries of an unavailable planner and of an unavailable store: their delays and their limits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import field
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.stores import StoreError

from ..loop.documents import Retry

MOST_FAILURES: Final = 3
"""Maximum failed attempts at one planning, not counting an unavailable planner or store."""
_MOST_DOUBLINGS: Final = 30
_FOREVER_S: Final = 1e9


class PlannerUnavailableError(Exception):
    """A planner is temporarily unavailable, for example because of its provider's rate limit."""

    is_told = True
    """The message becomes the failure of the run, so it must not contain secrets."""

    def __init__(
        self, message: str, *, retry_after: float | None = None, most_attempts: int | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the planner asks to wait before the next attempt; None if it does not say."""
        self.most_attempts = most_attempts
        """Maximum number of attempts, for a failure that costs money each time; None for no such limit."""


@frozen_record
class PlannerRetry:
    """The retries of an unavailable planner: exponential backoff with full jitter.

    The delay after attempt n is a random part of `initial_s * 2 ** (n - 1)`, at most `max_s`, in addition to
    the delay that the planner requests (`Retry-After`). A run with less time than `total_s` stops when its
    time is over. Run steps on an unavailable store are retried in the same way.
    """

    initial_s: float = 1.0
    """Maximum seconds before the second attempt."""
    max_s: float = 60.0
    """Maximum seconds before any attempt, without the delay that the planner requests."""
    total_s: float = 300.0
    """Seconds from the first attempt after which there is no further attempt; 0 for a single attempt."""
    random: Callable[[], float] = field(default=random.random, repr=False)
    """Returns a number from 0 to 1, the random part of each delay."""

    def __post_init__(self) -> None:
        """Raise if a time is not a valid number of seconds.

        Raises:
            ValueError: `total_s` is negative, another time is not positive, or a time is not finite.
        """
        for name in ("initial_s", "max_s", "total_s"):
            value: float = getattr(self, name)
            if not 0 <= value < math.inf or (value == 0 and name != "total_s"):
                raise ValueError(f"{name} is {value!r}; it must be a positive number of seconds")

    def after(self, error: Exception, attempt: int) -> Retry:
        """Return the retry after an attempt, counted from 1, that failed with this error."""
        requested_s, most = 0.0, MOST_FAILURES
        if isinstance(error, PlannerUnavailableError):
            requested_s = _seconds(error.retry_after)
            most = error.most_attempts or 0
        elif isinstance(error, StoreError) and error.is_temporary:
            most = 0
        return {"delay_s": requested_s + self.pause(attempt), "total_s": self.total_s, "most_attempts": most}

    def pause(self, attempt: int) -> float:
        """Return the seconds after an attempt, counted from 1, without the delay that a planner requests."""
        return self.random() * min(self.max_s, self.initial_s * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))


def _seconds(delay_s: float | None) -> float:
    """Return the delay in seconds that a planner requests, within bounds; 0 if it is not a number."""
    if delay_s is None or math.isnan(delay_s):
        return 0.0
    return min(max(delay_s, 0.0), _FOREVER_S)
