"""State in tables of a store database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from toolgen.calls.state import Change, Scope, applied
from toolgen.contract.json_value import Json
from toolgen.stores.sqlite_file import FileStore, SqliteFile, SqliteMemory
from toolgen.stores.sqlite_format import SqliteFormat
from toolgen.stores.transactions import Database, Transaction

_TABLE: Final = """
CREATE TABLE state (
    scope TEXT NOT NULL,
    owner TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (scope, owner)
) STRICT
"""
STATE: Final = SqliteFormat(content="state", application_id=0x74675374, version=1, statements=(_TABLE,))
"""Its application_id is "tgSt"."""
_DOCUMENT: Final = "SELECT document FROM state WHERE scope = ? AND owner = ?"
_NEW: Final = "INSERT INTO state VALUES (?, ?, '{}') ON CONFLICT DO NOTHING"
_SET: Final = "UPDATE state SET document = ? WHERE scope = ? AND owner = ?"
_FORGET: Final = "DELETE FROM state WHERE scope = ? AND owner = ?"


class TableStateStore:
    """Stores one JSON document for each owner; changes apply to the stored version, in one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        (state,) = await self.load_each([(scope, owner)])
        return state

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        for _, owner in places:
            owner.encode()  # a lone surrogate fails here, not when changes are stored

        async def step(transaction: Transaction) -> Sequence[dict[str, Json]]:
            return [_values(await transaction.rows(_DOCUMENT, *place)) for place in places]

        return await self.database.read(step)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        async def step(transaction: Transaction) -> None:
            await transaction.change(_NEW, scope, owner)  # creates a row to lock
            values = _values(await transaction.locked(_DOCUMENT, scope, owner))
            await transaction.change(_SET, json.dumps(applied(values, changes)), scope, owner)

        await self.database.write(step)

    async def forget(self, scope: Scope, owner: str) -> int:
        return await self.database.write(
            lambda transaction: transaction.change(_FORGET, scope, owner), may_repeat=True
        )


class MemoryStateStore(TableStateStore):
    """Stores state in the memory of the process."""

    shared_instead: ClassVar = "PostgresStateStore(database)"

    def __init__(self) -> None:
        super().__init__(SqliteMemory(STATE))


class SqliteStateStore(FileStore, TableStateStore):
    """Stores state in a SQLite file, which several processes can share."""

    shared_instead: ClassVar = "PostgresStateStore(database)"

    def __init__(self, path: str | Path) -> None:
        """Open the file, or create it.

        Raises:
            StoreError: The file cannot be opened, or it is not a state file.
        """
        self._file = SqliteFile(path, STATE)
        super().__init__(self._file)


def _values(rows: Sequence[tuple[str]]) -> dict[str, Json]:
    """Return the values of an owner from its document, of which there is at most one row."""
    return json.loads(rows[0][0]) if rows else {}
