"""State in a SQLite file, shared by all processes that have it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from toolgen.contract.fields import Json

from .state import Change, Scope, applied

_BUSY_S: Final = 10.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS state (
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (scope, owner)
) STRICT
"""


class SqliteStateStore:
    """Keeps one JSON document an owner; changes are made on what is stored now, in one transaction."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        with closing(self._connect()) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(_SCHEMA)

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        return await asyncio.to_thread(self._load, scope, owner)

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        return await asyncio.to_thread(self._load_each, places)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        await asyncio.to_thread(self._apply, scope, owner, changes)

    def _load(self, scope: Scope, owner: str) -> dict[str, Json]:
        with closing(self._connect()) as database:
            return _document(database, scope, owner)

    def _load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        with closing(self._connect()) as database:
            return [_document(database, scope, owner) for scope, owner in places]

    def _apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        with closing(self._connect()) as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                document = json.dumps(applied(_document(database, scope, owner), changes))
                database.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", (scope, owner, document))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)


def _document(database: sqlite3.Connection, scope: Scope, owner: str) -> dict[str, Json]:
    row = database.execute(
        "SELECT document FROM state WHERE scope = ? AND owner = ?", (scope, owner)
    ).fetchone()
    document: dict[str, Json] = json.loads(row[0]) if row else {}
    return document
