"""What the example leaves for later: approvals, work in other processes, tools after a login."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from examples.home import database, demo
from examples.home.app import assistant
from toolgen.runtime import CallMeta, ImageContent, ReadonlyContext, Runtime, Suspended, ToolResult

ROOT = Path(demo.__file__).parents[2]
MIRA = CallMeta(session_id="s-mira")
JONAS = CallMeta(session_id="s-jonas")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    database.build(tmp_path / "home.db")
    return tmp_path / "home.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(database.connect(path)) as connection:
        yield connection


@pytest.fixture
def home(connection: sqlite3.Connection, path: Path) -> Runtime:
    return assistant(connection, path)


@pytest.fixture
def project(path: Path) -> Path:
    """A project whose runtime is the example over the test's own database."""
    (path.parent / "pyproject.toml").write_text(
        '[tool.toolgen]\ndesign = "examples.home.design"\nruntime = "own:runtime"\n', encoding="utf-8"
    )
    source = f"""
        from pathlib import Path
        from examples.home import app

        def runtime():
            return app.runtime(Path({str(path)!r}))
        """
    (path.parent / "own.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return path.parent


def run(folder: Path, *arguments: str) -> str:
    """Return what a Python process prints; it fails when the process does."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def settings(connection: sqlite3.Connection, device_id: str) -> object:
    (text,) = connection.execute("select settings from device where id = ?", [device_id]).fetchone()
    return json.loads(text)


def waiting(result: ToolResult) -> Suspended:
    assert result.suspension is not None, result.json
    return result.suspension


ASKING = """
import asyncio, own
from toolgen.runtime import CallMeta

meta = CallMeta(session_id="s-mira")
with own.runtime() as runtime:
    result = asyncio.run(runtime.call("factory_reset", '{"device_id": "h09"}', meta))
print(result.suspension.token)
"""


@pytest.mark.exhaustive
def test_a_reset_denied_in_another_process_never_runs(project: Path, connection: sqlite3.Connection) -> None:
    before = settings(connection, "h09")
    token = run(project, "-c", ASKING).strip()
    said = run(project, "-m", "toolgen", "approve", token, "--deny", "--message", "not tonight")
    assert json.loads(said)["error"] == "not tonight"
    assert settings(connection, "h09") == before


async def test_a_person_sees_what_would_happen(home: Runtime) -> None:
    asked = waiting(await home.call("factory_reset", '{"device_id": "h09"}', MIRA))
    assert asked.question == "Reset h09 to factory settings? Its settings are lost."
    assert asked.preview == "Resetting h09"


async def test_an_image_of_readings_is_a_png(home: Runtime) -> None:
    result = await home.call("draw_readings", '{"device_id": "h15"}', MIRA)
    (image,) = result.content
    assert isinstance(image, ImageContent)
    assert image.data[:16] == b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    assert struct.unpack(">II", image.data[16:24]) == (336, 96)
    (length,) = struct.unpack(">I", image.data[33:37])
    assert len(zlib.decompress(image.data[41 : 41 + length])) == 96 * (1 + 336)
    assert result.display == "humidity of Living room climate, 168 hours"


async def test_admin_tools_come_with_the_request_after_the_sign_in(
    home: Runtime, connection: sqlite3.Connection
) -> None:
    async def names(meta: CallMeta) -> set[str]:
        return {spec.name for spec in (await home.tools.snapshot(ReadonlyContext(meta=meta))).specs}

    assert "rename_room" not in await names(MIRA)
    wrong = await home.call("sign_in", '{"pin": "0000"}', MIRA)
    assert wrong.status == "error"
    assert "rename_room" not in await names(MIRA)
    assert (await home.call("sign_in", '{"pin": "2718"}', MIRA)).status == "ok"
    assert "rename_room" in await names(MIRA)
    assert "rename_room" not in await names(JONAS)
    snapshot = await home.tools.snapshot(ReadonlyContext(meta=MIRA))
    arguments = '{"site_id": "harbour", "old": "Hall", "new": "Entrance"}'
    assert (await home.call("rename_room", arguments, MIRA, within=snapshot)).status == "ok"
    moved = "select count(*) from device where site_id = 'harbour' and room = ?"
    assert connection.execute(moved, ["Hall"]).fetchone()[0] == 0
    assert connection.execute(moved, ["Entrance"]).fetchone()[0] > 0


async def test_the_user_comes_from_the_session_and_never_from_the_model(home: Runtime) -> None:
    foreign = await home.call("draw_readings", '{"device_id": "h15"}', JONAS)
    assert b"no device 'h15'" in foreign.json
    nobody = await home.call("draw_readings", '{"device_id": "h15"}', CallMeta(session_id="s-none"))
    assert json.loads(nobody.json)["error"] == "Nobody is signed in."
    forged = await home.call("draw_readings", '{"device_id": "h15", "user_id": "mira"}', JONAS)
    assert b"unknown_field" in forged.json
