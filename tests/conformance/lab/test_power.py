"""A loss of power leaves a run and its conversation at the same moment, and both go on."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.lab.power import Left, disagreements, losses, tape
from toolgen.engines import InProcessEngine
from toolgen.stores.sqlite_connection import Synchronous

EVERY: Final = 13
"""Commits between two cuts; `make lab` cuts at every one."""


@pytest.mark.parametrize("synchronous", ["NORMAL", "FULL"])
async def test_what_is_left_agrees_and_goes_on(synchronous: Synchronous) -> None:
    cuts, wrong = await losses(synchronous, EVERY)
    assert cuts >= 4
    assert wrong == []


@pytest.fixture
async def left(tmp_path: Path) -> Left:
    (tmp_path / "first").mkdir()
    return await tape(tmp_path / "first", "NORMAL")


LOST: Final = {
    "DELETE FROM message WHERE run_id = 'r1' AND step = 3": "only the run has r1 step 1: calls ['call_1_0']",
    "DELETE FROM answer WHERE call_id = 'call_1_0'": 'only the run has r1 result call_1_0: "c is done"',
    "DELETE FROM op WHERE op = 'plan:2' AND id < 3 << 20": "only the conversation has r1 step 2: calls []",
}


@pytest.mark.parametrize("lost", LOST)
async def test_what_only_one_of_them_has_is_found(tmp_path: Path, left: Left, lost: str) -> None:
    path = left.cut(len(left.log), tmp_path)
    assert list(disagreements(path)) == []
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(lost)
    assert list(disagreements(path)) == [LOST[lost]]


@pytest.mark.parametrize("synchronous", ["NORMAL", "FULL"])
async def test_conversations_are_synced_as_the_runs_are(tmp_path: Path, synchronous: Synchronous) -> None:
    file = InProcessEngine(tmp_path / "runs.db", synchronous=synchronous).file
    assert file is not None
    ((level,),) = await file.write(lambda tx: tx.rows("PRAGMA synchronous"))
    assert level == {"NORMAL": 1, "FULL": 2}[synchronous]


async def test_there_is_no_other_file(tmp_path: Path) -> None:
    await tape(tmp_path, "NORMAL")
    assert set(os.listdir(tmp_path)) == {"runs.db", "runs.db.lock", "runs.db.witness", "ledger"}
