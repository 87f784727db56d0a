"""The example over several processes: what one asks for is approved, changed and delivered in another."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from tests import test_home_later
from tests.test_home_later import ASKING, MIRA, ROOT, run, settings, waiting
from toolgen.runtime import Runtime

pytestmark = pytest.mark.costly

path = test_home_later.path
connection = test_home_later.connection
home = test_home_later.home
project = test_home_later.project


def test_a_reset_asked_for_in_one_process_is_approved_and_done_in_another(
    project: Path, connection: sqlite3.Connection
) -> None:
    before = settings(connection, "h09")
    assert before
    token = run(project, "-c", ASKING).strip()
    assert settings(connection, "h09") == before
    answer = json.loads(run(project, "-m", "toolgen", "approve", token, "--yes"))
    assert answer == {"name": "Reading lamp", "lost": before}
    assert settings(connection, "h09") == {}


def test_an_approval_may_say_what_stays(project: Path, connection: sqlite3.Connection) -> None:
    before = settings(connection, "h09")
    assert isinstance(before, dict)
    token = run(project, "-c", ASKING).strip()
    answer = json.loads(
        run(project, "-m", "toolgen", "approve", token, "--yes", "--payload", '{"keep_on": true}')
    )
    assert answer["lost"] == {name: value for name, value in before.items() if name != "on"}
    assert settings(connection, "h09") == {"on": before["on"]}


async def test_a_firmware_update_is_delivered_by_another_process(
    home: Runtime, connection: sqlite3.Connection, path: Path
) -> None:
    result = await home.call("update_firmware", '{"device_id": "h09", "version": "2.4.0"}', MIRA)
    assert (result.status, result.json) == ("pending", b'{"minutes":4}')
    job = waiting(result)
    program = ("-m", "examples.home.firmware", job.handle, job.token, str(path))
    said = await asyncio.to_thread(run, ROOT, *program)  # this process executes what is delivered
    assert said.splitlines() == ["25 percent", "50 percent", "100 percent", '{"version":"2.4.0"}']
    assert connection.execute("select id, percent from firmware_job").fetchall()[0][:] == (job.handle, 100)
    assert await home.suspensions.list() == ()
