"""Artifacts in PostgreSQL."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, LiteralString

from toolgen.contract.json_value import Json
from toolgen.runtime.capabilities import ArtifactInfo, StoredArtifact
from toolgen.runtime.capabilities.artifacts import too_many_bytes

from .database import Connection, Postgres
from .rows import rows

_INFO: Final = "SELECT name, version, media_type, octet_length(data), metadata"
_VERSION: Final = "SELECT coalesce(max(version), 0) + 1 FROM toolgen.artifact WHERE owner = %s AND name = %s"
_SIZE: Final = "SELECT coalesce(sum(octet_length(data)), 0) FROM toolgen.artifact WHERE owner = %s"
_OWNER: Final = """
    INSERT INTO toolgen.artifact_owner VALUES (%s, %s)
    ON CONFLICT (owner) DO UPDATE SET saved_at = excluded.saved_at
"""


class PostgresArtifactStore:
    """Keeps each version in one row; writers of one owner come one after the other."""

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970."""
        self.database = database
        self._clock = clock

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        facts, now = json.dumps(dict(metadata)), self._clock()

        async def step(connection: Connection) -> int:
            await connection.execute(_OWNER, (owner, now))  # locks the owner
            ((size,),) = await rows(connection, _SIZE, (owner,))
            if size + len(data) > most:
                raise too_many_bytes(most)
            ((version,),) = await rows(connection, _VERSION, (owner, name))
            await connection.execute(
                "INSERT INTO toolgen.artifact VALUES (%s, %s, %s, %s, %s, %s)",
                (owner, name, version, media_type, facts, bytes(data)),
            )
            return int(version)

        return await self.database.write(step)

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        query = f"{_INFO}, data FROM toolgen.artifact WHERE owner = %s AND name = %s"
        if version is None:
            found = await self._rows(f"{query} ORDER BY version DESC LIMIT 1", (owner, name))
        else:
            found = await self._rows(f"{query} AND version = %s", (owner, name, version))
        return StoredArtifact(info=_info(found[0]), data=found[0][5]) if found else None

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        if name is not None:
            query = f"{_INFO} FROM toolgen.artifact WHERE owner = %s AND name = %s ORDER BY version"
            return tuple(map(_info, await self._rows(query, (owner, name))))
        newest = _INFO.replace("SELECT", "SELECT DISTINCT ON (name)", 1)
        query = f"{newest} FROM toolgen.artifact WHERE owner = %s ORDER BY name, version DESC"
        return tuple(map(_info, await self._rows(query, (owner,))))

    async def forget(self, owner: str, before: float | None = None) -> int:
        # "0" is the character after "/".
        of: LiteralString = "owner = %s"
        values: tuple[str, ...] = (owner,)
        if owner.endswith("/"):
            of, values = "owner >= %s AND owner < %s", (owner, f"{owner[:-1]}0")

        async def step(connection: Connection) -> int:
            query = f"DELETE FROM toolgen.artifact_owner WHERE {of}"
            if before is None:
                gone = await rows(connection, f"{query} RETURNING owner", values)
            else:
                gone = await rows(
                    connection, f"{query} AND saved_at < %s RETURNING owner", (*values, float(before))
                )
            query = "DELETE FROM toolgen.artifact WHERE owner = ANY(%s)"
            return (await connection.execute(query, ([row[0] for row in gone],))).rowcount

        return await self.database.write(step, may_repeat=True)

    async def _rows(self, query: LiteralString, values: tuple[Any, ...]) -> list[Any]:
        async def step(connection: Connection) -> list[Any]:
            return await rows(connection, query, values)

        return await self.database.read(step)


def _info(row: Any) -> ArtifactInfo:
    name, version, media_type, size, metadata = row[:5]
    return ArtifactInfo(
        name=name, version=version, media_type=media_type, size=size, metadata=json.loads(metadata)
    )
