"""Erasure of a session in PostgreSQL: a dump of the database has nothing of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from examples.servers.postgres import find_binaries
from tests.agents.tools import agent, calling, running
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresEventSink,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.agents import Erased, ScriptedPlanner, SessionBusyError, agents_of
from toolgen.engines import InProcessEngine
from toolgen.runtime.capabilities import ArtifactsCapability, Change, StateCapability
from toolgen.runtime.events.hub import Events

CANARY = "Canary7e1f"


def dump(conninfo: str) -> str:
    binaries = find_binaries()
    assert binaries is not None
    done = subprocess.run([binaries / "pg_dump", conninfo], capture_output=True, text=True, check=True)
    return done.stdout


async def test_a_dump_has_nothing_of_an_erased_session(
    conninfo: str, database: Postgres, tmp_path: Path
) -> None:
    states, artifacts = PostgresStateStore(database), PostgresArtifactStore(database)
    events = Events()
    planner = ScriptedPlanner([calling("ask")])
    capabilities = [StateCapability(states), ArtifactsCapability(artifacts)]
    async with running(
        agent("x.agent", planner),
        sessions=PostgresSessionStore(database),
        engine=InProcessEngine(tmp_path / "runs.db"),
        events=events,
        capabilities=capabilities,
    ) as (runtime, _):
        agents = agents_of(runtime)
        async with PostgresEventSink(events, database):
            handle = await agents.client("x.agent").start(CANARY, session_id="s")
            await handle.settled()
            await states.apply("session", "s", [Change(key="k", operation="set", value=CANARY)])
            await artifacts.save("session/s", CANARY, b"x", "a/b", {}, 10)
            with pytest.raises(SessionBusyError):
                await agents.erase("s")
            await handle.cancel()
            await handle.result()
        assert CANARY in dump(conninfo)
        erased = await agents.erase("s")
        assert (erased.sessions, erased.runs, erased.state, erased.artifacts) == (1, 1, 1, 1)
        assert erased.events > 0
        assert await agents.erase("s") == Erased()
    assert CANARY not in dump(conninfo)
    assert handle.run_id not in dump(conninfo)
