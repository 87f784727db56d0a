"""Migrations of the schema: an earlier and a later one, several processes, and connections that break."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import psycopg
import pytest

from examples.servers.postgres import Server
from tests.conformance.postgres.test_database import break_commit, count, nothing
from tests.conftest import surroundings
from tests.runtime.kept_stores import goes_on, kept
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresCredentialStore,
    PostgresEventStore,
    PostgresPayloads,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.adapters.postgres.migrations import MIGRATIONS
from toolgen.capabilities import CredentialPlace
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


@pytest.mark.parametrize("number", range(1, len(MIGRATIONS) + 1))
async def test_a_database_of_an_earlier_version_goes_on(
    postgres: Server, conninfo: str, database: Postgres, number: int
) -> None:
    other = postgres.new_database()
    with psycopg.connect(other) as connection:
        connection.execute(kept(f"postgres-{number}").encode())
    async with Postgres(other) as earlier:
        await goes_on(PostgresSessionStore(earlier))
        assert await PostgresStateStore(earlier).load("app", "a") == {"hits": 1}
        assert await PostgresArtifactStore(earlier).save("s", "plan", b"22", "text/plain", {}, 100) == 2
        assert [event.type for event in await PostgresEventStore(earlier).read()] == ["events_dropped"]
        ref = await PostgresPayloads(earlier).put(b"large")
        assert await PostgresPayloads(earlier).forget("r0") == int(number > 1)
        assert await PostgresPayloads(earlier).get(ref) == b"large"
        credentials = PostgresCredentialStore(earlier, secret=b"s" * 32)
        credential = await credentials.load(CredentialPlace("user", "ann", "x"))
        assert credential == ({"secret": "k"} if number > 3 else None)
    assert schema(other) == schema(conninfo)


def schema(conninfo: str) -> tuple[list[Any], ...]:
    """Return columns and indexes, by name."""
    columns = b"""
        SELECT table_name, ordinal_position, column_name, data_type, is_nullable, is_identity
        FROM information_schema.columns WHERE table_schema = 'toolgen' ORDER BY 1, 2
    """
    indexes = b"SELECT indexdef FROM pg_indexes WHERE schemaname = 'toolgen' ORDER BY 1"
    with psycopg.connect(conninfo) as connection:
        return tuple(connection.execute(query).fetchall() for query in (columns, indexes))


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
        connection.execute(kept("postgres-1").encode())
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
        connection.execute(kept("postgres-1").encode())
        break_commit(connection, "toolgen.migration")
    await database.write(nothing)
    database.close()
    assert count(conninfo, b"SELECT count(*) FROM toolgen.migration") == len(MIGRATIONS)
