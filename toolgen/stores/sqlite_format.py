"""The format of a SQLite file of a store: its tables, and the marks that tell it from other files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain
from pathlib import Path

from toolgen.contract.record import frozen_record

from .errors import ForeignFileError, StoreFormatError


@frozen_record
class SqliteFormat:
    """The format of a file."""

    content: str
    """What is kept, in the plural; messages name it."""
    application_id: int
    """The `application_id` of the file (SQLite's database header, offset 68)."""
    migrations: tuple[tuple[str, ...], ...]
    """Statements that bring a file of the version before to each version; an empty one to 1."""
    if_lost: str = "restart the process to begin with an empty one"
    """What to do where a file is gone that nobody can restore; for messages."""
    is_shrinking: bool = False
    """A new file can give pages back to its disk (SQLite's `auto_vacuum = INCREMENTAL`)."""

    @property
    def version(self) -> int:
        """The newest `user_version` of the file; another one means other tables."""
        return len(self.migrations)

    def statements(self, *, after: int = 0, upto: int | None = None) -> list[str]:
        """Return the statements that bring a file of one version to another one; all of them by default."""
        return list(chain.from_iterable(self.migrations[after:upto]))


def is_ready(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> bool:
    """Return whether the file has the tables of the format.

    It has not when it holds nothing yet, or is of an earlier version. To be called in a transaction, since
    another process may be creating the tables.

    Raises:
        StoreFormatError: it has a later version of the format.
        ForeignFileError: it holds something else.
    """
    return _version_of(database, format, path) == format.version


def create_tables(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> None:
    """Create the tables that the file lacks and mark it, within the transaction of the caller.

    A file that had tables and no marks stays without: other stores may have theirs in it.

    Raises:
        StoreFormatError: it has a later version of the format.
        ForeignFileError: it holds something else.
    """
    version = _version_of(database, format, path)
    if version == format.version:
        return  # another process was faster
    (application,) = database.execute("PRAGMA application_id").fetchone()
    for statement in format.statements(after=version):
        database.execute(statement)
    if version and not application:
        return
    database.execute(f"PRAGMA application_id = {format.application_id}")
    database.execute(f"PRAGMA user_version = {format.version}")


def _version_of(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> int:
    """Return the version of the format that the file has; 0 for one that holds nothing yet.

    Files without marks were of version 1, written before their store marked them; their tables tell what
    they are.

    Raises:
        StoreFormatError: it has a later version of the format.
        ForeignFileError: it holds something else.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application == format.application_id and 1 <= version <= format.version:
        _require_tables(database, format, path)
        return int(version)
    if application == format.application_id:
        raise StoreFormatError(
            f"holds {format.content} in format {version}, and this toolgen reads {format.version}",
            path=path,
            hint="use the version of toolgen that wrote it, or another file",
        )
    schema = _schema(database)
    if (application, version) == (0, 0):
        if not schema:
            return 0
        versions = range(format.version, 0, -1)
        earlier = next((version for version in versions if _tables_of(format, version) <= schema), 0)
        if earlier:
            return earlier
    raise ForeignFileError(
        f"is a database of something else than {format.content}",
        path=path,
        hint=f"give the {format.content} a file of their own",
    )


def _require_tables(database: sqlite3.Connection, format: SqliteFormat, path: Path) -> None:
    """Raise where a view stands in the place of a table, maybe without end, or a trigger is on one.

    Raises:
        ForeignFileError: as said.
    """
    # The name of a table stands before the first parenthesis of its statement.
    tables = {statement.partition("(")[0].split()[-1] for statement in format.statements()}
    for kind, name, table in database.execute(
        "SELECT type, name, tbl_name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ):
        if {str(name), str(table)} & tables:
            raise ForeignFileError(
                f"has the {kind} {name!r}, which is not of the store",
                path=path,
                hint="find out who has changed the file, and restore it from a backup",
            )


def _tables_of(format: SqliteFormat, version: int) -> set[tuple[str, str]]:
    """Return the tables and indexes of a version."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in format.statements(upto=version):
            database.execute(statement)
        return _schema(database)


def _schema(database: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return the names and statements of tables and indexes; white space in a statement does not matter."""
    rows = database.execute("SELECT name, sql FROM sqlite_master").fetchall()
    return {(name, " ".join((statement or "").split())) for name, statement in rows}
