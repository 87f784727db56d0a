"""Sessions in PostgreSQL whose runs were lost with the file of their engine go on once that is accepted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agents.tools import agent, calling, first_answer, waiting
from tests.lab.agents import unpaired
from tests.virtual_time import LoopFactory
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import Agents, ScriptedPlanner, SessionBusyError, UserMessage
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime
from toolgen.stores import StoreMissingError


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return {"real": asyncio.new_event_loop}


async def test_a_session_of_a_lost_journal_is_released(tmp_path: Path, database: Postgres) -> None:
    @asynccontextmanager
    async def process() -> AsyncIterator[Agents]:
        runtime = Runtime(engine=InProcessEngine(tmp_path / "runs.db"))
        agents = Agents(runtime, sessions=PostgresSessionStore(database))
        agents.register(agent("x.agent", ScriptedPlanner([calling("ask"), first_answer])))
        async with runtime:
            yield agents

    async with process() as agents:
        await waiting(await agents.client("x.agent").start("Go.", session_id="s", run_id="r"))
    (tmp_path / "runs.db").unlink()
    with pytest.raises(StoreMissingError):
        async with process():
            pass
    engine = InProcessEngine(tmp_path / "runs.db", worker=False)
    lost = await engine.restore()
    await engine.close()
    assert lost is not None
    async with process() as agents:
        client = agents.client("x.agent")
        with pytest.raises(SessionBusyError, match="run 'r' of session 's' is not over"):
            await client.start("And?", session_id="s")
        released = (await agents.release(lost_engine=lost.engine_id)).sessions
        assert {session: holder.run_id for session, holder in released.items()} == {"s": "r"}
        handle = await client.start("And?", session_id="s", run_id="r2")
        await handle.answer(await waiting(handle), "Mira")
        assert (await handle.result()).text == '"hello Mira"'
        first, second = await agents.sessions.transcript("s")
        assert isinstance(first.messages[-1], UserMessage)
        assert "was lost before it ended" in first.messages[-1].text
        assert [*unpaired([*first.messages, *second.messages])] == []
