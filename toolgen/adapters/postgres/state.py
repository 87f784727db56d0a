"""State in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Sequence

from toolgen.contract.json_value import Json
from toolgen.runtime.capabilities import Change
from toolgen.runtime.capabilities.state import Scope, applied

from .database import Connection, Postgres


class PostgresStateStore:
    """Keeps one JSON document an owner; changes are made on what is stored now, in one transaction."""

    def __init__(self, database: Postgres) -> None:
        self.database = database

    async def load(self, scope: Scope, owner: str) -> dict[str, Json]:
        (found,) = await self.load_each([(scope, owner)])
        return found

    async def load_each(self, places: Sequence[tuple[Scope, str]]) -> Sequence[dict[str, Json]]:
        async def step(connection: Connection) -> list[dict[str, Json]]:
            return [await _document(connection, scope, owner) for scope, owner in places]

        return await self.database.read(step)

    async def apply(self, scope: Scope, owner: str, changes: Sequence[Change]) -> None:
        async def step(connection: Connection) -> None:
            await connection.execute(  # so that there is a row to lock
                "INSERT INTO toolgen.state VALUES (%s, %s, '{}') ON CONFLICT DO NOTHING", (scope, owner)
            )
            await connection.execute(
                "SELECT FROM toolgen.state WHERE scope = %s AND owner = %s FOR UPDATE", (scope, owner)
            )
            document = json.dumps(applied(await _document(connection, scope, owner), changes))
            await connection.execute(
                "UPDATE toolgen.state SET document = %s WHERE scope = %s AND owner = %s",
                (document, scope, owner),
            )

        await self.database.write(step)

    async def forget(self, scope: Scope, owner: str) -> int:
        async def step(connection: Connection) -> int:
            query = "DELETE FROM toolgen.state WHERE scope = %s AND owner = %s"
            return (await connection.execute(query, (scope, owner))).rowcount

        return await self.database.write(step, may_repeat=True)


async def _document(connection: Connection, scope: Scope, owner: str) -> dict[str, Json]:
    query = "SELECT document FROM toolgen.state WHERE scope = %s AND owner = %s"
    row = await (await connection.execute(query, (scope, owner))).fetchone()
    document: dict[str, Json] = json.loads(row[0]) if row else {}
    return document
