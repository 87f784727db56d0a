"""Artifacts in a SQLite file, shared by all processes that have it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from toolgen.contract.json_value import Json

from ..stores.sqlite_file import SqliteFile
from ..stores.sqlite_format import SqliteFormat
from .artifacts import ArtifactInfo, StoredArtifact, too_many_bytes

_TABLE: Final = """
CREATE TABLE artifact (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    metadata TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (owner, name, version)
) STRICT
"""
_FORMAT: Final = SqliteFormat(content="artifacts", application_id=0x74674172, version=1, tables=(_TABLE,))
"""Its application_id is "tgAr"."""
_TIMES: Final = """
CREATE TABLE IF NOT EXISTS artifact_owner (owner TEXT NOT NULL PRIMARY KEY, saved_at REAL NOT NULL) STRICT
"""
"""When each owner saved last, in seconds since 1970; created when it is needed, for files that have none."""
_INFO: Final = "SELECT name, version, media_type, length(data), metadata FROM artifact"


class SqliteArtifactStore:
    """Keeps each version in one row."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open the file, which is created where it is missing.

        Raises:
            StoreError: it cannot be opened, or it is something else than a file of artifacts.
        """
        self._file = SqliteFile(path, _FORMAT)
        self._clock = clock

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted; as `Vacuuming`."""
        await self._file.vacuum()

    def close(self) -> None:
        """Close the file now, not when the store is garbage collected."""
        self._file.close()

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        facts = json.dumps(dict(metadata))

        def step(database: sqlite3.Connection) -> int:
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
                (owner, name, version, media_type, facts, data),
            )
            database.execute(_TIMES)
            database.execute("INSERT OR REPLACE INTO artifact_owner VALUES (?, ?)", (owner, self._clock()))
            return int(version)

        return await self._file.write(step)

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        newest = "ORDER BY version DESC LIMIT 1" if version is None else "AND version = ?"
        values = (owner, name) if version is None else (owner, name, version)
        query = f"{_INFO.replace(' FROM', ', data FROM')} WHERE owner = ? AND name = ? {newest}"
        rows = await self._rows(query, values)
        return StoredArtifact(info=_info(rows[0]), data=rows[0][5]) if rows else None

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        if name is not None:
            query = f"{_INFO} WHERE owner = ? AND name = ? ORDER BY version"
            rows = await self._rows(query, (owner, name))
        else:
            newest = "(SELECT max(version) FROM artifact AS other WHERE other.owner = artifact.owner AND "
            query = (
                f"{_INFO} WHERE owner = ? AND version = {newest} other.name = artifact.name) ORDER BY name"
            )
            rows = await self._rows(query, (owner,))
        return tuple(map(_info, rows))

    async def forget(self, owner: str, before: float | None = None) -> int:
        is_begin = owner.endswith("/")  # "0" is the character after it
        of = "owner >= :owner AND owner < :end" if is_begin else "owner = :owner"
        values = {"owner": owner, "end": f"{owner[:-1]}0", "before": before}

        def step(database: sqlite3.Connection) -> int:
            database.execute(_TIMES)
            late = "(SELECT saved_at FROM artifact_owner AS one WHERE one.owner = artifact.owner)"
            where = f"{of} AND (:before IS NULL OR coalesce({late}, 0) < :before)"
            count = database.execute(f"DELETE FROM artifact WHERE {where}", values).rowcount
            where = f"{of} AND (:before IS NULL OR saved_at < :before)"
            database.execute(f"DELETE FROM artifact_owner WHERE {where}", values)
            return count

        return await self._file.write(step)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        return await self._file.read(lambda database: database.execute(query, values).fetchall())


def _info(row: Any) -> ArtifactInfo:
    name, version, media_type, size, metadata = row[:5]
    return ArtifactInfo(
        name=name, version=version, media_type=media_type, size=size, metadata=json.loads(metadata)
    )
