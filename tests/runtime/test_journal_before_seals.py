"""A journal of the version before records were sealed (7f9ddf1): what waits there is adopted, and works.

`journals/before_seals.sql` is a dump of its file, with calls that wait for more than a hundred years: one for
an approval, one of which the answer is kept and not executed, and one of a tool that has been answered once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

import pytest

from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.toolsets.functions import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, Suspended, ToolContext, ToolOutcome, Unfinished
from toolgen.waiting.errors import UnsealedSuspensionError

JOURNALS: Final = Path(__file__).parent / "journals"
KEPT: Final = json.loads((JOURNALS / "before_seals.json").read_text())
WAITS, ANSWERED, ASKED_TWICE = (KEPT["tokens"][name] for name in ("waits", "answered", "asked twice"))
YES: dict[str, Any] = {"approved": True}


async def wipe(name: str) -> str:
    """Wipe a disk.

    Args:
        name: Of the disk.
    """
    return f"{name} is wiped"


async def drop(table: str, ctx: ToolContext) -> str | Unfinished:
    """Drop a table.

    Args:
        table: Its name.
    """
    if (why := ctx.answered(str, "Why?")) is None:
        return ToolOutcome.ask("Why?", str)
    if not ctx.approved("Really?"):
        return ToolOutcome.approval("Really?")
    return f"{table} is dropped: {why}"


class Journal:
    """The file, and the runtimes of now that open it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "runs.db"
        with closing(sqlite3.connect(self.path)) as database:
            database.executescript((JOURNALS / "before_seals.sql").read_text())
        key = folder / "runs.db.key"
        key.write_bytes(bytes.fromhex(KEPT["key"]))
        key.chmod(0o600)

    @asynccontextmanager
    async def opened(self, *, checks: bool = False) -> AsyncIterator[Runtime]:
        runtime = Runtime(engine=InProcessEngine(self.path))
        confirmed = func_tool(wipe, toolset="x.tools", confirm=ConfirmSpec(hint="Wipe {name}?"))
        runtime.tools.register(function_toolset("x.tools", [confirmed, drop]))
        if checks:
            runtime.runs.be_client(checks=True)
        async with runtime:
            yield runtime

    async def adopt(self) -> None:
        """Adopt everything, before a worker has the file."""
        async with self.opened(checks=True) as desk:
            for one in await desk.waits.check():
                await desk.waits.adopt(one.run_id, by="ann")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


async def test_it_gets_the_tables_of_conversations(journal: Journal) -> None:
    """It is of version 1 of the file; what it held stays, and a conversation can begin in it."""
    assert _facts(journal.path) == (1, 0)
    engine = InProcessEngine(journal.path, worker=False)
    assert engine.file is not None
    made = await SqliteSessionStore(engine.file).create("s", "a")
    assert await SqliteSessionStore(engine.file).list() == (made,)
    assert len(await engine.list_runs()) == 3
    await engine.close()
    assert _facts(journal.path) == (3, 7)


async def test_what_waits_is_unsealed(journal: Journal) -> None:
    async with journal.opened() as runtime:
        assert await runtime.waits.list() == ()
        for token in (WAITS, ASKED_TWICE):
            with pytest.raises(UnsealedSuspensionError, match="toolgen runs check --adopt"):
                await runtime.waits.answer(token, YES)
            with pytest.raises(UnsealedSuspensionError):
                await runtime.waits.show(token)
        assert {one.state for one in await runtime.waits.check()} == {"unsealed"}


async def test_what_an_operator_adopts_is_answered_by_its_token_of_before(journal: Journal) -> None:
    await journal.adopt()
    async with journal.opened() as runtime:
        result = await runtime.waits.answer(WAITS, YES)
        assert (result.status, result.result) == ("ok", "disk is wiped")


async def test_an_answer_that_was_kept_counts_once_its_call_is_adopted(journal: Journal) -> None:
    await journal.adopt()
    async with journal.opened() as runtime:
        assert (await runtime.waits.result(ANSWERED)).result == "tape is wiped"


async def test_a_worker_that_comes_before_the_operator_asks_again(journal: Journal) -> None:
    """An answer that was kept runs nothing while nobody has vouched for its call."""
    async with journal.opened() as runtime:
        assert runtime.engine is not None
        for status in await runtime.engine.list_runs():
            await runtime.engine.settled(status.run_id)
        (waiting,) = [one for one in await runtime.waits.check() if _name(one.call) == "tape"]
        assert (waiting.state, waiting.op) == ("unsealed", "wait:2")
        await runtime.waits.adopt(waiting.run_id, by="ann")
        (again,) = await runtime.waits.list()
        assert (again.question, again.arguments) == ("Wipe tape?", {"name": "tape"})
        assert (await runtime.waits.answer(again.token, YES)).result == "tape is wiped"


async def test_an_earlier_answer_without_a_seal_is_asked_for_again(journal: Journal) -> None:
    """The operator vouches for the question that is open; the approval of now counts."""
    await journal.adopt()
    async with journal.opened() as runtime:
        again = (await runtime.waits.answer(ASKED_TWICE, YES)).suspension
        assert isinstance(again, Suspended)
        assert (again.kind, again.question) == ("input", "Why?")
        assert (await runtime.waits.answer(again.token, "cleanup")).result == "users is dropped: cleanup"


def _name(call: object) -> str:
    payload: bytes = getattr(call, "payload_json", b"{}")
    return str(json.loads(payload).get("name"))


def _facts(path: Path) -> tuple[int, int]:
    """Return the version of a file, and how many tables for conversations it has."""
    tables = "session", "turn", "message", "answer", "spoken", "engine", "active"
    query = f"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN {tables}"
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (count,) = database.execute(query).fetchone()
    return version, count
