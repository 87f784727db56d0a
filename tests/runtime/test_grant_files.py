"""Grants in files that were changed, put back or accepted."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.granting import ANYWHERE, BELOW, SAFE, Host, asked, granted, status
from toolgen.engines import InProcessEngine


@pytest.mark.parametrize("field", ["tool", "session_id", "requested_by", "uses", "expires_at", "pattern"])
async def test_a_grant_that_was_changed_in_the_file_is_not_used(tmp_path: Path, field: str) -> None:
    host = Host(tmp_path / "runs.db")
    async with host.runtime() as runtime:
        grant = await granted(runtime, {**ANYWHERE, **BELOW})
    assert host.path is not None
    with closing(sqlite3.connect(host.path)) as database, database:
        row = database.execute("SELECT input FROM run WHERE run_id = ?", (grant.id,)).fetchone()
        document = json.loads(row[0])
        other = {"uses": 9, "expires_at": 1e9, "pattern": None}.get(field, "s")
        document[field] = other if document[field] != other else "t"
        changed = json.dumps(document).encode()
        database.execute("UPDATE run SET input = ? WHERE run_id = ?", (changed, grant.id))
    async with host.runtime() as runtime:
        assert await runtime.suspensions.grants("s") == ()
        assert await status(runtime) == "suspended"
        await runtime.suspensions.revoke(grant.id)


async def test_an_answer_in_an_older_file_grants_nothing_again(tmp_path: Path) -> None:
    host = Host(tmp_path / "runs.db")
    host.facts["annotations"] = {**SAFE, "idempotent": True}  # and so executed again
    async with host.runtime() as runtime:
        waiting = await asked(runtime)
    async with host.runtime(worker=False) as client:  # nobody executes the call
        answer: Any = {"approved": True, "grant": ANYWHERE}
        kept = await client.suspensions.answer(waiting.token, answer, by="jo", wait_s=0.0)
    assert kept.status == "running"
    shutil.copy(tmp_path / "runs.db", tmp_path / "copy.db")
    async with host.runtime() as runtime:
        assert (await runtime.suspensions.result(waiting.token)).status == "ok"
        assert [await status(runtime) for _ in range(3)] == ["ok", "ok", "suspended"]
    shutil.copy(tmp_path / "copy.db", tmp_path / "runs.db")
    async with host.runtime() as runtime:
        assert (await runtime.suspensions.result(waiting.token)).status == "ok"
        assert await runtime.suspensions.grants("s") == ()
        assert await status(runtime) == "suspended"
        host.clock.now += 1
        await granted(runtime)
        assert await status(runtime) == "ok"


async def test_a_file_that_is_accepted_for_a_lost_one_has_no_grants(tmp_path: Path) -> None:
    kept, lost = Host(tmp_path / "kept.db"), Host(tmp_path / "lost.db")
    for host in (kept, lost):
        async with host.runtime() as runtime:
            await granted(runtime)
    for suffix in ("", ".key"):
        shutil.copy(tmp_path / f"kept.db{suffix}", tmp_path / f"lost.db{suffix}")
    engine = InProcessEngine(lost.path)
    assert await engine.restore() is not None
    await engine.close()
    async with lost.runtime() as runtime:
        assert await runtime.suspensions.grants("s") == ()
        assert await status(runtime) == "suspended"
    async with kept.runtime() as runtime:
        assert await status(runtime) == "ok"
