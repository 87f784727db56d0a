"""The file of sessions: its format, the reading of its rows, and the deletion of sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from toolgen.runtime.stores.session_tables import LATER_SESSION_TABLES, SESSION_TABLES
from toolgen.runtime.stores.sqlite_format import SqliteFormat

from .unused import UnusedSession, not_kept

SESSIONS: Final = SqliteFormat(
    content="sessions",
    application_id=0x74675365,
    version=2,
    tables=SESSION_TABLES,
    later=(LATER_SESSION_TABLES,),
)
"""Its application_id is "tgSe"."""
_NEWEST: Final = "(SELECT turn_id FROM turn WHERE session_id = session.id ORDER BY turn.number DESC LIMIT 1)"
_RUNS: Final = f"(SELECT run_id FROM turn WHERE session_id = session.id AND turn_id = {_NEWEST})"
_WRITTEN: Final = f"coalesce((SELECT max(written_at) FROM {{}} WHERE run_id IN {_RUNS}), 0)"
_USED: Final = (
    "SELECT id, max(created_at, coalesce(ended_at, 0),"
    f" {_WRITTEN.format('message')}, {_WRITTEN.format('answer')}) AS used_at FROM session"
)


def rows(database: sqlite3.Connection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none for an id that UTF-8 cannot encode."""
    try:
        return database.execute(query, values).fetchall()
    except UnicodeEncodeError:
        return []


def read_unused(
    database: sqlite3.Connection, keep: int | None, before: float | None
) -> tuple[UnusedSession, ...]:
    """Return the sessions of a file that are not to be kept; as `not_kept`."""
    return not_kept(database.execute(f"{_USED} ORDER BY number"), keep, before)


def retire(database: sqlite3.Connection, session: UnusedSession) -> bool:
    """End a session as of its last use; as `SessionStore.retire`."""
    if rows(database, f"{_USED} WHERE id = ?", (session.session_id,)) != [
        (session.session_id, session.used_at)
    ] or rows(database, "SELECT 1 FROM active WHERE session_id = ?", (session.session_id,)):
        return False
    query = "UPDATE session SET ended_at = ? WHERE id = ? AND ended_at IS NULL"
    database.execute(query, (session.used_at, session.session_id))
    return True


def drop(database: sqlite3.Connection, session_id: str) -> None:
    """Delete a session that is over, with all that was said in it and in the child runs of its runs."""
    if not rows(database, "SELECT 1 FROM session WHERE id = ? AND ended_at IS NOT NULL", (session_id,)):
        return
    for (run_id,) in rows(database, "SELECT run_id FROM turn WHERE session_id = ?", (session_id,)):
        for table in ("message", "answer", "spoken"):
            # The id of a child run begins with its parent's and a slash; "0" is the next character.
            query = f"DELETE FROM {table} WHERE run_id = ? OR (run_id > ? AND run_id < ?)"
            database.execute(query, (run_id, f"{run_id}/", f"{run_id}0"))
    for table in ("turn", "active"):
        database.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
    database.execute("DELETE FROM session WHERE id = ?", (session_id,))
