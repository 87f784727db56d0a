"""Clients of agents that another process executes: they have the generated constant, and the files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from toolgen.agents import (
    Agents,
    AgentSpec,
    RunPolicy,
    ScriptedPlanner,
    SessionError,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import RegistrationError, Runtime

from .tools import TOOLS, agent, calling, first_answer

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # they speak through a file and a socket

SPEC = AgentSpec(id="x.agent", description="Asks.", policy=RunPolicy(max_tool_calls=3))


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


@asynccontextmanager
async def both(folder: Path) -> AsyncIterator[tuple[Runtime, Runtime]]:
    """Give a runtime that executes, and one without agents and tools, over the same files."""
    planner = ScriptedPlanner([calling("ask"), first_answer])
    worker = Runtime(engine=InProcessEngine(folder / "runs.db"))
    Agents(worker, sessions=SqliteSessionStore(folder / "s.db")).register(agent("x.agent", planner, TOOLS))
    client = Runtime(engine=InProcessEngine(folder / "runs.db", worker=False))
    Agents(client, sessions=SqliteSessionStore(folder / "s.db"))
    async with worker, client:
        yield worker, client


async def test_a_client_starts_follows_and_answers_a_run(tmp_path: Path) -> None:
    async with both(tmp_path) as (worker, client):
        handle = await agents_of(client).client(SPEC).start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
        assert asked.token
        assert [one.id for one in await client.suspensions.list("s")] == [asked.id]
        result = await client.suspensions.answer(asked.token, "Bo")
        assert result.status == "ok"
        output = await handle.result()
        assert output.status == "completed"
        assert [event.type async for event in handle.events()][-1] == "run_stream_end"
        there = await agents_of(worker).client("x.agent").handle(handle.run_id, session_id="s").output()
        assert there.text == output.text


async def test_a_client_cancels_a_run(tmp_path: Path) -> None:
    async with both(tmp_path) as (_, client):
        handle = await agents_of(client).client(SPEC).start("Go.", session_id="s")
        await handle.settled()
        await handle.cancel("enough")
        output = await handle.result()
        assert (output.status, output.error) == ("canceled", "enough")


async def test_a_session_of_an_agent_that_is_not_known_here_is_refused(tmp_path: Path) -> None:
    async with both(tmp_path) as (_, client):
        handle = await agents_of(client).client(SPEC).start("Go.", session_id="s")
        await handle.cancel()
        other = Runtime(engine=InProcessEngine(tmp_path / "runs.db", worker=False))
        Agents(other, sessions=SqliteSessionStore(tmp_path / "s.db"))
        async with other:
            unknown = AgentSpec(id="x.other", description="Other.")
            with pytest.raises(SessionError, match=r"x\.agent"):
                await agents_of(other).client(unknown).start("Go.", session_id="s")


async def test_a_client_may_ask_for_its_agents_when_its_runtime_is_open(tmp_path: Path) -> None:
    async with both(tmp_path), Runtime(engine=InProcessEngine(tmp_path / "runs.db", worker=False)) as client:
        agents = Agents(client, sessions=SqliteSessionStore(tmp_path / "s.db"))
        handle = await agents.client(SPEC).start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
        await handle.answer(asked, "Bo")
        assert (await handle.result()).status == "completed"


async def test_a_worker_may_not(tmp_path: Path) -> None:
    async with Runtime(engine=InProcessEngine(tmp_path / "runs.db")) as worker:
        with pytest.raises(RegistrationError, match="the engine already executes runs"):
            agents_of(worker)


async def test_a_client_that_keeps_sessions_in_memory_starts_no_turn(tmp_path: Path) -> None:
    async with both(tmp_path), Runtime(engine=InProcessEngine(tmp_path / "runs.db", worker=False)) as client:
        Agents(client, sessions=MemorySessionStore())
        with pytest.raises(SessionError, match="stores its sessions in memory"):
            await agents_of(client).client(SPEC).start("Go.", session_id="s")


async def test_an_id_of_a_run_that_no_file_holds_is_refused(tmp_path: Path) -> None:
    """It was a UnicodeEncodeError."""
    async with both(tmp_path) as (_, client):
        with pytest.raises(SessionError, match=r"'r\\ud800' holds a lone surrogate"):
            await agents_of(client).client(SPEC).start("Go.", session_id="s", run_id="r\ud800")
        assert await agents_of(client).sessions.list() == ()


async def test_a_run_whose_session_is_in_another_file_says_so(tmp_path: Path) -> None:
    async with both(tmp_path), Runtime(engine=InProcessEngine(tmp_path / "runs.db", worker=False)) as client:
        agents = Agents(client, sessions=SqliteSessionStore(tmp_path / "other.db"))
        handle = await agents.client(SPEC).start("Go.", session_id="s")
        error = (await handle.result()).error
    assert "the session 's' is not in this store; all processes that share runs must share the store" in error


async def test_an_agent_that_the_process_of_its_run_does_not_have_is_refused(tmp_path: Path) -> None:
    async with Runtime() as runtime:
        with pytest.raises(RegistrationError, match=r"agent 'x\.agent' is not registered"):
            await agents_of(runtime).client(SPEC).start("Go.", session_id="s")
