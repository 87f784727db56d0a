"""One connection to a store file: how the file is created and opened; transactions and their steps."""

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
"""Mode of a new file: only its owner can access it. SQLite gives the files beside it the same mode."""
_RETRY_S: Final = 0.005


def create_file(path: Path) -> None:
    """Create an empty file, which SQLite treats as an empty database, unless the file exists.

    Raises:
        StoreMissingError: its folder does not exist.
        UnsafeFileError: every user can write it, or it is a link out of its folder.
        StoreError: it is a folder, or it cannot be created.
    """
    require_own_place(path)
    target = Path(os.path.realpath(path))  # a link can name a file that must be created
    if not target.parent.is_dir():
        raise StoreMissingError(
            "is in a folder that does not exist", path=path, hint=f"create the folder {str(target.parent)!r}"
        )
    try:
        # Closing a descriptor drops all locks that the process has on the file (POSIX), even SQLite's locks.
        # This file did not exist before, so SQLite has no locks on it.
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
    """Open an existing file, and create its tables if it is empty.

    One thread at a time can use the connection. Opening waits for other processes until `until`, by
    `time.monotonic()`. SQLite's `busy_timeout` is not sufficient: while another process writes, SQLite
    immediately refuses to set the journal mode.

    Raises:
        StoreFormatError: it has another version of the format.
        ForeignFileError: it has other contents.
        UnsafeFileError: every user can write it, or it is a link out of its folder.
        sqlite3.Error: it cannot be opened, or another process locks it for too long.
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
                database.execute("PRAGMA secure_delete = ON")  # the default only in some builds of SQLite
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
    """Run the step in a transaction and return its value; roll back if the step raises."""
    database.execute(begin)
    try:
        result = step(database)
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # after some errors, SQLite rolls back on its own
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
        # A power failure can lose the whole write-ahead log. The marks that identify the file must survive
        # it.
        _set_synchronous(database, "FULL")
        in_transaction(database, "BEGIN IMMEDIATE", partial(create_tables, format=format, path=path))
        database.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _set_synchronous(database: sqlite3.Connection, synchronous: Synchronous) -> None:
    """Set the durability of a commit. On macOS, a disk writes its cache only for a full sync."""
    database.execute(f"PRAGMA synchronous = {synchronous}")
    for sync in ("fullfsync", "checkpoint_fullfsync"):  # no effect on other systems
        database.execute(f"PRAGMA {sync} = {synchronous == 'FULL'}")


class SqliteTransaction:
    """A `Transaction` whose methods are complete when they return."""

    __slots__ = ("_database",)

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(sql, values).fetchall()
        except UnicodeEncodeError:
            return []

    locked = rows  # a writing SQLite transaction is always the only one

    async def change(self, sql: str, *values: Any) -> int:
        return self._database.execute(sql, values).rowcount


def on_connection(step: Step[T]) -> Callable[[sqlite3.Connection], T]:
    """Return the function that runs a step to its end within the caller's transaction."""

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
