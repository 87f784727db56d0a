"""Artifacts in a SQLite file, shared by all processes that have it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from toolgen.contract.fields import Json

from .artifacts import ArtifactInfo, StoredArtifact, too_many_bytes

_BUSY_S: Final = 10.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS artifact (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    metadata TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (owner, name, version)
) STRICT
"""
_INFO: Final = "SELECT name, version, media_type, length(data), metadata FROM artifact"


class SqliteArtifactStore:
    """Keeps each version in one row."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        with closing(self._connect()) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(_SCHEMA)

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        facts = json.dumps(dict(metadata))
        return await asyncio.to_thread(self._save, owner, name, data, media_type, facts, most)

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        newest = "ORDER BY version DESC LIMIT 1" if version is None else "AND version = ?"
        values = (owner, name) if version is None else (owner, name, version)
        query = f"{_INFO.replace(' FROM', ', data FROM')} WHERE owner = ? AND name = ? {newest}"
        rows = await asyncio.to_thread(self._rows, query, values)
        return StoredArtifact(info=_info(rows[0]), data=rows[0][5]) if rows else None

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        if name is not None:
            query = f"{_INFO} WHERE owner = ? AND name = ? ORDER BY version"
            rows = await asyncio.to_thread(self._rows, query, (owner, name))
        else:
            newest = "(SELECT max(version) FROM artifact AS other WHERE other.owner = artifact.owner AND "
            query = (
                f"{_INFO} WHERE owner = ? AND version = {newest} other.name = artifact.name) ORDER BY name"
            )
            rows = await asyncio.to_thread(self._rows, query, (owner,))
        return tuple(map(_info, rows))

    def _save(self, owner: str, name: str, data: bytes, media_type: str, metadata: str, most: int) -> int:
        with closing(self._connect()) as database:
            database.execute("BEGIN IMMEDIATE")
            with database:
                (size,) = database.execute(
                    "SELECT coalesce(sum(length(data)), 0) FROM artifact WHERE owner = ?", (owner,)
                ).fetchone()
                if size + len(data) > most:
                    raise too_many_bytes(most)
                (version,) = database.execute(
                    "SELECT coalesce(max(version), 0) + 1 FROM artifact WHERE owner = ? AND name = ?",
                    (owner, name),
                ).fetchone()
                database.execute(
                    "INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?)",
                    (owner, name, version, media_type, metadata, data),
                )
        return int(version)

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with closing(self._connect()) as database:
            return database.execute(query, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)


def _info(row: Any) -> ArtifactInfo:
    name, version, media_type, size, metadata = row[:5]
    return ArtifactInfo(
        name=name, version=version, media_type=media_type, size=size, metadata=json.loads(metadata)
    )
