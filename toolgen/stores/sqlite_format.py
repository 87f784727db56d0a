"""The format of a store's SQLite file: its tables, and the marks that distinguish it from other files."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from toolgen.contract.record import frozen_record

from .errors import ForeignFileError, StoreFormatError


@frozen_record
class SqliteFormat:
    """The format of a file."""

    content: str
    """Name of the contents in the plural, for messages."""
    application_id: int
    """The `application_id` of the file (SQLite's database header, offset 68)."""
    version: int
    """The `user_version` of the file; no other version is read. Increase it with each change of the
    statements."""
    statements: tuple[str, ...]
    """Statements that create the tables in an empty file."""
    if_lost: str = "restart the process to begin with an empty one"
    """Action for messages if a file is missing and cannot be restored."""
    is_shrinking: bool = False
    """Whether a new file can return pages to its disk (SQLite's `auto_vacuum = INCREMENTAL`)."""


def is_ready(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> bool:
    """Return whether the file has the tables of the format; False if it is empty.

    Call it in a transaction, because another process may be creating the tables.

    Raises:
        StoreFormatError: it has another version of the format.
        ForeignFileError: it has other contents.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (size,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, size) == (0, 0, 0):
        return False
    if application != format.application_id:
        raise ForeignFileError(
            f"is a database with other contents than {format.content}",
            path=path,
            hint=f"use a separate file for the {format.content}",
        )
    if version != format.version:
        raise StoreFormatError(
            f"holds {format.content} in format {version}, and this toolgen reads format {format.version}",
            path=path,
            hint="use the version of toolgen that wrote it, or another file",
        )
    _require_tables(database, format, path)
    return True


def create_tables(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> None:
    """Create the tables in an empty file and mark it, within the caller's transaction.

    Raises:
        StoreFormatError: it has another version of the format.
        ForeignFileError: it has other contents.
    """
    if is_ready(database, format, path):
        return  # another process has created them meanwhile
    for statement in format.statements:
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {format.application_id}")
    database.execute(f"PRAGMA user_version = {format.version}")


def _require_tables(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> None:
    """Raise if a view replaces a table, possibly a recursive view, or if a table has a trigger.

    Raises:
        ForeignFileError: the file has such a view or trigger.
    """
    # The name of a table precedes the first parenthesis of its statement.
    tables = {statement.partition("(")[0].split()[-1] for statement in format.statements}
    for kind, name, table in database.execute(
        "SELECT type, name, tbl_name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ):
        if {str(name), str(table)} & tables:
            raise ForeignFileError(
                f"has the {kind} {name!r}, which does not belong to the store",
                path=path,
                hint="find out who changed the file, and restore it from a backup",
            )
