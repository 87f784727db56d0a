"""What goes with a run that its engine forgets, and with a session that is not used any more."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runtime.store_files import ARTIFACT_STORES
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, StaticToolset, UnknownArtifactError

from .test_artifacts import LARGE, PAINTER, painting, with_store
from .tools import agent, calling, running

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
        await runtime.artifact(uri)
    except UnknownArtifactError:
        return False
    return True


async def until_dropped(runtime: Runtime, uri: str) -> None:
    async with asyncio.timeout(10):
        while await is_there(runtime, uri):  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("store", ARTIFACT_STORES)
async def test_artifacts_go_with_their_run_and_no_other(
    store: str, engine: InProcessEngine, tmp_path: Path
) -> None:
    kept = ARTIFACT_STORES[store](tmp_path, lambda: 0.0)
    planner = ScriptedPlanner(*[[calling(painting("x", 20_000)), "done"] for _ in range(MANY)])
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
        assert len((await runtime.artifact(uris[-1])).data) == len(LARGE) + len('{"pixels":""}')
        assert await kept.load("session/s", "notes.txt", 1) is not None
        (first, *_) = await agents_of(runtime).sessions.transcript("s")  # names it, without its data
        assert uris[0] in str(first.messages)


async def test_artifacts_of_a_call_that_waited_go_with_its_own_run(engine: InProcessEngine) -> None:
    (paint, *_) = PAINTER.bound
    asked = replace(paint, spec=replace(paint.spec, confirm=ConfirmSpec()))
    runtime = Runtime(engine=engine, **with_store())
    runtime.register(StaticToolset(name=PAINTER.name, bound=(asked,)))
    uris = []
    async with runtime:
        for _ in range(MANY):
            waiting = await runtime.call("paint", {"pixels": "x", "times": 1}, CallMeta(run_id="host's"))
            assert waiting.suspension is not None
            result = await runtime.deliver(waiting.suspension.token, {"approved": True})
            (artifact,) = result.artifacts
            assert artifact.ref is not None
            uris.append(artifact.ref.uri)
        await until_dropped(runtime, uris[0])
        assert await is_there(runtime, uris[-1])
