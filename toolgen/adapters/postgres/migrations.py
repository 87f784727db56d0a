"""The tables of the schema `toolgen`, as numbered migrations; each is applied once, and none is undone.

A released migration never changes. The tables are those of SQLite, in the same statements, with the types of
PostgreSQL. All text is compared by code points (`COLLATE "C"`), and JSON is stored as the ASCII text that was
written, which keeps numbers and lone surrogates as they are.
"""

from __future__ import annotations

import re
from typing import Final, LiteralString

from toolgen.capabilities.artifacts_stores import ARTIFACTS
from toolgen.capabilities.credential_tables import CREDENTIALS
from toolgen.capabilities.state_tables import STATE
from toolgen.stores import StoreFormatError
from toolgen.stores.session_tables import SESSION_MIGRATIONS

from .connection import Connection

_LOCK: Final = 0x746F6F6C67656E
"""Key of the advisory lock of migrations: "toolgen"."""
_EVENTS: Final = (
    """
    CREATE TABLE event (
        number INTEGER PRIMARY KEY,
        writer TEXT NOT NULL,
        place INTEGER NOT NULL,
        run_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        type TEXT NOT NULL,
        time REAL NOT NULL,
        document TEXT NOT NULL,
        UNIQUE (writer, place)
    ) STRICT
    """,
    "CREATE INDEX event_of_run ON event (run_id, number)",
    "CREATE INDEX event_of_session ON event (session_id, number)",
    "CREATE INDEX event_by_age ON event (time)",
)
_PAYLOADS: Final = (
    """
    CREATE TABLE payload (
        digest BLOB NOT NULL,
        session_id TEXT NOT NULL,
        created_at REAL NOT NULL,
        last_used REAL NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (digest, session_id)
    ) STRICT
    """,
    "CREATE INDEX payload_of_session ON payload (session_id)",
    "CREATE INDEX payload_by_use ON payload (last_used)",
)
_HEARD: Final = ("ALTER TABLE spoken ADD COLUMN is_heard boolean NOT NULL DEFAULT false",)
"""A column of earlier versions, which said whether it was heard; now `messages` of `[]` do, as then."""
MIGRATIONS: Final = (
    (
        *SESSION_MIGRATIONS[0],
        *SESSION_MIGRATIONS[1],
        *STATE.migrations[0],
        *ARTIFACTS.migrations[0],
        *ARTIFACTS.migrations[1],
        *_EVENTS,
    ),
    _PAYLOADS,
    _HEARD,
    CREDENTIALS.migrations[0],
)
"""The migrations; the first has the number 1."""
_TYPES: Final = {
    "INTEGER PRIMARY KEY": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "is_durable INTEGER": "is_durable boolean",
    "INTEGER": "bigint",
    "TEXT": 'text COLLATE "C"',
    "REAL": "float8",
    "BLOB": "bytea",
    "STRICT": "",
}
_TYPE: Final = re.compile("|".join(_TYPES))
_TABLE: Final = re.compile(r"\b(TABLE|EXISTS|ON|INTO|FROM) (?=[a-z])")


async def migrate(connection: Connection, server: str) -> None:
    """Bring the schema to the newest migration, in a transaction of the caller.

    Processes that do so at once come one after the other.

    Raises:
        StoreFormatError: a later version of toolgen has migrated it.
    """
    if await _number(connection, server) == len(MIGRATIONS):
        return
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    done = await _number(connection, server)  # another process may have been faster
    if done == 0:
        if not await _exists(connection, "SELECT 1 FROM pg_namespace WHERE nspname = 'toolgen'"):
            await connection.execute("CREATE SCHEMA toolgen")
        await connection.execute(
            "CREATE TABLE toolgen.migration"
            " (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
    for number, statements in enumerate(MIGRATIONS[done:], done + 1):
        await connection.execute(b";".join(map(_definition, statements)))
        await connection.execute("INSERT INTO toolgen.migration (number) VALUES (%s)", (number,))


async def _number(connection: Connection, server: str) -> int:
    """Return the number of the newest applied migration; 0 where there is none.

    Raises:
        StoreFormatError: it is later than those of this version.
    """
    # By the tables of the catalog, whose rows are read anew; to_regclass may answer from a cache.
    query = "SELECT 1 FROM pg_tables WHERE schemaname = 'toolgen' AND tablename = 'migration'"
    if not await _exists(connection, query):
        return 0
    cursor = await connection.execute("SELECT coalesce(max(number), 0) FROM toolgen.migration")
    row = await cursor.fetchone()
    assert row is not None  # an aggregate has one row
    number = int(row[0])
    if number > len(MIGRATIONS):
        raise StoreFormatError(
            f"has the schema toolgen at migration {number}, and this toolgen knows {len(MIGRATIONS)}",
            server=server,
            hint="upgrade toolgen here, or name another database",
        )
    return number


async def _exists(connection: Connection, query: LiteralString) -> bool:
    return await (await connection.execute(query)).fetchone() is not None


def _definition(statement: str) -> bytes:
    """Return a statement that defines a table of SQLite, or fills it, as one of the schema."""
    typed = _TYPE.sub(lambda match: _TYPES[match[0]], statement)
    return _TABLE.sub(r"\1 toolgen.", typed).encode()
