"""Events in PostgreSQL."""

from __future__ import annotations

import pytest
from psycopg import sql

from examples.servers.postgres import Server
from toolgen.adapters.postgres import Postgres, PostgresEventSink, PostgresEventStore
from toolgen.calls.call import CallMeta
from toolgen.events.hub import Events
from toolgen.events.records import EventsDropped, ToolOutputDelta, ToolUpdate

RUN = CallMeta(run_id="r1", session_id="s")


async def test_each_event_is_a_row(database: Postgres) -> None:
    events, store = Events(), PostgresEventStore(database)
    for turn in range(2):
        async with PostgresEventSink(events, database) as sink:
            events.emit(ToolOutputDelta(tool="a.b.c", text=f"zwölf\n\x00 \ud83d {turn}"), RUN)
            events.emit(ToolUpdate(tool="a.b.c"), RUN)
        assert (sink.written, sink.failed, sink.dropped) == (2, 0, 0)
    found = await store.read(run_id="r1")
    assert [event.seq for event in found] == [1, 2, 3, 4]
    assert isinstance(found[0], ToolOutputDelta)
    assert found[0].text == "zwölf\n\x00 \ud83d 0"
    assert found == await store.read(session_id="s") == await store.read()
    assert await store.read(session_id="another") == ()
    assert events.is_idle


async def test_what_was_dropped_and_what_is_not_json_is_counted(database: Postgres) -> None:
    events = Events()
    async with PostgresEventSink(events, database, size=2) as sink:
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
        events.emit(ToolUpdate(tool="a.b.c", value=object()), RUN)
        events.emit(ToolUpdate(tool="a.b.c"), RUN)
    found = await PostgresEventStore(database).read()
    last = found[-1]
    assert isinstance(last, EventsDropped)
    assert (sink.failed, sink.dropped, last.total) == (1, 1, 2)


async def test_one_place_of_a_writer_is_stored_once(database: Postgres) -> None:
    store = PostgresEventStore(database)
    event = ToolUpdate(tool="a.b.c")
    for _ in range(2):
        await store.add("w", [(0, event), (1, event)])
    assert len(await store.read()) == 2


async def test_events_are_forgotten_by_session_run_and_age(database: Postgres) -> None:
    store = PostgresEventStore(database)
    for place, (session, run, time) in enumerate((("s", "r", 5.0), ("t", "r2", 5.0), ("u", "r3", 1.0))):
        await store.add("w", [(place, ToolUpdate(tool="a.b.c", session_id=session, run_id=run, time=time))])
    assert await store.forget() == 0
    assert await store.forget(before=2.0) == 1
    assert await store.forget(sessions=["s"]) == 1
    assert await store.forget(runs=["r2"]) == 1
    assert await store.read() == ()


async def test_a_server_that_takes_nothing_reaches_no_call(
    postgres: Server, caplog: pytest.LogCaptureFixture
) -> None:
    events, conninfo = Events(), postgres.new_database()
    async with Postgres(conninfo) as database:
        async with PostgresEventSink(events, database) as sink:
            postgres.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name(conninfo))))
            events.emit(ToolUpdate(tool="a.b.c"), RUN)
        assert sink.written == 0
        assert sink.failed >= 1
    assert len(caplog.records) == 1
    assert "does not exist" in caplog.text


def name(conninfo: str) -> str:
    return conninfo.rpartition("dbname=")[2]
