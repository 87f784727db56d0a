"""The example's conversation in processes that are killed at random steps, and in a last one that ends it."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from examples.home import database
from examples.home.conversation import SESSION
from tests.conformance.home_process import TURNS
from tests.test_home_later import ROOT, settings
from toolgen.agents import AssistantMessage, ToolMessage
from toolgen.agents.loop.loop import agent_loop
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import UnknownRunError
from toolgen.runtime.waiting.loop import LOOP, waiting_call

KILLS = 5
STEPS = 530
"""Of a process that leads the whole conversation."""
PATIENCE_S = 120.0
LOOPS: dict[str, Any] = {"agent": agent_loop, LOOP: waiting_call}


@pytest.mark.parametrize("seed", range(2))
async def test_a_conversation_survives_kills(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    path = tmp_path / "home.db"
    database.build(path)
    client = InProcessEngine(database.beside(path, "runs"), worker=False)
    client.register(loops=LOOPS, activities={})
    await client.start()
    async with asyncio.timeout(PATIENCE_S):
        following = asyncio.ensure_future(followed(client, "turn-1"))
        codes = [await process(path, chance.randrange(1, STEPS)) for _ in range(KILLS)]
        assert set(codes) <= {0, -signal.SIGKILL}
        assert await process(path, 0) == 0
        seen = await following
    assert [offset for offset, _ in seen] == list(range(1, len(seen) + 1))
    ends = [await ended(client, status.run_id) for status in await client.list_runs()]
    assert await client.open_waits() == ()
    assert [event async for event in client.events("turn-1")] == seen
    await client.close()
    tools = Counter(tool for tools in ends for tool, _ in tools)
    names = ["list_devices", "list_devices", "diagnose", "get_time_series", "search", "factory_reset"]
    is_unknown = any(status == "unknown" for tools in ends for _, status in tools)
    updates = 1 if is_unknown else 2  # its acknowledgement and its end, unless nobody knows whether it began
    assert tools == Counter([*names, *["update_firmware"] * updates])
    await check_conversation(path)


async def process(path: Path, last_step: int) -> int:
    """Return the exit code of a process that leads the conversation, and is killed at a step."""
    program = (sys.executable, "-m", "tests.conformance.home_process", str(path), str(last_step))
    running = await asyncio.create_subprocess_exec(*program, cwd=ROOT, stdout=asyncio.subprocess.DEVNULL)
    try:
        return await running.wait()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()


async def followed(client: InProcessEngine, run_id: str) -> list[tuple[int, Any]]:
    """Return the events of a run as a client reads them while workers come and go."""
    while True:
        try:
            return [event async for event in client.events(run_id)]
        except UnknownRunError:
            await asyncio.sleep(0.01)


async def ended(client: InProcessEngine, run_id: str) -> list[tuple[str, str]]:
    """Check that a run is over and its log is whole; return the tools whose calls ended in it, and how."""
    status = await client.status(run_id)
    assert (status.state, status.output) == ("completed", await client.replay(run_id))
    events: list[Any] = [event async for _, event in client.events(run_id)]
    assert [event["type"] for event in events].count("run_stream_end") == 1
    done = [event for event in events if event["type"] == "tool_end" and event["status"] != "suspended"]
    assert len({event["tool_call_id"] for event in done}) == len(done)
    return [(event["tool"].rpartition(".")[2], event["status"]) for event in done]


async def check_conversation(path: Path) -> None:
    """Check that the transcript, and the database, say what happened."""
    with closing(SqliteSessionStore(database.beside(path, "sessions"))) as store:
        said = await store.transcript(SESSION)
    assert [one.turn.run_id for one in said][:3] == list(TURNS)
    for one in said:
        calls = [call.id for message in one.messages for call in getattr(message, "calls", ())]
        answers = [
            answer.id
            for message in one.messages
            if isinstance(message, ToolMessage)
            for answer in message.answers
        ]
        assert calls == answers
        last = one.messages[-1]
        assert isinstance(last, AssistantMessage)
        assert last.text
    with closing(database.connect(path)) as connection:
        jobs = count(connection, "firmware_job")
        assert jobs <= 1, "the tool may not run twice"
        said_by_model = " ".join(message.text for one in said for message in texts(one.messages))
        if "I cannot say" not in said_by_model:  # else it was killed in the middle of a tool
            assert (settings(connection, "h10"), jobs, len(said)) == ({}, 1, 4)


def texts(messages: tuple[Any, ...]) -> list[AssistantMessage]:
    return [message for message in messages if isinstance(message, AssistantMessage)]


def count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
