"""The tables of a SQLite journal.

The id of a row that belongs to a run is the number of the run, shifted, plus a number within the run, so that
the rows of a run are adjacent. Workers use even numbers for runs and clients odd ones, so that they need no
coordination. If the subject of a wait is the input of its run, for example a frozen call, its column `about`
is empty. The tables of conversations are in the same file, so that one transaction can write both.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from toolgen.stores.session_tables import SESSION_TABLES
from toolgen.stores.sqlite_errors import DamagedRowError
from toolgen.stores.sqlite_format import SqliteFormat

from ..errors import unknown_run
from .journal import MOST_BYTES

SHIFT: Final = 20
MOST: Final = (1 << SHIFT) - 16
"""Maximum number of operations, waits or events of a run; ids above it are reserved for its last events."""

MOST_RUNS: Final = 1 << 63 - SHIFT
"""Limit of run numbers; it keeps the ids of a run's rows in range too."""

TO_RUN: Final = (
    "INSERT INTO run (no, run_id, loop, parent, starter, session, input, state)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 'running')"
)
TO_OP: Final = (
    "INSERT INTO op (id, op, what, digest, at, value, kind, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
TO_EVENT: Final = "INSERT INTO event (id, key, text) VALUES (?, ?, ?)"
TO_WAIT: Final = "INSERT INTO wait (id, op, names, about) VALUES (?, ?, ?, ?)"
TO_PARK: Final = "UPDATE run SET state = 'parked', wake = ? WHERE no = ?"
TO_END: Final = "UPDATE run SET state = ?, ended = ?, wake = NULL, output = ?, error = ? WHERE no = ?"

FORMAT: Final = SqliteFormat(
    content="runs",
    application_id=0x74676A72,  # "tgjr"
    is_shrinking=True,
    if_lost="if it is lost for good: toolgen runs restore",
    version=4,
    statements=(
        """CREATE TABLE run (
            no INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, loop TEXT NOT NULL, parent INTEGER,
            starter INTEGER, session TEXT NOT NULL, input BLOB NOT NULL, state TEXT NOT NULL, began REAL,
            ended REAL, wake REAL, output BLOB, error TEXT) STRICT""",
        "CREATE INDEX run_state ON run (state)",
        "CREATE INDEX run_wake ON run (wake) WHERE wake IS NOT NULL",
        "CREATE INDEX run_session ON run (session, no) WHERE session != ''",
        "CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL AND parent IS NULL",
        "CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL",
        "CREATE INDEX run_starter ON run (starter) WHERE starter IS NOT NULL",
        """CREATE TABLE op (
            id INTEGER PRIMARY KEY, op TEXT NOT NULL, what TEXT NOT NULL, digest BLOB NOT NULL,
            at REAL NOT NULL, value BLOB NOT NULL, kind TEXT, message TEXT) STRICT""",
        """CREATE TABLE attempt (
            run INTEGER NOT NULL, op TEXT NOT NULL, failed INTEGER NOT NULL, until REAL NOT NULL,
            begun INTEGER NOT NULL, PRIMARY KEY (run, op)) STRICT, WITHOUT ROWID""",
        "CREATE TABLE event (id INTEGER PRIMARY KEY, key TEXT, text BLOB NOT NULL) STRICT",
        """CREATE TABLE wait (
            id INTEGER PRIMARY KEY, op TEXT NOT NULL, names TEXT NOT NULL, about BLOB NOT NULL) STRICT""",
        """CREATE TABLE signal (
            no INTEGER PRIMARY KEY, run INTEGER NOT NULL, signal_id TEXT NOT NULL, name TEXT NOT NULL,
            payload BLOB NOT NULL, key TEXT NOT NULL, is_seen INTEGER NOT NULL, is_taken INTEGER NOT NULL,
            UNIQUE (run, signal_id)) STRICT""",
        "CREATE INDEX signal_unseen ON signal (no) WHERE is_seen = 0",
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
        # In the same transaction as the tables, so that the id of the engine cannot be lost alone.
        "INSERT INTO meta (name, value) VALUES ('id', 'sqlite_' || lower(hex(randomblob(16))))",
        *SESSION_TABLES,
        "CREATE INDEX op_wait ON op (op, id) WHERE what = 'wait'",
    ),
)


TOO_LARGE: Final = f"it has more than {MOST_BYTES} bytes"


def bounded(column: str) -> str:
    """Return the SQL that reads a column, or NULL if its value has too many bytes."""
    return f"CASE WHEN length({column}) <= {MOST_BYTES} THEN {column} END"


def ids(no: int) -> tuple[int, int]:
    """Return the first and the last id of the rows that belong to a run."""
    return no << SHIFT, (no + 1 << SHIFT) - 1


def value_of(database: sqlite3.Connection, query: str, *values: object) -> Any:
    """Return the value of a query that returns one row with one column."""
    return database.execute(query, values).fetchone()[0]


def run_row(database: sqlite3.Connection, columns: str, run_id: str) -> Any:
    """Return columns of a run; None if no run has the id."""
    try:
        return database.execute(f"SELECT {columns} FROM run WHERE run_id = ?", (run_id,)).fetchone()
    except UnicodeEncodeError:  # no id has a lone surrogate
        return None


def run_number(database: sqlite3.Connection, run_id: str) -> int | None:
    """Return the number of a run; None if no run has the id.

    Raises:
        DamagedRowError: no run can have this number.
    """
    row = run_row(database, "no", run_id)
    if row is not None and row[0] >= MOST_RUNS:
        raise DamagedRowError(f"run {run_id} cannot be read: its number is too large")
    return None if row is None else int(row[0])


def newest_run(database: sqlite3.Connection) -> int:
    """Return the highest run number; 0 if there are no runs."""
    return int(value_of(database, "SELECT coalesce(max(no), 0) FROM run WHERE no < ?", MOST_RUNS))


def known_number(database: sqlite3.Connection, run_id: str) -> int:
    """Return the number of a run.

    Raises:
        UnknownRunError: no run has the id.
    """
    no = run_number(database, run_id)
    if no is None:
        raise unknown_run(run_id)
    return no


def is_over(database: sqlite3.Connection, no: int) -> bool:
    """Return whether a run is over or deleted."""
    row = database.execute("SELECT ended FROM run WHERE no = ?", (no,)).fetchone()
    return row is None or row[0] is not None
