"""Values by run that a process can look up again; only the most recently used runs keep theirs."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST_RUNS: Final = 1_000
"""Runs that keep their values where other processes may end them, and nobody here hears of it."""


class RecentRuns(Generic[T]):
    """One value a run, dropped at the end of the run or when as many others were used since."""

    def __init__(self, most: int | None) -> None:
        """Construct without values; `most` runs have one at a time, None for any number."""
        self._most = most
        self._values: dict[str, T] = {}
        """Values by run; the one that was used last is at the end."""

    def get(self, run_id: str) -> T | None:
        """Return the value of a run; None where it has none."""
        value = self.pop(run_id)
        if value is not None:
            self._values[run_id] = value
        return value

    def put(self, run_id: str, value: T) -> T | None:
        """Set the value of a run, and return the value that was dropped for it; None where none was."""
        self._values.pop(run_id, None)
        self._values[run_id] = value
        if self._most is None or len(self._values) <= self._most:
            return None
        return self._values.pop(next(iter(self._values)))

    def pop(self, run_id: str) -> T | None:
        """Drop the value of a run, and return it; None where it has none."""
        return self._values.pop(run_id, None)
