"""Connections that break, vanish and are closed, steps at once, and errors that keep the password."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from examples.servers.postgres import Server
from tests.runtime.session_stores import HELLO, turn
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.adapters.postgres.connection import PostgresConnection
from toolgen.agents import EngineLease
from toolgen.capabilities import Change
from toolgen.stores import (
    StoreClosedError,
    StoreConnectionError,
    StoreError,
    StoreLockedError,
    StoreReadOnlyError,
)

ADD = (Change(key="n", operation="add", value=1),)


async def kill(database: Postgres, connection: PostgresConnection) -> None:
    """Have the server terminate a connection, and wait until it has."""
    pid = connection.info.backend_pid

    async def step(other: PostgresConnection) -> None:
        await other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))

    await database.write(step)


def count(conninfo: str, query: bytes) -> int:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def break_commit(connection: psycopg.Connection[tuple[object, ...]], table: LiteralString) -> None:
    """Have the first COMMIT of a row of the table end its own connection, by a deferred trigger."""
    connection.execute(
        f"""
        CREATE SEQUENCE commits;
        CREATE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('commits') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER breaks AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION breaks()
        """
    )


async def test_a_step_whose_connection_was_killed_is_run_again(conninfo: str, database: Postgres) -> None:
    attempts = 0
    other = Postgres(conninfo)

    async def step(connection: PostgresConnection) -> None:
        nonlocal attempts
        attempts += 1
        await connection.execute("INSERT INTO toolgen.engine VALUES ('e', true, 1)")
        if attempts == 1:
            await kill(other, connection)
        await connection.execute("UPDATE toolgen.engine SET alive_until = alive_until + 1")

    await database.write(step)
    other.close()
    assert attempts == 2
    assert count(conninfo, b"SELECT sum(alive_until) FROM toolgen.engine") == 2


async def test_idle_connections_that_were_killed_are_made_anew(conninfo: str, database: Postgres) -> None:
    store, other = PostgresStateStore(database), Postgres(conninfo)
    await asyncio.gather(*[store.apply("app", f"a{n}", ADD) for n in range(5)])
    query = b"SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname ="
    assert count(conninfo, query + b" current_database() AND pid <> pg_backend_pid()") >= 1
    await store.apply("app", "a0", ADD)
    assert await store.load("app", "a0") == {"n": 2}
    other.close()


@pytest.mark.parametrize("may_repeat", [False, True])
async def test_a_commit_without_an_answer_is_repeated_or_unknown(
    conninfo: str, database: Postgres, may_repeat: bool
) -> None:
    await database.read(nothing)
    with psycopg.connect(conninfo) as connection:
        break_commit(connection, "toolgen.state")

    async def step(connection: PostgresConnection) -> str:
        await connection.execute("INSERT INTO toolgen.state VALUES ('app', 'a', '{}') ON CONFLICT DO NOTHING")
        return "stored"

    if may_repeat:
        assert await database.write(step, may_repeat=True) == "stored"
        assert count(conninfo, b"SELECT count(*) FROM toolgen.state") == 1
        return
    with pytest.raises(StoreConnectionError, match="it is unknown whether the step was stored") as caught:
        await database.write(step)
    assert caught.value.is_unknown


async def nothing(connection: PostgresConnection) -> None:
    pass


async def test_no_acknowledged_write_is_lost_while_connections_are_killed(
    postgres: Server, conninfo: str, database: Postgres
) -> None:
    store = PostgresSessionStore(database)
    await store.create("s", "a")
    done: list[str] = []

    async def writes(number: int) -> None:
        for step in range(10):
            await store.write(f"r{number}", step, [HELLO])
            done.append(f"r{number}")

    async def kills() -> None:
        query = sql.SQL(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname LIKE 'test_%' AND pid <> pg_backend_pid() LIMIT 2"
        )
        async with await psycopg.AsyncConnection.connect(
            postgres.conninfo("postgres"), autocommit=True
        ) as admin:
            for _ in range(15):
                await admin.execute(query)

    await asyncio.gather(kills(), *[writes(number) for number in range(4)])
    assert len(done) == 40
    for number in range(4):
        assert await store.run_messages(f"r{number}") == (HELLO,) * 10


async def test_steps_at_once_lose_nothing(database: Postgres) -> None:
    states, artifacts = PostgresStateStore(database), PostgresArtifactStore(database)
    await asyncio.gather(*[states.apply("app", "a", ADD) for _ in range(30)])
    assert await states.load("app", "a") == {"n": 30}
    saves = [artifacts.save("o", "x", b"12", "a/b", {}, 40) for _ in range(20)]
    assert sorted(await asyncio.gather(*saves)) == [*range(1, 21)]


async def test_a_step_that_is_cancelled_is_rolled_back(conninfo: str, database: Postgres) -> None:
    begun = asyncio.Event()

    async def step(connection: PostgresConnection) -> None:
        await connection.execute("INSERT INTO toolgen.engine VALUES ('e', true, 1)")
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(database.write(step))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await PostgresSessionStore(database).beat(EngineLease(engine_id="e", is_durable=True, seconds=1))
    assert count(conninfo, b"SELECT count(*) FROM toolgen.engine") == 1


async def test_a_step_is_cancelled_soon_where_the_server_does_not_answer(database: Postgres) -> None:
    stopped: list[int] = []

    async def step(connection: PostgresConnection) -> None:
        stopped.append(connection.info.backend_pid)
        os.kill(stopped[0], signal.SIGSTOP)
        await connection.execute("SELECT 1")

    async def limited() -> None:
        async with asyncio.timeout(0.1):
            await database.read(step)

    task = asyncio.create_task(limited())
    try:
        await asyncio.wait([task], timeout=4)
        assert isinstance(task.exception(), TimeoutError)
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    await database.check()


@pytest.mark.parametrize(("given", "idle"), [("", "30"), (" keepalives_idle=7", "7")])
async def test_a_host_that_vanishes_is_noticed(conninfo: str, given: str, idle: str) -> None:
    async def options(connection: PostgresConnection) -> dict[str, str]:
        return connection.info.get_parameters()

    async with Postgres(conninfo + given) as database:
        found = await database.read(options)
    assert (found["keepalives_idle"], found["keepalives_interval"], found["keepalives_count"]) == (
        idle,
        "10",
        "3",
    )
    assert found["tcp_user_timeout"] == "60000"


async def test_errors_name_the_server_and_never_the_password(postgres: Server, conninfo: str) -> None:
    uri = f"postgresql://toolgen:hunter2@/nowhere?host={postgres.folder}"
    wrong: list[tuple[Callable[[], Awaitable[object]], type[StoreError], str]] = [
        (Postgres(uri).__aenter__, StoreConnectionError, '"nowhere" does not exist'),
        (Postgres("postgresql://toolgen:hunter2@127.0.0.1:1/x").__aenter__, StoreConnectionError, ":1/x"),
    ]
    for use, kind, text in wrong:
        with pytest.raises(kind) as caught:
            await use()
        assert text in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__suppress_context__
        assert caught.value.hint
    with pytest.raises(StoreError) as refused:
        Postgres("host=x password hunter2")
    assert "hunter2" not in str(refused.value)


async def test_a_role_that_may_not_write_is_told(postgres: Server, conninfo: str, database: Postgres) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA toolgen TO reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA toolgen TO reader")
    with pytest.raises(StoreReadOnlyError, match="permission denied for table session"):
        await PostgresSessionStore(Postgres(conninfo.replace("user=toolgen", "user=reader"))).create("s", "a")


async def test_a_database_that_was_closed_is_closed(database: Postgres) -> None:
    await PostgresSessionStore(database).create("s", "a")
    database.close()
    database.close()
    with pytest.raises(StoreClosedError, match="is closed"):
        await PostgresSessionStore(database).begin(turn("r"))


async def test_a_row_that_stays_locked_is_said_so_at_once(conninfo: str, database: Postgres) -> None:
    attempts = 0

    async def waits(connection: PostgresConnection) -> None:
        nonlocal attempts
        attempts += 1
        await connection.execute("SET LOCAL lock_timeout = '1ms'")
        await connection.execute("UPDATE toolgen.engine SET alive_until = 2")

    async def locks(connection: PostgresConnection) -> None:
        await connection.execute("INSERT INTO toolgen.engine VALUES ('e', true, 1)")

    async def holds(connection: PostgresConnection) -> None:
        await connection.execute("UPDATE toolgen.engine SET alive_until = 3")
        with pytest.raises(StoreLockedError, match="was locked by another transaction"):
            await database.write(waits)

    await database.write(locks)
    await database.write(holds)
    assert attempts == 1


@pytest.mark.parametrize(
    ("code", "kind", "message", "attempts"),
    [
        ("55P03", StoreLockedError, "was locked by another transaction for 10 s: said so", 1),
        ("40P01", StoreLockedError, "chose the step as the victim of a deadlock, each time", 10),
        ("40001", StoreLockedError, "could not serialize the step with other transactions", 10),
        ("57014", StoreError, "canceled the statement: said so", 1),
    ],
)
async def test_an_error_says_what_the_server_did(
    database: Postgres, code: str, kind: type[StoreError], message: str, attempts: int
) -> None:
    tried = 0
    statement = sql.SQL("DO $$ BEGIN RAISE 'said so' USING ERRCODE = {}; END $$").format(sql.Literal(code))

    async def step(connection: PostgresConnection) -> None:
        nonlocal tried
        tried += 1
        await connection.execute(statement)

    with pytest.raises(StoreError, match=message) as caught:
        await database.write(step)
    assert (type(caught.value), tried) == (kind, attempts)


async def test_a_message_that_was_heard_is_not_stored_again(database: Postgres) -> None:
    """As by a step that is repeated after a connection was lost during its COMMIT."""
    store = PostgresSessionStore(database)
    for heard in ((), ("i",)):
        await store.speak("r", "i", HELLO)
        await store.write("r", 1, [], message_ids=heard)
    await store.speak("r", "i", HELLO)
    assert await store.run_messages("r") == ()


async def test_idle_connections_that_another_thread_closes_are_made_anew(database: Postgres) -> None:
    class Emptied(list[PostgresConnection]):
        """A list that another thread empties after it was seen to hold something."""

        def __bool__(self) -> bool:
            return True

    mine = database._of_loop()
    mine.finish()
    mine.idle = Emptied()
    await database.read(nothing)
    assert len(mine.idle) == 1


async def test_a_connection_of_a_database_that_is_closed_meanwhile_is_closed_after_its_step(
    database: Postgres,
) -> None:
    used: list[PostgresConnection] = []

    async def step(connection: PostgresConnection) -> None:
        used.append(connection)
        await asyncio.to_thread(database.close)

    await database.read(step)
    assert used[0].closed


async def test_a_step_that_waits_for_a_connection_of_a_database_that_is_closed_does_not_begin(
    conninfo: str,
) -> None:
    database, begun = Postgres(conninfo, connections=1), asyncio.Event()
    ran: list[PostgresConnection] = []

    async def holds(connection: PostgresConnection) -> None:
        begun.set()
        await asyncio.sleep(0)  # the other step begins to wait
        await asyncio.sleep(0)
        database.close()

    async def waits(connection: PostgresConnection) -> None:
        ran.append(connection)

    async with asyncio.TaskGroup() as tasks:
        holding = tasks.create_task(database.read(holds))
        await begun.wait()
        with pytest.raises(StoreClosedError, match="is closed"):
            await database.read(waits)
    assert holding.done()
    assert not ran
