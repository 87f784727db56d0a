"""The tables of the schema `toolgen`, as numbered migrations; each is applied once, and none is undone.

A released migration never changes. All text is compared by code points (`COLLATE "C"`), and JSON is stored as
the ASCII text that was written, which keeps numbers and lone surrogates as they are.
"""

from __future__ import annotations

from typing import Final, LiteralString

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from toolgen.runtime.stores import StoreFormatError

_LOCK: Final = 0x746F6F6C67656E
"""Key of the advisory lock of migrations: "toolgen"."""
_SESSIONS: Final = """
    CREATE TABLE toolgen.session (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        agent text COLLATE "C" NOT NULL,
        created_at float8 NOT NULL,
        ended_at float8,
        labels text NOT NULL,
        summary text,
        summary_through text COLLATE "C"
    );
    CREATE INDEX session_by_age ON toolgen.session (created_at, number);
    CREATE TABLE toolgen.turn (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL UNIQUE,
        turn_id text COLLATE "C" NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        started_at float8 NOT NULL
    );
    CREATE INDEX turn_of_session ON toolgen.turn (session_id, number);
    CREATE TABLE toolgen.message (
        run_id text COLLATE "C" NOT NULL,
        step bigint NOT NULL,
        written_at float8 NOT NULL,
        messages text NOT NULL,
        PRIMARY KEY (run_id, step)
    );
    CREATE TABLE toolgen.answer (
        run_id text COLLATE "C" NOT NULL,
        call_id text COLLATE "C" NOT NULL,
        written_at float8 NOT NULL,
        messages text NOT NULL,
        PRIMARY KEY (run_id, call_id)
    );
    CREATE TABLE toolgen.spoken (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        written_at float8 NOT NULL,
        messages text NOT NULL,
        UNIQUE (run_id, id)
    );
    CREATE TABLE toolgen.engine (
        id text COLLATE "C" PRIMARY KEY,
        is_durable boolean NOT NULL,
        alive_until float8 NOT NULL
    );
    CREATE TABLE toolgen.active (
        session_id text COLLATE "C" PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL,
        engine_id text COLLATE "C" NOT NULL,
        taken_at float8 NOT NULL
    );
"""
_STATE: Final = """
    CREATE TABLE toolgen.state (
        scope text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        document text NOT NULL,
        PRIMARY KEY (scope, owner)
    );
"""
_ARTIFACTS: Final = """
    CREATE TABLE toolgen.artifact_owner (
        owner text COLLATE "C" PRIMARY KEY,
        saved_at float8 NOT NULL
    );
    CREATE TABLE toolgen.artifact (
        owner text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        media_type text NOT NULL,
        metadata text NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (owner, name, version)
    );
"""
_EVENTS: Final = """
    CREATE TABLE toolgen.event (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        writer text NOT NULL,
        place bigint NOT NULL,
        run_id text COLLATE "C" NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        type text NOT NULL,
        time float8 NOT NULL,
        document text NOT NULL,
        UNIQUE (writer, place)
    );
    CREATE INDEX event_of_run ON toolgen.event (run_id, number);
    CREATE INDEX event_of_session ON toolgen.event (session_id, number);
    CREATE INDEX event_by_age ON toolgen.event (time);
"""
_PAYLOADS: Final = """
    CREATE TABLE toolgen.payload (
        digest bytea NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        created_at float8 NOT NULL,
        last_used float8 NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (digest, session_id)
    );
    CREATE INDEX payload_of_session ON toolgen.payload (session_id);
    CREATE INDEX payload_by_use ON toolgen.payload (last_used);
"""
_HEARD: Final = "ALTER TABLE toolgen.spoken ADD COLUMN is_heard boolean NOT NULL DEFAULT false"
MIGRATIONS: Final = (f"{_SESSIONS}{_STATE}{_ARTIFACTS}{_EVENTS}", _PAYLOADS, _HEARD)
"""By number, from 1."""


async def migrate(connection: AsyncConnection[TupleRow], server: str) -> None:
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
        await connection.execute(statements.encode())
        await connection.execute("INSERT INTO toolgen.migration (number) VALUES (%s)", (number,))


async def _number(connection: AsyncConnection[TupleRow], server: str) -> int:
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


async def _exists(connection: AsyncConnection[TupleRow], query: LiteralString) -> bool:
    return await (await connection.execute(query)).fetchone() is not None
