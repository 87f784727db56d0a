"""Clock of the runs in a file: it continues from the stored time and distrusts leaps."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from math import isfinite
from typing import Final

from toolgen.stores.sqlite_errors import DamagedRowError

from .sqlite_tables import newest_run, value_of

_LEAP_S: Final = 30 * 86400.0
"""Seconds that a wall clock can be ahead of the newest time in the file before it stops being trusted."""


class RunClock:
    """Clock that continues from an earlier observed time, for example from the time of another process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._clock() + self._ahead

    def continue_from(self, at: float) -> None:
        """Advance the clock to at least this time."""
        self._ahead = max(self._ahead, at - self._clock())

    def hold_at(self, at: float) -> None:
        """Continue from this time, which is before the time of the followed clock."""
        self._ahead = at - self._clock()

    def release(self) -> None:
        """Advance the clock to the time of the followed clock."""
        self._ahead = max(self._ahead, 0.0)

    @property
    def held_s(self) -> float:
        """Seconds by which this clock is held behind the followed clock; 0.0 if it is not held."""
        return max(0.0, -self._ahead)


def newest_run_and_time(database: sqlite3.Connection) -> tuple[int, float]:
    """Return the highest run number and the newest time."""
    return newest_run(database), _time(database, "clock")


def time_before_leap(database: sqlite3.Connection, now: float, keep_s: float | None) -> float | None:
    """Return the newest time of the journal, if the clock is far ahead of it and would end something.

    A machine that starts with a wrong date would end it permanently. The clock would end a run whose wait is
    over, a run that was interrupted and might have waited, or a run that is old enough to be deleted. None if
    the clock can be trusted.
    """
    newest = max(released_at(database), _time(database, "clock"))
    if now - newest <= _LEAP_S or not _would_end_something(database, now, keep_s):
        return None
    # Runs without an ended operation have no time there. The query reads all runs, so it comes last.
    newest = max(newest, value_of(database, "SELECT max(began) FROM run") or 0.0)
    return newest if newest and now - newest > _LEAP_S else None


def _would_end_something(database: sqlite3.Connection, now: float, keep_s: float | None) -> bool:
    oldest = 0.0 if keep_s is None else now - keep_s
    query = """SELECT EXISTS (SELECT 1 FROM run WHERE wake <= ?)
        OR EXISTS (SELECT 1 FROM run WHERE state = 'running')
        OR EXISTS (SELECT 1 FROM run WHERE ended < ? AND parent IS NULL)"""
    return bool(value_of(database, query, now, oldest))


def released_at(database: sqlite3.Connection) -> float:
    """Return the newest time at which an operator trusted the wall clock; 0.0 if no operator did."""
    return _time(database, "released")


def _time(database: sqlite3.Connection, name: str) -> float:
    """Return a time of the journal; 0.0 if it has none.

    Raises:
        DamagedRowError: the value is not a time.
    """
    match database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone():
        case None:
            return 0.0
        case (float() | int() as seconds,) if isfinite(seconds):
            return float(seconds)
        case _:
            raise DamagedRowError("the time of the runs cannot be read")


def release(database: sqlite3.Connection, at: float) -> None:
    """Record that an operator trusts the wall clock, which shows this time."""
    database.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('released', ?)", (at,))
