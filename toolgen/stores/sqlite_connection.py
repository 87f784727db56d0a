"""One connection to the file of a store: how the file is created and opened; transactions and their steps."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from .errors import StoreError, StoreMissingError, system_error
from .folder_sync import sync_folder
from .safe_places import require_own_place
from .sqlite_errors import is_busy
from .sqlite_format import SqliteFormat, create_tables, is_ready
from .transactions import Step

T = TypeVar("T")

Synchronous: TypeAlias = Literal["NORMAL", "FULL"]
"""Durability of a commit: `FULL` survives a power failure, `NORMAL` only the end of the process."""

_MODE: Final = 0o600
"""The mode of a new file, which is its owner's business. SQLite gives the files beside it the same."""
_RETRY_S: Final = 0.005


def create_file(path: Path) -> None:
    """Create an empty file unless it is there, which is an empty database to SQLite.

    Raises:
        StoreMissingError: its folder does not exist.
        UnsafeFileError: every user can write it, or it is a link out of its folder.
        StoreError: it is a folder, or it cannot be created.
    """
    require_own_place(path)
    target = Path(os.path.realpath(path))  # a link may name a file that is to be created
    if not target.parent.is_dir():
        raise StoreMissingError(
            "is in a folder that does not exist", path=path, hint=f"create the folder {str(target.parent)!r}"
        )
    try:
        # Closing a descriptor drops all locks that the process has on the file (POSIX), those of SQLite too.
        # This file was not there before, so that SQLite has none on it.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, _MODE))
        sync_folder(target.parent)
    except FileExistsError:
        if target.is_dir():
            raise StoreError("is a folder", path=path, hint="pass a file") from None
    except OSError as error:
        allow = "let the user of this process write to the folder of the file"
        hint = "pass a file in a folder that can be written to"
        raise system_error(error, path, "cannot be created", allow=allow, hint=hint) from error


def open_connection(
    path: Path, format: SqliteFormat, until: float, synchronous: Synchronous = "FULL"
) -> sqlite3.Connection:
    """Open a file that exists, and create its tables where it is empty.

    The connection may be used by one thread at a time. It waits for other processes until a time of
    `time.monotonic()`. SQLite's `busy_timeout` would not do: where another process writes, it refuses to set
    the journal mode at once.

    Raises:
        StoreFormatError: it has another version of the format.
        ForeignFileError: it holds something else.
        UnsafeFileError: every user can write it, or it is a link out of its folder.
        sqlite3.Error: it cannot be opened, or another process holds it for too long.
    """
    require_own_place(path)
    database = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        while True:
            try:
                _prepare(database, format, path)
                _set_synchronous(database, synchronous)
                database.execute("PRAGMA secure_delete = ON")  # by default in some builds of SQLite only
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() >= until:
                    raise
                time.sleep(_RETRY_S)
            else:
                return database
    except BaseException:
        database.close()
        raise


def in_transaction(database: sqlite3.Connection, begin: str, step: Callable[[sqlite3.Connection], T]) -> T:
    """Run the step in a transaction and return its value; it is rolled back when the step raises."""
    database.execute(begin)
    try:
        result = step(database)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # SQLite has rolled back by itself after some errors
            database.execute("ROLLBACK")
        raise
    return result


def _prepare(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> None:
    """Convert the file to its format; a file of another kind stays unchanged."""
    is_done = in_transaction(database, "BEGIN", partial(is_ready, format=format, path=path))
    if not is_done and format.is_shrinking:
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before anything is written to the file
    database.execute("PRAGMA journal_mode = WAL")
    if not is_done:
        # A loss of power may take the whole write-ahead log. What says which file it is does not go with it.
        _set_synchronous(database, "FULL")
        in_transaction(database, "BEGIN IMMEDIATE", partial(create_tables, format=format, path=path))
        database.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _set_synchronous(database: sqlite3.Connection, synchronous: Synchronous) -> None:
    """Set what a commit survives. On macOS a disk writes its cache only for a full sync."""
    database.execute(f"PRAGMA synchronous = {synchronous}")
    for sync in ("fullfsync", "checkpoint_fullfsync"):  # no effect on other systems
        database.execute(f"PRAGMA {sync} = {synchronous == 'FULL'}")


class SqliteTransaction:
    """A `Transaction` whose methods are done when they return."""

    __slots__ = ("_database",)

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(sql, values).fetchall()
        except UnicodeEncodeError:
            return []

    locked = rows  # a transaction of SQLite that writes is the only one

    async def change(self, sql: str, *values: Any) -> int:
        return self._database.execute(sql, values).rowcount


def on_connection(step: Step[T]) -> Callable[[sqlite3.Connection], T]:
    """Return the function that runs a step to its end within a transaction of the caller."""

    def run(database: sqlite3.Connection) -> T:
        running = step(SqliteTransaction(database))
        try:
            running.send(None)
        except StopIteration as done:
            value: T = done.value
            return value
        running.close()
        raise RuntimeError("a step of a store awaited something other than its transaction")

    return run
