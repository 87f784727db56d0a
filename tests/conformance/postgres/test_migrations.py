"""Migrations of the schema: an earlier and a later one, several processes, and connections that break."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import psycopg
import pytest

from tests.conformance.postgres.test_database import break_commit, count, nothing
from tests.conftest import surroundings
from toolgen.adapters.postgres import Postgres, PostgresPayloads, PostgresStateStore
from toolgen.adapters.postgres.migrations import MIGRATIONS
from toolgen.runtime.stores import StoreFormatError


def migrate_once(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Leave the database as the first version of the stores has left it."""
    connection.execute("CREATE SCHEMA toolgen")
    connection.execute(
        "CREATE TABLE toolgen.migration"
        " (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    connection.execute("INSERT INTO toolgen.migration (number) VALUES (1)")
    connection.execute(MIGRATIONS[0].encode())


RACE = textwrap.dedent(
    """
    import asyncio, sys
    from tests.runtime.test_sessions import HELLO, turn
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


def test_processes_migrate_at_once_and_one_gets_the_turn(conninfo: str) -> None:
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
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == len(MIGRATIONS)


async def test_a_database_of_an_earlier_version_gets_the_migrations_that_it_lacks(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        migrate_once(connection)
        connection.execute("INSERT INTO toolgen.state VALUES ('app', 'a', '{\"n\": 1}')")
    async with Postgres(conninfo) as later:
        assert await PostgresPayloads(later).put(b"x")
        assert await PostgresStateStore(later).load("app", "a") == {"n": 1}


async def test_a_later_schema_is_refused(conninfo: str, database: Postgres) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("INSERT INTO toolgen.migration (number) VALUES (99)")
    known = len(MIGRATIONS)
    with pytest.raises(StoreFormatError, match=f"at migration 99, and this toolgen knows {known}") as caught:
        await Postgres(conninfo).read(nothing)
    assert caught.value.hint == "upgrade toolgen here, or name another database"


async def test_migrations_are_run_again_where_the_idle_connection_for_them_was_killed(conninfo: str) -> None:
    database = Postgres(conninfo)
    with psycopg.connect(conninfo) as connection:
        migrate_once(connection)
        connection.execute("INSERT INTO toolgen.migration (number) VALUES (99)")
    with pytest.raises(StoreFormatError):  # its connection is idle now
        await database.read(nothing)
    query = b"SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname ="
    assert count(conninfo, query + b" current_database() AND pid <> pg_backend_pid()") == 1
    with psycopg.connect(conninfo) as connection:
        connection.execute("DELETE FROM toolgen.migration WHERE number = 99")
    await database.read(nothing)
    database.close()
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == len(MIGRATIONS)


async def test_migrations_are_run_again_where_their_commit_has_no_answer(conninfo: str) -> None:
    database = Postgres(conninfo)
    with psycopg.connect(conninfo) as connection:
        migrate_once(connection)
        break_commit(connection, "toolgen.migration")
    await database.write(nothing)
    database.close()
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == len(MIGRATIONS)
