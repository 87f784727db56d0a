"""The tables of the schema: refused in another format, created at once, and over connections that break."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import psycopg
import pytest

from tests.conformance.postgres.test_database import break_commit, count, nothing
from tests.conftest import surroundings
from toolgen.adapters.postgres import Postgres, PostgresSessionStore, PostgresStateStore
from toolgen.adapters.postgres.tables import FORMAT
from toolgen.capabilities import Change
from toolgen.stores import StoreFormatError

RACE = textwrap.dedent(
    """
    import asyncio, sys
    from tests.runtime.session_stores import HELLO, turn
    from toolgen.adapters.postgres import Postgres, PostgresSessionStore
    from toolgen.agents import EngineLease

    async def main(conninfo, name):
        print("ready", flush=True)
        input()
        async with Postgres(conninfo) as database:
            store = PostgresSessionStore(database)
            await store.create("s", "a")
            lease = EngineLease(engine_id=name, is_durable=True, seconds=60)
            print((await store.take(turn(f"run-{name}"), lease, [HELLO])).run_id)

    asyncio.run(main(*sys.argv[1:]))
    """
)


def test_processes_create_the_tables_at_once_and_one_gets_the_turn(conninfo: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, conninfo, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=surroundings(),
        )
        for name in "abc"
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        print(file=process.stdin, flush=True)
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(set(said)) == 1
    assert count(conninfo, b"SELECT count(*) FROM toolgen.turn") == 1
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == 1


@pytest.mark.parametrize("number", [*range(1, FORMAT), FORMAT + 1, None])
async def test_a_schema_in_another_format_is_refused_unchanged(
    conninfo: str, database: Postgres, number: int | None
) -> None:
    """Its tables were made by today's writer; each format has a row for itself and for those before."""
    await PostgresSessionStore(database).create("s", "a")
    await PostgresStateStore(database).apply("app", "a", [Change(key="hits", operation="add", value=1)])
    with psycopg.connect(conninfo) as connection:
        connection.execute("DELETE FROM toolgen.migration")
        connection.execute(
            "INSERT INTO toolgen.migration SELECT generate_series(1, %s::integer)", (number or 0,)
        )
    before = contents(conninfo)
    with pytest.raises(StoreFormatError) as caught:
        await Postgres(conninfo).read(nothing)
    assert f"has the schema toolgen in format {number}, and this toolgen reads format {FORMAT}" in str(
        caught.value
    )
    assert caught.value.hint == "use the version of toolgen that wrote it, or another database"
    assert contents(conninfo) == before


def contents(conninfo: str) -> dict[str, list[Any]]:
    """Return the columns and indexes of the schema, and the rows of each table."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'toolgen'"
    with psycopg.connect(conninfo) as connection:
        queries = {
            name: f"SELECT * FROM toolgen.{name} t ORDER BY t" for (name,) in connection.execute(tables)
        }
        queries["columns"] = (
            "SELECT table_name, ordinal_position, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'toolgen' ORDER BY 1, 2"
        )
        queries["indexes"] = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'toolgen' ORDER BY 1"
        return {name: connection.execute(query.encode()).fetchall() for name, query in queries.items()}


async def test_tables_are_created_again_if_the_commit_has_no_answer(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE SCHEMA toolgen")  # as an administrator does for a role
        connection.execute("CREATE TABLE toolgen.migration (number integer)")
        break_commit(connection, "toolgen.migration")
        connection.execute(BREAKS_NEW_TABLES)
        connection.execute("DROP TABLE toolgen.migration")
    database = Postgres(conninfo)
    await database.write(nothing)
    database.close()
    assert count(conninfo, b"SELECT last_value FROM commits") == 2
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == 1


BREAKS_NEW_TABLES = """
    CREATE FUNCTION breaks_new() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (
            SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'toolgen.migration'
        ) THEN
            CREATE CONSTRAINT TRIGGER breaks AFTER INSERT ON toolgen.migration DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION breaks();
        END IF;
    END $$;
    CREATE EVENT TRIGGER breaks_new ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION breaks_new()
"""
"""Has `break_commit` for a table that does not exist yet."""


async def test_tables_are_created_where_the_idle_connection_of_a_refusal_was_killed(conninfo: str) -> None:
    database = Postgres(conninfo)
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE SCHEMA toolgen CREATE TABLE migration (number integer)")
    with pytest.raises(StoreFormatError):  # its connection is idle now
        await database.read(nothing)
    query = b"SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname ="
    assert count(conninfo, query + b" current_database() AND pid <> pg_backend_pid()") == 1
    with psycopg.connect(conninfo) as connection:
        connection.execute("DROP SCHEMA toolgen CASCADE")
    await database.read(nothing)
    database.close()
    assert count(conninfo, b"SELECT max(number) FROM toolgen.migration") == FORMAT
