"""Reports by `NOTIFY`: in order, whole, as often as they were sent, and to nobody who lacks the secret."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import sql

from examples.servers.postgres import Server
from toolgen.adapters.postgres import Postgres, PostgresReports

SECRET = b"a secret of all processes"


def reports(database: Postgres, secret: bytes = SECRET) -> PostgresReports:
    return PostgresReports(database, secret=[secret, b"an older one"])


@asynccontextmanager
async def heard(by: PostgresReports, topic: str = "t") -> AsyncIterator[asyncio.Queue[bytes]]:
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    async with by.listen(topic, queue.put_nowait):
        yield queue


async def test_who_listens_gets_each_message_whole_and_in_its_order(
    database: Postgres, conninfo: str
) -> None:
    sent = [
        b"same",
        b"same",
        b"",
        bytes(range(256)) * 128,
        "\0é😀".encode(),
        *(b"%d" % n for n in range(200)),
    ]
    async with (
        Postgres(conninfo) as other,
        heard(reports(other)) as one,
        heard(reports(database)) as two,
        heard(reports(other), "another topic") as none,
        heard(reports(other, b"another secret")) as stranger,
    ):
        await reports(database).send([("t", message) for message in sent])
        assert [await one.get() for _ in sent] == sent
        assert [await two.get() for _ in sent] == sent
        await reports(database).send([("another topic", b"last")])
        assert await none.get() == b"last"
        assert stranger.empty()
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT pg_notification_queue_usage()").fetchone() == (0.0,)


async def test_what_others_notify_of_is_no_message(database: Postgres, conninfo: str) -> None:
    channel = reports(database)
    async with heard(channel) as queue:
        with psycopg.connect(conninfo, autocommit=True) as stranger:
            for text in (
                "",
                ":",
                "a.0.2:eA==",
                "a.1.9:eA==",
                "b.1.2:eA==",
                "c.0.1:%%",
                "d.0.x:",
                "e.0.17:eA==",
            ):
                stranger.execute("SELECT pg_notify(%s, %s)", (channel._name("t"), text))
        await reports(database).send([("t", b"ours")])
        assert await queue.get() == b"ours"
        assert queue.empty()


async def test_who_does_not_read_holds_nobody(database: Postgres, conninfo: str) -> None:
    channel = reports(database)
    with psycopg.connect(conninfo, autocommit=True) as idle:
        idle.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel._name("t"))))
        async with heard(channel) as queue:
            for number in range(300):
                await channel.send([("t", bytes([number % 256]) * 30_000)])
            assert [(await queue.get())[0] for _ in range(300)] == [number % 256 for number in range(300)]


async def test_a_listener_connects_again(database: Postgres, conninfo: str, postgres: Server) -> None:
    async with Postgres(conninfo) as own, heard(reports(own)) as queue:
        with psycopg.connect(conninfo, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            )
        channel = reports(database)
        async with asyncio.timeout(30):
            while queue.empty():  # what was sent meanwhile is lost
                await channel.send([("t", b"again")])
                await asyncio.sleep(0)
        assert await queue.get() == b"again"


async def test_the_connection_of_who_listens_ends_with_it(database: Postgres, conninfo: str) -> None:
    channel = reports(database)
    async with heard(channel), heard(channel, "two") as two:
        await channel.send([("two", b"x")])
        assert await two.get() == b"x"
    assert channel._listening is not None
    await channel._listening
    async with heard(channel) as again:
        await channel.send([("t", b"y")])
        assert await again.get() == b"y"
