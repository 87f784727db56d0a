"""Suspensions in a SQLite file: they last for days, and any process that has the file may answer them."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..stores.sqlite_file import SqliteFile
from ..stores.sqlite_format import SqliteFormat
from .suspension import Stored, Suspension

_TABLE: Final = """
CREATE TABLE suspension (
    token_hash TEXT PRIMARY KEY,
    frozen TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    answer_hash TEXT NOT NULL DEFAULT '',
    outcome BLOB
) STRICT
"""
_FORMAT: Final = SqliteFormat(content="suspensions", application_id=0x74675375, version=1, tables=(_TABLE,))
"""Its application_id is "tgSu"."""


class SqliteSuspensionStore:
    """Keeps suspensions in a file, made when it is missing. Each step is one transaction."""

    def __init__(self, path: str | Path) -> None:
        """Open the file.

        Raises:
            StoreError: it cannot be opened, or it is something else than a file of suspensions.
        """
        self._file = SqliteFile(path, _FORMAT)

    def close(self) -> None:
        """Close the file now, not when nobody has the store any more."""
        self._file.close()

    async def put(self, token_hash: str, suspension: Suspension) -> None:
        row = (token_hash, suspension.as_json(), suspension.created_at, suspension.expires_at)

        def step(database: sqlite3.Connection) -> None:
            database.execute(
                "INSERT INTO suspension (token_hash, frozen, created_at, expires_at) VALUES (?, ?, ?, ?)", row
            )

        await self._file.write(step)

    async def get(self, token_hash: str) -> Stored | None:
        def step(database: sqlite3.Connection) -> tuple[str, str, bytes | None] | None:
            found: tuple[str, str, bytes | None] | None = database.execute(
                "SELECT frozen, answer_hash, outcome FROM suspension WHERE token_hash = ?", (token_hash,)
            ).fetchone()
            return found

        row = await self._file.read(step)
        if row is None:
            return None
        frozen, answer_hash, outcome = row
        return Stored(suspension=Suspension.from_json(frozen), answer_hash=answer_hash, outcome=outcome)

    async def claim(self, token_hash: str, answer_hash: str) -> bool:
        def step(database: sqlite3.Connection) -> bool:
            done = database.execute(
                "UPDATE suspension SET answer_hash = ? WHERE token_hash = ? AND answer_hash = ''",
                (answer_hash, token_hash),
            )
            return done.rowcount == 1

        return await self._file.write(step)

    async def finish(self, token_hash: str, outcome: bytes) -> None:
        def step(database: sqlite3.Connection) -> None:
            database.execute("UPDATE suspension SET outcome = ? WHERE token_hash = ?", (outcome, token_hash))

        await self._file.write(step)

    async def waiting(self) -> tuple[Suspension, ...]:
        def step(database: sqlite3.Connection) -> list[tuple[str]]:
            return database.execute(
                "SELECT frozen FROM suspension WHERE answer_hash = '' ORDER BY created_at, token_hash"
            ).fetchall()

        found = []
        for (frozen,) in await self._file.read(step):
            with suppress(ValueError):  # a row that is none is no reason to hide the others
                found.append(Suspension.from_json(frozen))
        return tuple(found)

    async def forget(self, before: float) -> int:
        def step(database: sqlite3.Connection) -> int:
            return database.execute("DELETE FROM suspension WHERE expires_at < ?", (before,)).rowcount

        return await self._file.write(step)
