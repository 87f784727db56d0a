"""The writes of clients into a journal in SQLite: each is a part of one transaction."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from typing import Final, Literal

from toolgen.runtime.engine import answer_name

from .client import wait_over_error
from .pruning import Tree
from .sqlite_rows import has_op, is_awaited, is_over
from .sqlite_tables import CANCEL, ids, known_number, run_number

_PAGES: Final = 100
"""Pages that are given back to the disk in one transaction."""


def engine_id(database: sqlite3.Connection) -> str:
    """Return the id of the engine of the file, which is created once."""
    row = database.execute("SELECT value FROM meta WHERE name = 'id'").fetchone()
    if row is None:
        row = (f"sqlite_{uuid.uuid4().hex}",)
        database.execute("INSERT INTO meta (name, value) VALUES ('id', ?)", row)
    return str(row[0])


def start_run(
    database: sqlite3.Connection, run_id: str, loop: str, given: bytes, session: str, state: str
) -> int | None:
    """Add a run, and return its number; None where the id is taken."""
    if run_number(database, run_id) is not None:
        return None
    (newest,) = database.execute("SELECT coalesce(max(no), 0) FROM run").fetchone()
    no: int = (newest + 1) | 1
    database.execute(
        "INSERT INTO run (no, run_id, loop, session, input, state) VALUES (?, ?, ?, ?, ?, ?)",
        (no, run_id, loop, session, given, state),
    )
    return no


def add_signal(database: sqlite3.Connection, run_id: str, signal_id: str, name: str, payload: bytes) -> None:
    """Add a signal to a run that is not over, once for its id.

    Raises:
        UnknownRunError: no run has the id.
    """
    no = known_number(database, run_id)
    if not is_over(database, no):
        _insert(database, no, signal_id, name, payload, "")


def add_answer(
    database: sqlite3.Connection, run_id: str, op: str, payload: bytes, key: str
) -> Literal["added", "same", "conflict"]:
    """Add the answer to a wait; the first one counts.

    Raises:
        UnknownRunError: no run has the id.
        WaitOverError: the wait ended without an answer, or the run is over.
    """
    no, name = known_number(database, run_id), answer_name(op)
    kept = database.execute("SELECT key FROM signal WHERE run = ? AND signal_id = ?", (no, name)).fetchone()
    if kept is not None:
        return "same" if kept[0] == key else "conflict"
    if is_over(database, no) or has_op(database, no, op):
        raise wait_over_error(run_id, op)
    _insert(database, no, name, name, payload, key)
    return "added"


def answer_state(database: sqlite3.Connection, run_id: str, op: str) -> tuple[bool, bool]:
    """Return whether a worker has seen the answer to a wait, and whether its run is over."""
    no = run_number(database, run_id)
    if no is None:
        return False, True
    row = database.execute(
        "SELECT is_seen FROM signal WHERE run = ? AND signal_id = ?", (no, answer_name(op))
    ).fetchone()
    return row is not None and bool(row[0]), is_over(database, no)


def add_cancellation(database: sqlite3.Connection, run_id: str, reason: bytes) -> bool:
    """Request the cancellation of a run; return whether it is not over.

    Raises:
        UnknownRunError: no run has the id.
    """
    no = known_number(database, run_id)
    if is_over(database, no):
        return False
    _insert(database, no, CANCEL, "", reason, "")
    return True


def delete(database: sqlite3.Connection, trees: Sequence[Tree]) -> None:
    """Delete root runs that are over, with their children, and free pages of the file."""
    for tree in trees:
        if run_number(database, tree.runs[0].run_id) == tree.no:
            _delete(database, tree.no)
    for _ in range(_PAGES):
        database.execute("PRAGMA incremental_vacuum")  # Python executes one step of it: one page


def delete_session(database: sqlite3.Connection, session: str) -> int:
    """Delete the root runs of a session that are over, with their children; return how many runs."""
    before = database.execute("SELECT count(*) FROM run").fetchone()[0]
    roots = database.execute(
        "SELECT no FROM run WHERE session = ? AND ended IS NOT NULL AND parent IS NULL", (session,)
    ).fetchall()
    for (no,) in roots:
        _delete(database, no)
    return int(before - database.execute("SELECT count(*) FROM run").fetchone()[0])


def _delete(database: sqlite3.Connection, no: int) -> None:
    for (child,) in database.execute("SELECT no FROM run WHERE parent = ?", (no,)).fetchall():
        _delete(database, child)
    for table in ("op", "event", "wait"):
        database.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", ids(no))
    for table in ("signal", "attempt"):
        database.execute(f"DELETE FROM {table} WHERE run = ?", (no,))
    database.execute(
        "UPDATE run SET starter = NULL WHERE starter = ?", (no,)
    )  # a later run may get the number
    database.execute("DELETE FROM run WHERE no = ?", (no,))


def _insert(
    database: sqlite3.Connection, no: int, signal_id: str, name: str, payload: bytes, key: str
) -> None:
    """Add a new signal; a parked run that waits for it is unparked, with the runs above it."""
    is_wanted = is_awaited(database, no, name)  # before the signal is written, for it may raise
    added = database.execute(
        "INSERT OR IGNORE INTO signal (run, signal_id, name, payload, key, is_seen, is_taken)"
        " VALUES (?, ?, ?, ?, ?, 0, 0)",
        (no, signal_id, name, payload, key),
    )
    if added.rowcount and is_wanted:
        database.execute(
            """WITH RECURSIVE up (no) AS (
                SELECT ? UNION SELECT parent FROM run JOIN up USING (no) WHERE parent IS NOT NULL)
            UPDATE run SET state = 'running', wake = NULL WHERE no IN up AND state = 'parked'""",
            (no,),
        )
