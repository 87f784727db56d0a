"""Retries of a planner that is unavailable, and of a store that is: their delays and their limits."""

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
"""Attempts at one planning that may fail for other reasons than that a planner or a store is away."""
_MOST_DOUBLINGS: Final = 30
_FOREVER_S: Final = 1e9


class PlannerUnavailableError(Exception):
    """A planner is unavailable for now, such as by a rate limit of its provider."""

    is_told = True
    """The message becomes the failure of the run, so it must hold no secret."""

    def __init__(
        self, message: str, *, retry_after: float | None = None, most_attempts: int | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds for which the planner asks to be left alone; None where it does not say."""
        self.most_attempts = most_attempts
        """Attempts that are worth it, for a failure that costs money each time; None for no such limit."""


@frozen_record
class PlannerRetry:
    """The retries of an unavailable planner: exponential backoff with full jitter.

    The pause after attempt n is a random part of `initial_s * 2 ** (n - 1)`, at most `max_s`, in addition to
    what the planner asks for (`Retry-After`). A run with less time than `total_s` stops when that is over.
    Steps of a run on a store that is away are repeated in the same way.
    """

    initial_s: float = 1.0
    """The most seconds before the second attempt."""
    max_s: float = 60.0
    """The most seconds before any attempt, without what the planner asks for."""
    total_s: float = 300.0
    """Seconds from the first attempt after which there is no other; 0 for a single attempt."""
    random: Callable[[], float] = field(default=random.random, repr=False)
    """Returns a number from 0 to 1, the part of each pause."""

    def __post_init__(self) -> None:
        """Raise for times that are not positive numbers of seconds.

        Raises:
            ValueError: `total_s` is negative, another time not positive, or one is not finite.
        """
        for name in ("initial_s", "max_s", "total_s"):
            value: float = getattr(self, name)
            if not 0 <= value < math.inf or (value == 0 and name != "total_s"):
                raise ValueError(f"{name} is {value!r}; it must be a positive number of seconds")

    def after(self, error: Exception, attempt: int) -> Retry:
        """Return the retry after an attempt, counted from 1, that failed with this error."""
        asked, most = 0.0, MOST_FAILURES
        if isinstance(error, PlannerUnavailableError):
            asked = _seconds(error.retry_after)
            most = error.most_attempts or 0
        elif isinstance(error, StoreError) and error.is_temporary:
            most = 0
        return {"delay_s": asked + self.pause(attempt), "total_s": self.total_s, "most_attempts": most}

    def pause(self, attempt: int) -> float:
        """Return the seconds after an attempt, counted from 1, without what a planner asks for."""
        return self.random() * min(self.max_s, self.initial_s * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))


def _seconds(asked: float | None) -> float:
    """Return the delay in seconds that a planner asks for, within bounds; 0 where it gives no number."""
    if asked is None or math.isnan(asked):
        return 0.0
    return min(max(asked, 0.0), _FOREVER_S)
