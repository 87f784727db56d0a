"""Nothing of a session is left in PostgreSQL and on the server of its runs, once it was erased."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from temporalio.client import Client

from tests.agents.tools import SECRET, until
from tests.erasure.session import OF_USER, PLACES, lead, own, register
from tests.erasure.walks import Found, anywhere, marks_in, marks_in_files, marks_in_postgres
from tests.temporal_server import TemporalServer
from tests.virtual_time import LoopFactory
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresEventSink,
    PostgresEventStore,
    PostgresPayloads,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.agents import agents_of
from toolgen.capabilities import ArtifactsCapability, StateCapability
from toolgen.engines import Engine, InProcessEngine
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.events.hub import Events
from toolgen.runtime import Runtime

pytestmark = pytest.mark.costly

TABLES: Final = frozenset(
    f"toolgen.{name}"
    for name in "session turn message answer spoken state artifact artifact_owner event payload".split()
)
OTHERS: Final = {
    "toolgen.migration": "the version of the schema",
    "toolgen.engine": "which engines have sessions",
    "toolgen.active": "which run has the turn of a session",
    "toolgen.credential": "nothing that can be read; tests/capabilities/test_credentials.py erases it",
}
"""The tables that hold nothing of these sessions, whose runs are over."""
LEFT: Final = {"toolgen.state", "toolgen.artifact", "toolgen.artifact_owner"}
"""The tables that have something of the user."""
_NUMBERS = itertools.count(1)
Walk = Callable[[str], Awaitable[Found]]
"""Returns what is left of a session outside of PostgreSQL."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"real": asyncio.new_event_loop}


def in_tables(conninfo: str, session: str) -> Found:
    """Return what the tables hold of a session; each is one that the tests were told of."""
    found = marks_in_postgres(conninfo, session)
    assert found.keys() - OTHERS.keys() == TABLES, "say what a new table holds"
    return anywhere(found)


@asynccontextmanager
async def opened(database: Postgres, engine: Engine, **keep: Any) -> AsyncIterator[Runtime]:
    """Yield a runtime over the database, whose events are stored there too."""
    events = Events()
    capabilities: list[Any] = [
        StateCapability(PostgresStateStore(database)),
        ArtifactsCapability(PostgresArtifactStore(database)),
    ]
    runtime = Runtime(engine=engine, events=events, capabilities=capabilities, secret=SECRET)
    register(runtime, PostgresSessionStore(database), **keep)
    async with PostgresEventSink(events, database), runtime:
        yield runtime


async def erased(
    conninfo: str,
    database: Postgres,
    engine: Callable[[], Engine],
    walk: Walk,
    *,
    unused: Set[str] = frozenset(),
) -> None:
    """Erase one of two sessions, and look for both."""
    async with opened(database, engine()) as runtime:
        for session in ("alpha", "beta"):
            await lead(runtime, session)
    held = in_tables(conninfo, "alpha")
    assert TABLES - held.keys() == unused, "each table holds something"
    assert set[str]().union(*held.values(), *(await walk("alpha")).values()) == PLACES
    of_others = in_tables(conninfo, "beta")
    async with opened(database, engine()) as runtime:
        agents = agents_of(runtime)
        (session,) = await agents.labelled("user", own("alpha")("label"))
        await agents.erase(session)
    found = in_tables(conninfo, "alpha")
    assert found.keys() == LEFT
    assert set[str]().union(*found.values()) == OF_USER
    assert await walk("alpha") == {}
    assert in_tables(conninfo, "beta") == of_others
    assert await walk("beta") != {}


async def test_runs_in_a_file(conninfo: str, database: Postgres, tmp_path: Path) -> None:
    async def walk(session: str) -> Found:
        return anywhere(marks_in_files(tmp_path, session))

    await erased(
        conninfo, database, lambda: InProcessEngine(tmp_path / "runs.db"), walk, unused={"toolgen.payload"}
    )


async def test_what_is_not_kept_any_longer(conninfo: str, database: Postgres, tmp_path: Path) -> None:
    async with opened(database, InProcessEngine(tmp_path / "runs.db")) as runtime:
        await lead(runtime, "alpha")
    engine = InProcessEngine(tmp_path / "runs.db", keep_s=0.0)
    async with opened(database, engine, keep_sessions=0):
        kept = {"toolgen.event", *LEFT}
        await until(lambda: in_tables(conninfo, "alpha").keys() == kept, 60)
        while await engine.list_runs():  # noqa: ASYNC110
            await asyncio.sleep(0.002)
    await PostgresEventStore(database).forget(before=float("inf"))
    found = in_tables(conninfo, "alpha")
    assert found.keys() == LEFT
    assert set[str]().union(*found.values()) == OF_USER
    assert anywhere(marks_in_files(tmp_path, "alpha")) == {}


async def test_runs_on_a_server(conninfo: str, database: Postgres, temporal: TemporalServer) -> None:
    prefix = f"erasing {next(_NUMBERS)}:"
    engine = partial(
        TemporalEngine,
        temporal.address,
        queue=prefix,
        prefix=prefix,
        payloads=PostgresPayloads(database),
        limits=TemporalLimits(heartbeat_s=1.5, offload_bytes=1_000),
    )
    client = await Client.connect(temporal.address)

    async def walk(session: str) -> Found:
        found: Found = {}
        async for one in client.list_workflows():
            handle = client.get_workflow_handle(one.id, run_id=one.run_id)
            kept = [event.SerializeToString() async for event in handle.fetch_history_events()]
            listed = (await handle.describe()).raw_description.SerializeToString()
            found[one.id] = marks_in(b"".join([*kept, listed]), session)
        return anywhere(found)

    await erased(conninfo, database, engine, walk)
