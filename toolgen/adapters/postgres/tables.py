"""The tables of the schema `toolgen`, and their format number.

They have the same statements as SQLite, with types of PostgreSQL. Text is compared by code points (`COLLATE
"C"`), and JSON is stored as the original ASCII text, which preserves numbers and lone surrogates.
"""

from __future__ import annotations

import re
from typing import Final

from toolgen.capabilities.artifacts_stores import ARTIFACTS
from toolgen.capabilities.credential_tables import CREDENTIALS
from toolgen.capabilities.state_tables import STATE
from toolgen.stores import StoreFormatError
from toolgen.stores.session_tables import SESSION_TABLES

from .connection import PostgresConnection

_LOCK: Final = 0x746F6F6C67656E
"""Key of the advisory lock for creating the tables: "toolgen"."""
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
FORMAT: Final = 6
"""Format number of the schema, and the only one that is read; increase it if the statements change."""
_STATEMENTS: Final = (
    *SESSION_TABLES,
    *STATE.statements,
    *ARTIFACTS.statements,
    *_EVENTS,
    *_PAYLOADS,
    *CREDENTIALS.statements,
)
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


async def create_tables(connection: PostgresConnection, server: str) -> None:
    """Create the tables in a database that lacks them, in a transaction of the caller.

    If several processes do so concurrently, the first one creates the tables.

    Raises:
        StoreFormatError: The schema has another format.
    """
    if await _is_ready(connection, server):
        return
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if await _is_ready(connection, server):  # another process was faster
        return
    cursor = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'toolgen'")
    if await cursor.fetchone() is None:
        await connection.execute("CREATE SCHEMA toolgen")
    await connection.execute(b";".join(map(_definition, _STATEMENTS)))
    await connection.execute(
        "CREATE TABLE toolgen.migration"
        " (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    await connection.execute("INSERT INTO toolgen.migration (number) VALUES (%s)", (FORMAT,))


async def _is_ready(connection: PostgresConnection, server: str) -> bool:
    """Return whether the schema has the tables; False if it has none.

    Raises:
        StoreFormatError: The schema has another format.
    """
    # Query the catalog tables, which are always current; to_regclass can answer from a cache.
    cursor = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'toolgen'")
    tables = {str(name) for (name,) in await cursor.fetchall()}
    if not tables:
        return False
    number = None
    if "migration" in tables:
        cursor = await connection.execute("SELECT max(number) FROM toolgen.migration")
        [(number,)] = await cursor.fetchall()
    if number != FORMAT:
        raise StoreFormatError(
            f"has the schema toolgen in format {number}, and this toolgen reads format {FORMAT}",
            server=server,
            hint="use the version of toolgen that wrote it, or another database",
        )
    return True


def _definition(statement: str) -> bytes:
    """Convert a statement that defines or fills an SQLite table to the schema of PostgreSQL."""
    typed = _TYPE.sub(lambda match: _TYPES[match[0]], statement)
    return _TABLE.sub(r"\1 toolgen.", typed).encode()
