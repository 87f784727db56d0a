"""Writes of clients to a SQLite journal; each is part of one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from toolgen.stores.sqlite_errors import DamagedRowError

from ..context import GRANT_LOOP, REVOKED, answer_name
from ..errors import session_over, wait_over
from ..statuses import Receipt
from .journal import CANCEL, NULL, RunRecord, SignalRecord, decode
from .pruning import RunTree
from .sqlite_rows import is_awaited, is_wait_over
from .sqlite_tables import ids, is_over, known_number, newest_run, run_number
from .witness import open_runs, run_digest

_PAGES: Final = 100
"""Number of pages that one transaction returns to the file system."""
RESTORED: Final = "INSERT OR REPLACE INTO meta (name, value) VALUES ('restored', ?)"
"""Records when the file was found to be older than its witness."""
_LOST: Final = "lost"
"""Key of an answer that the file has lost; it differs from the key of every new answer."""


def engine_id(database: sqlite3.Connection) -> str:
    """Return the id of the engine of the file.

    Raises:
        DamagedRowError: the file no longer has the id.
    """
    row = database.execute("SELECT value FROM meta WHERE name = 'id'").fetchone()
    if row is None:
        raise DamagedRowError("the id of its engine is missing")
    return str(row[0])


def start_run(database: sqlite3.Connection, record: RunRecord, state: str) -> int | None:
    """Add a run, and return its number; None if the id is in use."""
    if run_number(database, record.run_id) is not None:
        return None
    no = (newest_run(database) + 1) | 1
    database.execute(
        "INSERT INTO run (no, run_id, loop, session, input, state) VALUES (?, ?, ?, ?, ?, ?)",
        (no, record.run_id, record.loop, record.session, record.input, state),
    )
    if record.loop == GRANT_LOOP:
        _revoke_restored(database, no, decode(record.input))
    return no


def _revoke_restored(database: sqlite3.Connection, no: int, grant: Mapping[str, float]) -> None:
    """Revoke a new grant if its question is older than the last restoration of the file.

    The answer was in the older file, and the grant might have been used up or revoked since.
    """
    restored = database.execute("SELECT value FROM meta WHERE name = 'restored'").fetchone()
    if restored is not None and grant["asked_at"] <= restored[0]:
        name = answer_name(REVOKED)
        _insert(database, no, SignalRecord(name, name, b'"restored"', key=_LOST))


def add_signal(database: sqlite3.Connection, run_id: str, signal: SignalRecord) -> bool:
    """Add a signal to an unfinished run, once per signal id; return whether the run is unfinished.

    Raises:
        UnknownRunError: no run has the id.
    """
    no = known_number(database, run_id)
    if is_over(database, no):
        return False
    _insert(database, no, signal)
    return True


def add_answer(
    database: sqlite3.Connection, run_id: str, op: str, payload: bytes, key: str, session: str
) -> Receipt:
    """Add the answer to a wait, and return `recorded`; only the first answer counts.

    Raises:
        UnknownRunError: no run has the id.
        WaitOverError: the wait ended without an answer, the run is over, or this session has ended.
    """
    no, name = known_number(database, run_id), answer_name(op)
    query = "SELECT key FROM signal WHERE run = ? AND signal_id = ?"
    earlier = database.execute(query, (no, name)).fetchone()
    if earlier is not None:
        return "same" if earlier[0] == key else "conflict"
    if is_over(database, no) or is_wait_over(database, no, op):
        raise wait_over(run_id, op)
    if database.execute("SELECT 1 FROM session WHERE id = ? AND ended_at NOTNULL", (session,)).fetchone():
        raise session_over(session)
    _insert(database, no, SignalRecord(name, name, payload, key=key))
    return "recorded"


def answer_begun(database: sqlite3.Connection, begun_ops: Mapping[str, Sequence[str]]) -> None:
    """End the waits of calls whose answer the file has lost, so that the question is not asked again.

    Such a call had begun and is not executed again; its outcome is unknown, whatever the answer was.
    `begun_ops` are operations by the digests of their runs. The operation that an answer begins has the key
    of its wait.
    """
    for no, run_id in open_runs(database):
        for op in begun_ops.get(run_digest(run_id), ()):
            name = answer_name(f"wait:{op.partition(':')[2]}")
            with suppress(DamagedRowError):  # a damaged run is stalled when it is loaded
                if is_awaited(database, no, name):
                    _insert(database, no, SignalRecord(name, name, NULL, key=_LOST))


def is_answer_seen(database: sqlite3.Connection, run_id: str, op: str) -> bool:
    """Return whether a worker has seen the answer to a wait.

    Raises:
        WaitOverError: no worker will see it, because the run is over.
    """
    no = run_number(database, run_id)
    query = "SELECT is_seen FROM signal WHERE run = ? AND signal_id = ?"
    is_seen = (1,) in database.execute(query, (no, answer_name(op)))
    if not is_seen and (no is None or is_over(database, no)):
        raise wait_over(run_id, op)
    return is_seen


CANCEL_TREE: Final = """
    WITH RECURSIVE tree (no) AS (SELECT ? UNION SELECT run.no FROM run JOIN tree ON run.parent = tree.no)
    UPDATE run SET state = 'canceled', ended = ?, wake = NULL, output = ?, error = ?
    WHERE ended IS NULL AND no IN (SELECT no FROM tree)
"""
"""Ends a run and its unfinished descendants."""


def delete(database: sqlite3.Connection, trees: Sequence[RunTree]) -> None:
    """Delete finished root runs with their children, and free pages of the file."""
    for tree in trees:
        if run_number(database, tree.runs[0].run_id) == tree.no:
            _delete(database, tree.no)
    for _ in range(_PAGES):
        # Python executes one step of this statement, which frees one page
        database.execute("PRAGMA incremental_vacuum")


def delete_session(database: sqlite3.Connection, session: str) -> int:
    """Delete the finished root runs of a session, with their children; return the number of runs."""
    roots = database.execute(
        "SELECT no FROM run WHERE session = ? AND ended IS NOT NULL AND parent IS NULL", (session,)
    ).fetchall()
    return sum(_delete(database, no) for (no,) in roots)


def _delete(database: sqlite3.Connection, no: int) -> int:
    """Delete a run with its children; return the number of runs."""
    children = database.execute("SELECT no FROM run WHERE parent = ?", (no,)).fetchall()
    deleted = 1 + sum(_delete(database, child) for (child,) in children)
    for table in ("op", "event", "wait"):
        database.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", ids(no))
    for table in ("signal", "attempt"):
        database.execute(f"DELETE FROM {table} WHERE run = ?", (no,))
    # a later run can reuse the number
    database.execute("UPDATE run SET starter = NULL WHERE starter = ?", (no,))
    database.execute("DELETE FROM run WHERE no = ?", (no,))
    return deleted


def _insert(database: sqlite3.Connection, no: int, signal: SignalRecord) -> None:
    """Add a new signal, and unpark a parked run that waits for it, with the ancestors of the run."""
    # Before the signal is written, because this can raise. No wait is for a cancellation.
    is_wanted = signal.signal_id != CANCEL and is_awaited(database, no, signal.name)
    added = database.execute(
        "INSERT OR IGNORE INTO signal (run, signal_id, name, payload, key, is_seen, is_taken)"
        " VALUES (?, ?, ?, ?, ?, 0, 0)",
        (no, signal.signal_id, signal.name, signal.payload, signal.key),
    )
    if added.rowcount and is_wanted:
        database.execute(
            """WITH RECURSIVE up (no) AS (
                SELECT ? UNION SELECT parent FROM run JOIN up USING (no) WHERE parent IS NOT NULL)
            UPDATE run SET state = 'running', wake = NULL WHERE no IN up AND state = 'parked'""",
            (no,),
        )
