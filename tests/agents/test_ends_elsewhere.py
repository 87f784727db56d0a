"""Sessions that another process ends than the one that executes their runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from toolgen.agents import Agents, agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # processes

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


@asynccontextmanager
async def working(folder: Path, tool: str) -> AsyncIterator[asyncio.StreamReader]:
    """Give what a process prints whose run has begun to call a tool."""
    command = (sys.executable, "-m", "tests.agents.worker", str(folder), tool)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            assert await process.stdout.readline() == b"working\n"
            yield process.stdout
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def desk(folder: Path) -> Runtime:
    """Return a runtime without agents and tools, over the files of the folder."""
    runtime = Runtime(engine=InProcessEngine(folder / "runs.db", worker=False))
    Agents(runtime, sessions=SqliteSessionStore(folder / "sessions.db"))
    return runtime


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", [pytest.param("hang", marks=pytest.mark.exhaustive), "ask"])
async def test_the_end_of_a_session_cancels_its_run_in_another_process(tmp_path: Path, tool: str) -> None:
    async with working(tmp_path, tool) as printed, desk(tmp_path) as runtime:
        agents = agents_of(runtime)
        assert (await agents.sessions.end("s")).is_over
        assert await printed.readline() == b"canceled the session ended\n"
        assert (await agents.snapshot("r")).status == "canceled"
        assert await agents.sessions.list(state="open") == ()


@pytest.mark.exhaustive
async def test_a_process_that_only_has_the_files_ends_a_session_too(tmp_path: Path) -> None:
    async with working(tmp_path, "hang") as printed:
        runtime = desk(tmp_path)  # never opened
        await agents_of(runtime).sessions.end("s")
        assert await printed.readline() == b"canceled the session ended\n"
        await runtime.aclose()
