"""The file of sessions: it outlives processes, and is shared by them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import surroundings
from tests.runtime.session_stores import HELLO, ODD, turn
from toolgen.agents import SessionError, Summary
from toolgen.agents.sessions.sqlite import SqliteSessionStore


def of_file(path: Path) -> SqliteSessionStore:
    return SqliteSessionStore(path / "sessions.db")


async def test_a_file_keeps_everything(tmp_path: Path) -> None:
    store = of_file(tmp_path)
    await store.create("s", "a", {"user": "ann"})
    for run_id in ("r2", "r1"):
        await store.begin(turn(run_id))
        await store.write(run_id, 0, ODD)
    await store.summarize("s", Summary(text="x", through="r2"))
    await store.create("over", "a")
    over = await store.end("over")
    again = of_file(tmp_path)
    assert await again.get("s") == await store.get("s")
    assert await again.transcript("s") == await store.transcript("s")
    assert await again.summary("s") == Summary(text="x", through="r2")
    assert await again.list(state="ended") == (over,)


def test_a_file_lets_readers_and_a_writer_work_at_once(tmp_path: Path) -> None:
    store = of_file(tmp_path)
    asyncio.run(store.create("s", "a"))
    with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        database.execute("BEGIN IMMEDIATE")
        assert asyncio.run(store.get("s")).agent == "a"
        tables = "session", "turn", "message", "answer", "spoken", "engine", "active"
        assert of_kind(database) == [(name,) for name in tables]


def of_kind(database: sqlite3.Connection) -> list[Any]:
    return database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()


async def test_a_writer_waits_without_holding_up_the_loop(tmp_path: Path) -> None:
    store = of_file(tmp_path)
    with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(store.create("s", "a"))
        await asyncio.sleep(0)
        assert await store.list() == ()
        assert not waiting.done()
        database.execute("COMMIT")
        assert (await waiting).id == "s"


@pytest.mark.parametrize("text", ["{", "[1]", '[{"type":"other"}]'])
async def test_a_row_that_is_no_message_names_its_run(tmp_path: Path, text: str) -> None:
    store = of_file(tmp_path)
    await store.write("r", 3, [HELLO])
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as database, database:
        database.execute("UPDATE message SET messages = ?", (text,))
    with pytest.raises(SessionError, match="step 3 of the run 'r' is not a message"):
        await store.run_messages("r")


@pytest.mark.exhaustive
def test_the_package_of_agents_loads_no_database() -> None:
    code = "import sys, json, toolgen.agents; print(json.dumps('sqlite3' in sys.modules))"
    printed = subprocess.check_output([sys.executable, "-c", code], env=surroundings())
    assert json.loads(printed) is False
