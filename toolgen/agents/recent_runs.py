"""Values by run that a process can look up again; only the most recently used runs keep theirs."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST_RUNS: Final = 1_000
"""Maximum number of runs with values, if other processes can end runs without notifying this process."""


class RecentRuns(Generic[T]):
    """One value per run, dropped at the end of the run or when too many other runs were used since."""

    def __init__(self, most: int | None) -> None:
        """Construct without values for at most `most` runs; None for no limit."""
        self._most = most
        self._values: dict[str, T] = {}
        """Values by run; the most recently used run is last."""

    def get(self, run_id: str) -> T | None:
        """Return the value of a run; None if it has none."""
        value = self.pop(run_id)
        if value is not None:
            self._values[run_id] = value
        return value

    def put(self, run_id: str, value: T) -> T | None:
        """Set the value of a run; return the value that was dropped for it, or None."""
        self._values.pop(run_id, None)
        self._values[run_id] = value
        if self._most is None or len(self._values) <= self._most:
            return None
        return self._values.pop(next(iter(self._values)))

    def pop(self, run_id: str) -> T | None:
        """Drop the value of a run and return it; None if it has none."""
        return self._values.pop(run_id, None)
