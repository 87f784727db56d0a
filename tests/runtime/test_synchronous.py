"""What survives a loss of power: every file is synced at each commit, unless it is told otherwise."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import surroundings
from toolgen.engines import InProcessEngine
from toolgen.stores.sqlite_connection import Synchronous

pytestmark = pytest.mark.asyncio(loop_factories=["real"])

# In a process of its own: the processes of the tests have another default.
SCRIPT = """
import asyncio, json, sys
from toolgen.agents import Agents, SqliteSessionStore
from toolgen.capabilities import SqliteArtifactStore, SqliteCredentialStore, SqliteStateStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

NAMES = "synchronous", "fullfsync", "checkpoint_fullfsync"
told = {"synchronous": sys.argv[1]} if len(sys.argv) > 1 else {}
engine = InProcessEngine("runs.db", **told)
stores = {"runs": engine.file, "sessions": SqliteSessionStore("sessions.db", **told)._file}
if not told:
    stores |= {
        "state": SqliteStateStore("state.db")._file,
        "artifacts": SqliteArtifactStore("artifacts.db")._file,
        "credentials": SqliteCredentialStore("credentials.db", secret=b"-" * 32)._file,
    }

async def settings(file):
    return [(await file.write(lambda tx, name=name: tx.rows(f"PRAGMA {name}")))[0][0] for name in NAMES]

async def main():
    print(json.dumps({name: await settings(file) for name, file in stores.items()}))

asyncio.run(main())
"""
FULL = [2, 1, 1]
NORMAL = [1, 0, 0]


def settings(folder: Path, *told: Synchronous) -> dict[str, list[int]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *told], cwd=folder, env=surroundings(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found


async def test_every_store_is_synced_at_each_commit(tmp_path: Path) -> None:
    names = ("runs", "sessions", "state", "artifacts", "credentials")
    assert settings(tmp_path) == dict.fromkeys(names, FULL)


async def test_one_that_is_told_so_is_not(tmp_path: Path) -> None:
    assert settings(tmp_path, "NORMAL") == dict.fromkeys(("runs", "sessions"), NORMAL)


async def test_the_tables_of_a_new_file_are_in_it_before_anything_else_is(tmp_path: Path) -> None:
    """What its log has may be lost with the power: the file says what it is without it."""
    engine = InProcessEngine(tmp_path / "runs.db", synchronous="NORMAL")
    alone = tmp_path / "alone.db"
    alone.write_bytes((tmp_path / "runs.db").read_bytes())
    await engine.close()
    with closing(sqlite3.connect(alone)) as database:
        assert database.execute("SELECT value FROM meta WHERE name = 'id'").fetchall() == [(engine.id,)]
