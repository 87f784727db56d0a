"""State in a SQLite file, shared by all processes that have it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from toolgen.contract.json_value import Json

from ..stores.sqlite_file import SqliteFile
from ..stores.sqlite_format import SqliteFormat
from .state import Change, Scope, applied

_TABLE: Final = """
CREATE TABLE state (
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (scope, owner)
) STRICT
"""
_FORMAT: Final = SqliteFormat(content="state", application_id=0x74675374, version=1, tables=(_TABLE,))
"""Its application_id is "tgSt"."""


class SqliteStateStore:
    """Keeps one JSON document an owner; changes are made on what is stored now, in one transaction."""

    shared_instead: ClassVar = "PostgresStateStore(database)"

    def __init__(self, path: str | Path) -> None:
        """Open the file, which is created where it is missing.

        Raises:
            StoreError: it cannot be opened, or it is something else than a file of state.
        """
        self._file = SqliteFile(path, _FORMAT)

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted; as `Vacuuming`."""
        await self._file.vacuum()

    def close(self) -> None:
        """Close the file now, not when the store is garbage collected."""
        self._file.close()

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        return await self._file.read(lambda database: _document(database, scope, owner))

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        def step(database: sqlite3.Connection) -> Sequence[dict[str, Json]]:
            return [_document(database, scope, owner) for scope, owner in places]

        return await self._file.read(step)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        def step(database: sqlite3.Connection) -> None:
            document = json.dumps(applied(_document(database, scope, owner), changes))
            database.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", (scope, owner, document))

        await self._file.write(step)

    async def forget(self, scope: Scope, owner: str) -> int:
        query = "DELETE FROM state WHERE scope = ? AND owner = ?"
        return await self._file.write(lambda database: database.execute(query, (scope, owner)).rowcount)


def _document(database: sqlite3.Connection, scope: Scope, owner: str) -> dict[str, Json]:
    row = database.execute(
        "SELECT document FROM state WHERE scope = ? AND owner = ?", (scope, owner)
    ).fetchone()
    document: dict[str, Json] = json.loads(row[0]) if row else {}
    return document
