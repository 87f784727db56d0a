"""Formats of what a runtime stores: only today's number is read; a file of another one is refused, unchanged.

Each file is made by today's writer, then gets the other number where the format has it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.agents.tools import agent
from toolgen.adapters.postgres.tables import FORMAT
from toolgen.agents import Agents, PlanInput, PlanResult, ScriptedPlanner, SqliteSessionStore, agents_of
from toolgen.agents.loop.documents import LOOP as AGENT
from toolgen.agents.loop.documents import LOOP_VERSION
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import SqliteArtifactStore, SqliteCredentialStore, SqliteStateStore
from toolgen.engines import InProcessEngine, NondeterminismError
from toolgen.events.document import as_json, from_json
from toolgen.events.records import RunCompleted
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.stores import ForeignFileError, StoreFormatError
from toolgen.waiting.frozen import FIRST
from toolgen.waiting.loop import LOOP as CALL
from toolgen.waiting.loop import VERSION

HINT: Final = "use the version of toolgen that wrote it, or another file"
SQLITE: Final[dict[str, tuple[int, Callable[[Path], Any]]]] = {
    "runs": (4, InProcessEngine),
    "sessions": (2, SqliteSessionStore),
    "artifacts": (2, SqliteArtifactStore),
    "state": (1, SqliteStateStore),
    "credentials": (1, lambda path: SqliteCredentialStore(path, secret=b"s" * 32)),
}
"""The number of each file, and what opens it."""
NEWEST: Final = {AGENT: LOOP_VERSION, CALL: VERSION}
"""The version of each loop."""
OTHERS: Final = [
    (content, number)
    for content, (newest, _) in SQLITE.items()
    for number in range(newest + 2)
    if number != newest
]


async def new_file(folder: Path, content: str) -> Path:
    """Make a file that is closed."""
    path = folder / "a.db"
    opened = SQLITE[content][1](path)
    if isinstance(opened, InProcessEngine):
        await opened.start()
        await opened.close()
    else:
        opened.close()
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(("content", "number"), OTHERS)
async def test_a_file_in_another_format_is_refused_unchanged(
    tmp_path: Path, content: str, number: int
) -> None:
    newest, opens = SQLITE[content]
    path = await new_file(tmp_path, content)
    execute(path, f"PRAGMA user_version = {number}")
    before = files(tmp_path)
    with pytest.raises(StoreFormatError) as caught:
        opens(path)
    says = f"{str(path)!r} holds {content} in format {number}, and this toolgen reads format {newest}"
    assert str(caught.value) == f"{says}\n  hint: {HINT}"
    assert files(tmp_path) == before


@pytest.mark.parametrize("content", SQLITE)
async def test_a_file_without_a_number_is_refused_unchanged(tmp_path: Path, content: str) -> None:
    path = await new_file(tmp_path, content)
    execute(path, "PRAGMA user_version = 0", "PRAGMA application_id = 0")
    before = files(tmp_path)
    with pytest.raises(ForeignFileError, match=f"is a database with other contents than {content}") as caught:
        SQLITE[content][1](path)
    assert caught.value.hint == f"use a separate file for the {content}"
    assert files(tmp_path) == before


@pytest.mark.parametrize("number", ["0", "2", "null", "true", "1.0", '"1"'])
async def test_a_witness_in_another_format_is_refused_unchanged(tmp_path: Path, number: str) -> None:
    path = await new_file(tmp_path, "runs")
    witness = path.with_name("a.db.witness")
    first = witness.read_text()
    assert first.startswith('["witness",1,')
    witness.write_text(first.replace('["witness",1,', f'["witness",{number},'))
    before = files(tmp_path)
    engine = InProcessEngine(path)
    with pytest.raises(StoreFormatError, match=r"a\.db\.witness' is a witness in format .*reads format 1"):
        await engine.start()
    with pytest.raises(StoreFormatError):
        await engine.check()
    await engine.close()
    assert files(tmp_path) == before


async def wipe() -> str:
    """Wipe a disk."""
    raise AssertionError("nobody has approved it")


async def never(given: PlanInput) -> PlanResult:
    await asyncio.Event().wait()
    raise AssertionError("its process ends before")


def runtime_of(path: Path) -> Runtime:
    runtime = Runtime(engine=InProcessEngine(path))
    Agents(runtime).register(agent("x.agent", ScriptedPlanner([never])))
    confirmed = func_tool(wipe, toolset="x.disks", confirm=ConfirmSpec(hint="Wipe it?"))
    runtime.tools.register(function_toolset("x.disks", [confirmed]))
    return runtime


async def new_runs(path: Path) -> dict[str, str]:
    """Begin a run of each loop, and return their ids; one waits, the other is cut off as its process ends."""
    async with runtime_of(path) as runtime:
        asked = (await runtime.call("wipe", {}, CallMeta(session_id="s"))).suspension
        assert asked is not None
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await anext(handle.events())
        return {AGENT: handle.run_id, CALL: asked.run_id}


def rows(path: Path) -> dict[str, list[Any]]:
    """Return what a journal has of what runs and conversations did."""
    tables = "op", "attempt", "event", "wait", "session", "turn", "message", "active"
    with closing(sqlite3.connect(path)) as database:
        return {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


@pytest.mark.parametrize(
    ("loop", "number"),
    [
        (loop, number)
        for loop, newest in NEWEST.items()
        for number in (None, *range(newest + 2))
        if number != newest
    ],
)
async def test_a_run_of_another_version_of_its_loop_stands_still(
    tmp_path: Path, loop: str, number: int | None
) -> None:
    path = tmp_path / "runs.db"
    run_id = (await new_runs(path))[loop]
    with closing(sqlite3.connect(path)) as database, database:
        (kept,) = database.execute("SELECT input FROM run WHERE run_id = ?", (run_id,)).fetchone()
        given = json.loads(kept)
        (given["facts"] if loop == AGENT else given)["version"] = number
        database.execute("UPDATE run SET input = ? WHERE run_id = ?", (json.dumps(given).encode(), run_id))
        database.execute("DELETE FROM run WHERE run_id != ?", (run_id,))
    before = rows(path)
    says = f"run {run_id} has version {number} of the loop {loop!r}; this toolgen executes {NEWEST[loop]}"
    async with runtime_of(path) as runtime:
        assert runtime.engine is not None
        if loop == CALL:  # which waits, and is not executed before it is answered
            await runtime.engine.answer(run_id, FIRST, None, key="k")
        with pytest.raises(NondeterminismError, match=says):
            await runtime.engine.settled(run_id)
    assert rows(path) == before


@pytest.mark.parametrize("number", [0, 1, 3, None, "2"])
def test_an_event_in_another_format_is_refused(number: object) -> None:
    document = {**as_json(RunCompleted(status="completed")), "format": number}
    with pytest.raises(ValueError, match=f"the event has format {number!r}, and this toolgen reads format 2"):
        from_json(document)


def test_the_guide_has_the_number_of_each_format() -> None:
    """The page of operators, which they read before an upgrade."""
    page = Path(__file__).parent.parent.joinpath("docs/production.md").read_text("utf-8")
    rows = {"sessions": "conversations in a file of their own"}
    for name, (number, _) in SQLITE.items():
        assert f"| {rows.get(name, name)} | {number} |\n" in page
    assert f"(#create-the-schema) | {FORMAT} |\n" in page
    assert f"{LOOP_VERSION} for runs of agents, {VERSION} for direct calls" in page
