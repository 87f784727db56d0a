"""Suspensions in a SQLite file: they last for days, and any process that has the file may answer them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, TypeVar

from .suspension import Stored, Suspension

T = TypeVar("T")

_BUSY_S: Final = 10.0
"""How long one process waits for another to finish its step."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS suspension (
    token_hash TEXT PRIMARY KEY,
    frozen TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    answer_hash TEXT NOT NULL DEFAULT '',
    outcome BLOB
) STRICT
"""


class SqliteSuspensionStore:
    """Keeps suspensions in a file, made when it is missing. Each step is one transaction."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        with closing(self._connect()) as database, database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(_SCHEMA)

    async def put(self, token_hash: str, suspension: Suspension) -> None:
        row = (token_hash, suspension.as_json(), suspension.created_at, suspension.expires_at)

        def step(database: sqlite3.Connection) -> None:
            database.execute(
                "INSERT INTO suspension (token_hash, frozen, created_at, expires_at) VALUES (?, ?, ?, ?)", row
            )

        await self._do(step)

    async def get(self, token_hash: str) -> Stored | None:
        def step(database: sqlite3.Connection) -> tuple[str, str, bytes | None] | None:
            found: tuple[str, str, bytes | None] | None = database.execute(
                "SELECT frozen, answer_hash, outcome FROM suspension WHERE token_hash = ?", (token_hash,)
            ).fetchone()
            return found

        row = await self._do(step)
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

        return await self._do(step)

    async def finish(self, token_hash: str, outcome: bytes) -> None:
        def step(database: sqlite3.Connection) -> None:
            database.execute("UPDATE suspension SET outcome = ? WHERE token_hash = ?", (outcome, token_hash))

        await self._do(step)

    async def waiting(self) -> tuple[Suspension, ...]:
        def step(database: sqlite3.Connection) -> list[tuple[str]]:
            return database.execute(
                "SELECT frozen FROM suspension WHERE answer_hash = '' ORDER BY created_at, token_hash"
            ).fetchall()

        found = []
        for (frozen,) in await self._do(step):
            with suppress(ValueError):  # a row that is none is no reason to hide the others
                found.append(Suspension.from_json(frozen))
        return tuple(found)

    async def forget(self, before: float) -> int:
        def step(database: sqlite3.Connection) -> int:
            return database.execute("DELETE FROM suspension WHERE expires_at < ?", (before,)).rowcount

        return await self._do(step)

    async def _do(self, step: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._transaction, step)

    def _transaction(self, step: Callable[[sqlite3.Connection], T]) -> T:
        with closing(self._connect()) as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                return step(database)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
