"""How much of its limits a run has used. Pure; callers pass the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal


class LimitCounter:
    """Counts what a run has used of its limits: calls, failures, time."""

    def __init__(self, *, now: float, policy: Mapping[str, Any]) -> None:
        self._began = now
        self._budget: float | None = policy["time_budget"]
        self._most_failures: int | None = policy["max_consecutive_failed_tool_calls"]
        self._failures = 0
        self._waits: list[tuple[float, float]] = []
        """Times of waiting that do not overlap, oldest first."""
        self.tool_calls = 0
        """Those that count against the cap."""

    @property
    def waited_s(self) -> float:
        """Seconds for which the run waited for a person; they are not part of its budget."""
        return sum(ended - began for began, ended in self._waits)

    def add_wait(self, began: float, ended: float) -> None:
        """Add an interval of waiting; overlapping intervals count once.

        The sum is the same in whatever order they come: calls of a batch end in another one in a replay.
        """
        if ended <= began:
            return
        apart: list[tuple[float, float]] = []
        for other in self._waits:
            if other[1] < began or ended < other[0]:
                apart.append(other)
            else:
                began, ended = min(began, other[0]), max(ended, other[1])
        self._waits = sorted([*apart, (began, ended)])

    def time_left(self, now: float) -> float | None:
        """Return the seconds of the budget that are left, always above 0; None without a budget."""
        if self._budget is None:
            return None
        return max(0.01, self._budget - (now - self._began - self.waited_s))

    def count_batch(self, statuses: Sequence[str], failed: Sequence[str]) -> None:
        """Count a batch: if every call has one of the statuses that say `failed`, one more failure."""
        is_failure = all(status in failed for status in statuses)
        self._failures = self._failures + 1 if is_failure else 0

    def exhausted(self, now: float) -> Literal["failure_cap", "time_budget", ""]:
        """Return the name of the limit that is reached; "" while none is."""
        if self._most_failures is not None and self._failures >= self._most_failures:
            return "failure_cap"
        if self._budget is not None and now - self._began - self.waited_s >= self._budget:
            return "time_budget"
        return ""
