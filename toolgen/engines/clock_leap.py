"""A wall clock that is far ahead of all that a journal holds: it is not trusted until an operator says so.

A machine that starts with a wrong date would end all that waits and forget what is over, for good.
"""

from __future__ import annotations

import sqlite3
from typing import Final

LEAP_S: Final = 30 * 86400.0
"""By which a wall clock may be ahead of the newest time of the journal, before something ends by it."""


def time_before_leap(database: sqlite3.Connection, now: float, keep_s: float | None) -> float | None:
    """Return the newest time of the journal, where the clock is far ahead of it and would end something.

    That is a run whose time to wait is over, a run that was cut off while it may have waited, or one that
    would be forgotten for its age. None where the clock is to be trusted.
    """
    row = database.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()
    newest = max(released_at(database), 0.0 if row is None else float(row[0]))
    if now - newest <= LEAP_S or not _would_end_something(database, now, keep_s):
        return None
    # Of runs that have ended no operation yet; it reads all runs, and so it comes last.
    (began,) = database.execute("SELECT max(began) FROM run").fetchone()
    newest = max(newest, began or 0.0)
    return newest if newest and now - newest > LEAP_S else None


def _would_end_something(database: sqlite3.Connection, now: float, keep_s: float | None) -> bool:
    oldest = 0.0 if keep_s is None else now - keep_s
    (ends,) = database.execute(
        "SELECT EXISTS (SELECT 1 FROM run WHERE wake <= ?)"
        " OR EXISTS (SELECT 1 FROM run WHERE state = 'running')"
        " OR EXISTS (SELECT 1 FROM run WHERE ended < ? AND parent IS NULL)",
        (now, oldest),
    ).fetchone()
    return bool(ends)


def released_at(database: sqlite3.Connection) -> float:
    """Return the newest time at which an operator trusted the wall clock; 0.0 where none did."""
    row = database.execute("SELECT value FROM meta WHERE name = 'released'").fetchone()
    return 0.0 if row is None else float(row[0])


def release(database: sqlite3.Connection, at: float) -> None:
    """Record that an operator trusts the wall clock, which shows this time."""
    database.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('released', ?)", (at,))
