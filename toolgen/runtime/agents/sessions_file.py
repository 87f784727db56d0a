"""The file of sessions: its tables, how it is told from other files, and one transaction in it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

from .sessions import SessionError

T = TypeVar("T")

_BUSY_S: Final = 10.0
"""How long one process waits for another to finish its step."""
_APPLICATION: Final = 0x74675365
"""The `application_id` of the file (SQLite's database header, offset 68): "tgSe"."""
_FORMAT: Final = 1
"""Its `user_version`; another one means other tables."""
_TABLES: Final = (
    """
    CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        created_at REAL NOT NULL,
        ended_at REAL,
        labels TEXT NOT NULL,
        summary TEXT,
        summary_through TEXT
    ) STRICT
    """,
    "CREATE INDEX session_by_age ON session (created_at, number)",
    """
    CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT
    """,
    "CREATE INDEX turn_of_session ON turn (session_id, number)",
    """
    CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT
    """,
)


class SessionsFile:
    """A SQLite file that holds sessions and nothing else; made when it is missing."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            SessionError: it cannot be opened, or it is something else.
        """
        self._path = path
        try:
            with closing(self._connect()) as database:
                self._prepare(database)
        except sqlite3.Error as error:
            raise SessionError(
                f"{str(path)!r} cannot be opened as a file of sessions: {error}",
                hint="name a file that toolgen made, or a new one in a directory that can be written to",
            ) from error

    def write(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Return what the step returns; nothing of it is kept when it raises."""
        with closing(self._connect()) as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                return step(database)

    def read(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Return what the step returns, all of it from the same moment; it waits for no writer."""
        with closing(self._connect()) as database:
            database.execute("BEGIN")
            with database:
                return step(database)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)

    def _prepare(self, database: sqlite3.Connection) -> None:
        database.execute("BEGIN IMMEDIATE")
        with database:
            if not self._is_ready(database):
                for statement in _TABLES:
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_FORMAT}")
        _use_wal(database)

    def _is_ready(self, database: sqlite3.Connection) -> bool:
        """Return whether the tables are there; False in a file that holds nothing yet.

        Raises:
            SessionError: the file holds something else.
        """
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version) == (_APPLICATION, _FORMAT):
            return True
        if (application, version, tables) == (0, 0, 0):
            return False
        if application == _APPLICATION:
            raise SessionError(
                f"{str(self._path)!r} holds sessions in format {version}, and this toolgen reads {_FORMAT}",
                hint="use the version of toolgen that wrote it, or another file",
            )
        raise SessionError(
            f"{str(self._path)!r} is a database of something else than sessions",
            hint="give the sessions a file of their own",
        )


def rows(database: sqlite3.Connection, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return what a query finds; nothing for an id that no row can have, for UTF-8 cannot hold it."""
    try:
        return database.execute(query, values).fetchall()
    except UnicodeEncodeError:
        return []


def _use_wal(database: sqlite3.Connection) -> None:
    """Let readers and a writer work at once. SQLite does not wait for others here, so this does."""
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
