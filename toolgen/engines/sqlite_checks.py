"""Checks a journal in SQLite: the whole file for an operator, its runs in short for a worker that starts."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

from toolgen.stores.sqlite_errors import DamagedRowError, reading

from .journal import decode
from .sqlite_records import read_numbered_record
from .sqlite_rows import read_state

_MOST: Final = 50
"""The most problems of the file that are named; there is one for each row of an index that is lost."""


def find_damage(database: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the file as such, and each run with a row that cannot be read."""
    rows = database.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    found = [f"the file: {text}" for (text,) in rows if text != "ok"]
    for (no,) in database.execute("SELECT no FROM run NOT INDEXED ORDER BY no").fetchall():
        try:
            record = read_numbered_record(database, no)
            read_state(database, record.run_id)
            with reading(partial("the log of run {}".format, record.run_id)):
                for text in record.events:
                    decode(text)
        except DamagedRowError as error:
            found.append(str(error))
    return found


def require_sound_runs(database: sqlite3.Connection) -> None:
    """Raise where a table of runs or sessions, or an index of it, is damaged: some would be lost from sight.

    Raises:
        DamagedRowError: as said.
    """
    for table in ("run", "session", "turn", "active"):
        (text,) = database.execute(f"PRAGMA integrity_check({table})").fetchone()
        if text != "ok":
            raise DamagedRowError(f"{text} (all of it: toolgen runs check)")
