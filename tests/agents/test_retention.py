"""What goes with a run that its engine forgets, and with a session that is not used any more."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.store_files import ARTIFACT_STORES
from tests.selection import first
from toolgen.agents import Agents, EngineLease, ScriptedPlanner, SessionStore, Turn, agents_of
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.capabilities import ArtifactStore, FileArtifactStore, SqliteArtifactStore, UnknownArtifactError
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, StaticToolset

from .test_artifacts import LARGE, PAINTER, painting, with_store
from .test_later_processes import JOBS
from .tools import TOOLS, agent, calling, running

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files

MANY = 22
"""Runs of which some are forgotten, also in a file."""


@pytest.fixture(autouse=True)
def engine_in(request: pytest.FixtureRequest) -> None:
    """Let each test choose its engines."""


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> InProcessEngine:
    """Return an engine that keeps one run."""
    return InProcessEngine(None if request.param == "memory" else tmp_path / "runs.db", keep_runs=1)


async def is_there(runtime: Runtime, uri: str) -> bool:
    try:
        await runtime.artifacts.load(uri)
    except UnknownArtifactError:
        return False
    return True


async def until_dropped(runtime: Runtime, uri: str) -> None:
    async with asyncio.timeout(60):
        while await is_there(runtime, uri):  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.exhaustive
@pytest.mark.parametrize("store", first(ARTIFACT_STORES))
async def test_artifacts_go_with_their_run_and_no_other(
    store: str, engine: InProcessEngine, tmp_path: Path
) -> None:
    kept = ARTIFACT_STORES[store](tmp_path, lambda: 0.0)
    scripts: list[list[Any]] = [[calling(painting("x", 20_000)), "done"] for _ in range(MANY)]
    planner = ScriptedPlanner(*scripts)
    async with running(agent("x.agent", planner, PAINTER), engine=engine, **with_store(kept)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        await kept.save("session/s", "notes.txt", b"hi", "text/plain", {}, 1_000)
        uris = []
        for number in range(MANY):
            run_id = f"r{number}" if number < MANY - 1 else "r0/done:call"  # a run by itself
            output = await client.run("Go.", session_id="s", run_id=run_id)
            uris += [one.uri for one in output.artifacts]
        await until_dropped(runtime, uris[0])
        await until_dropped(runtime, uris[MANY - 20])
        assert len((await runtime.artifacts.load(uris[-1])).data) == len(LARGE) + len('{"pixels":""}')
        assert await kept.load("session/s", "notes.txt", 1) is not None
        (first, *_) = await agents_of(runtime).sessions.transcript("s")  # names it, without its data
        assert uris[0] in str(first.messages)


@pytest.mark.exhaustive
async def test_artifacts_of_a_call_that_waited_go_with_its_own_run(engine: InProcessEngine) -> None:
    (paint, *_) = PAINTER.bound
    asked = replace(paint, spec=replace(paint.spec, confirm=ConfirmSpec()))
    runtime = Runtime(engine=engine, **with_store())
    runtime.tools.register(StaticToolset(name=PAINTER.name, bound=(asked,)))
    uris = []
    async with runtime:
        for _ in range(MANY):
            waiting = await runtime.call("paint", {"pixels": "x", "times": 1}, CallMeta(run_id="host's"))
            assert waiting.suspension is not None
            result = await runtime.suspensions.answer(waiting.suspension.token, {"approved": True})
            (artifact,) = result.artifacts
            assert artifact.ref is not None
            uris.append(artifact.ref.uri)
        await until_dropped(runtime, uris[0])
        assert await is_there(runtime, uris[-1])


async def test_what_was_said_in_no_conversation_goes_with_its_run(engine: InProcessEngine) -> None:
    async with running(agent("x.agent", ScriptedPlanner(["done"])), engine=engine) as (runtime, _):
        agents = agents_of(runtime)
        client = agents.client("x.agent")
        kept = await client.run("Go.", session_id="s")
        runs = [(await client.one_shot("Go.")).run_id for _ in range(MANY)]
        async with asyncio.timeout(60):
            while await agents.sessions.run_messages(runs[0]):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert await agents.sessions.run_messages(runs[-1]) != ()
        (said,) = await agents.sessions.transcript("s")
        assert (said.turn.run_id, len(said.messages)) == (kept.run_id, 2)


DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.agents.test_retention import MANY, painted
from toolgen.capabilities import SqliteArtifactStore

class Dying(SqliteArtifactStore):
    left = 3

    async def forget(self, owner, before=None):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().forget(owner, before)

async def main(folder):
    async with painted(folder, Dying(folder / "artifacts.db"), MANY):
        await asyncio.sleep(30)

asyncio.run(main(Path(sys.argv[1])))
"""


@asynccontextmanager
async def painted(folder: Path, store: ArtifactStore, many: int) -> AsyncIterator[Runtime]:
    """Give a runtime over the files of the folder, after so many runs with an artifact each."""
    scripts: list[list[Any]] = [[calling(painting("x")), "done"] for _ in range(many)]
    one, engine = agent("x.agent", ScriptedPlanner(*scripts), PAINTER), InProcessEngine
    async with running(one, engine=engine(folder / "runs.db", keep_runs=1), **with_store(store)) as (made, _):
        for number in range(many):
            await agents_of(made).client("x.agent").run("Go.", session_id="s", run_id=f"r{number}")
        yield made


@pytest.mark.exhaustive
async def test_the_next_process_drops_what_a_killed_one_was_dropping(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DYING, str(tmp_path)), cwd=Path(__file__).parents[2]
    )
    assert await asyncio.wait_for(process.wait(), 30) == -signal.SIGKILL
    store = SqliteArtifactStore(tmp_path / "artifacts.db")
    owners = [f"run/s/r{number}" for number in range(MANY)]
    assert [owner for owner in owners[:3] if await store.listed(owner)] == owners[2:3]
    async with painted(tmp_path, store, 0) as runtime, asyncio.timeout(60):
        while await store.listed(owners[2]) or len(await agents_of(runtime).list_runs()) > 2:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        kept = {f"run/s/{run.run_id}" for run in await agents_of(runtime).list_runs()}
        assert {owner for owner in owners if await store.listed(owner)} <= kept


# Sessions.


@pytest.fixture(params=["memory", "sqlite"])
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return MemorySessionStore() if request.param == "memory" else SqliteSessionStore(tmp_path / "sessions.db")


async def until_left(runtime: Runtime, *ids: str) -> None:
    async with asyncio.timeout(60):
        while {one.id for one in await agents_of(runtime).sessions.list()} != {*ids}:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.exhaustive
async def test_sessions_that_were_used_last_are_kept_and_those_that_wait(
    sessions: SessionStore, tmp_path: Path
) -> None:
    """A run waits in one, and work goes on in another whose run is over."""
    store, file = FileArtifactStore(tmp_path / "artifacts"), tmp_path / "runs.db"
    scripts: list[list[Any]] = [
        [calling(painting("x", 20_000)), "done"],
        [calling("ask")],
        [calling("update"), "begun"],
        *(["done"] for _ in range(3)),
    ]
    one = agent("x.agent", ScriptedPlanner(*scripts), PAINTER, TOOLS, JOBS)
    async with running(one, sessions=sessions, engine=InProcessEngine(file), **with_store(store)) as (
        made,
        _,
    ):
        client = agents_of(made).client("x.agent")
        await store.save("session/painted", "notes.txt", b"hi", "text/plain", {}, 1_000)
        painted = await client.run("Go.", session_id="painted")
        asks = await client.run("Go.", session_id="waits")
        assert (asks.status, len((await client.run("Go.", session_id="works")).pending)) == ("waiting", 1)
        for session_id in ("old", "newer", "newest"):
            await client.run("Go.", session_id=session_id)
    runtime = Runtime(engine=InProcessEngine(file), **with_store(store))
    Agents(runtime, sessions=sessions, keep_sessions=2).register(one)
    async with runtime:
        await until_left(runtime, "waits", "works", "newer", "newest")
        assert not await is_there(runtime, painted.artifacts[0].uri)
        assert await store.load("session/painted", "notes.txt", 1) is None
        open_ = await agents_of(runtime).sessions.list(state="open")
        assert len(open_) == 4


async def test_sessions_are_kept_for_a_time(sessions: SessionStore) -> None:
    one = agent("x.agent", ScriptedPlanner(["done"], ["done"]))
    async with running(one, sessions=sessions) as (runtime, _):
        await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
    for keep_s, left in ((3600.0, ["s"]), (0.0, [])):
        runtime = Runtime()
        agents = Agents(runtime, sessions=sessions, keep_sessions=5, keep_sessions_s=keep_s)
        agents.register(one)
        async with runtime:
            await until_left(runtime, *left)


async def test_a_session_that_was_retired_by_a_process_that_was_killed_is_dropped_by_the_next(
    sessions: SessionStore,
) -> None:
    await sessions.create("s", "x.agent")
    (unused,) = await sessions.unused(keep=0)
    assert await sessions.retire(unused)  # and killed
    runtime = Runtime()
    Agents(runtime, sessions=sessions, keep_sessions=0)
    async with runtime:
        await until_left(runtime)


async def test_a_turn_that_nobody_gave_back_keeps_no_session(sessions: SessionStore) -> None:
    await sessions.create("s", "x.agent")
    turn = Turn(id="t", session_id="s", run_id="gone", agent="x.agent", started_at=0.0)
    await sessions.take(turn, EngineLease(engine_id="gone", is_durable=False, seconds=0.0), [])
    await sessions.create("used", "x.agent")
    turn = Turn(id="u", session_id="used", run_id="on", agent="x.agent", started_at=0.0)
    await sessions.take(turn, EngineLease(engine_id="elsewhere", is_durable=True, seconds=0.0), [])
    runtime = Runtime()
    Agents(runtime, sessions=sessions, keep_sessions=0)
    async with runtime:
        await until_left(runtime, "used")
