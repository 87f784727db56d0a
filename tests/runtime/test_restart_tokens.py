"""Tokens, secrets and frozen calls in a file of runs, over which a later runtime answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.runtime.runs_file import CONFIRMED, YES, File
from tests.runtime.runs_file import file as file
from tests.runtime.tools import Listing
from toolgen.runtime import Runtime
from toolgen.waiting.errors import TamperedSuspensionError, UnknownSuspensionError, UnsealedSuspensionError

OLD, NEW = b"the secret of this host, 32 bytes", b"the next secret of this host, 32 "


async def test_a_secret_is_replaced_while_calls_wait(file: File) -> None:
    asked = await file.asked(CONFIRMED, secret=OLD)
    async with file.serving(Listing(), CONFIRMED, secret=(NEW, OLD)) as made:
        (listed,) = await made.suspensions.list("s")
        assert (listed.token != asked.token, listed.id) == (True, asked.id)
        assert await made.suspensions.show(asked.token) == listed
    async with file.serving(Listing(), CONFIRMED, secret=NEW) as made:
        with pytest.raises(UnknownSuspensionError):
            await made.suspensions.answer(asked.token, YES)
        with pytest.raises(UnsealedSuspensionError):  # the old secret was dropped too early
            await made.suspensions.answer(listed.token, YES)
        assert await made.suspensions.list() == ()
        await made.suspensions.adopt(asked.run_id, by="ann")
        assert await made.suspensions.list() == (listed,)
        assert (await made.suspensions.answer(listed.token, YES)).status == "ok"


async def test_the_files_hold_no_token_and_no_secret_but_in_the_key(file: File) -> None:
    asked = await file.asked(CONFIRMED)
    mac = asked.token.rpartition(".")[2].encode()
    kept = {one.name: one.read_bytes() for one in file.path.parent.iterdir() if one.is_file()}
    secret = kept.pop("runs.db.key")
    assert (file.path.parent / "runs.db.key").stat().st_mode & 0o777 == 0o600
    for name, content in kept.items():
        assert asked.token.encode() not in content, name
        assert mac not in content, name
        assert secret.strip() not in content, name
    assert any(asked.id.encode() in content for content in kept.values())


async def test_who_reads_the_files_can_approve_nothing(file: File, tmp_path: Path) -> None:
    """All but the key, with a key of their own; before there is an answer, and with one that is kept."""
    asked = await file.asked(CONFIRMED)
    async with Runtime(engine=file.engine(worker=False)) as desk:
        other = await file.asked(CONFIRMED)
        await desk.suspensions.answer(other.token, YES, by="jo", wait_s=0)
    copy = File(tmp_path / "copy" / "runs.db")
    copy.path.parent.mkdir()
    for one in file.path.parent.iterdir():
        if one.is_file() and one.suffix != ".key":
            copy.path.with_name(one.name).write_bytes(one.read_bytes())
    async with Runtime(engine=copy.engine(worker=False), secret=OLD) as reader:
        assert await reader.suspensions.list() == ()
        await reader.suspensions.adopt(asked.run_id, by="eve")
        (forged,) = await reader.suspensions.list()
        assert forged.id == asked.id
    executor = Listing()
    async with file.serving(executor, CONFIRMED) as made:
        assert (await made.suspensions.answer(other.token, YES, by="jo")).status == "ok"
        for token in (forged.token, asked.token.rpartition(".")[0], f"{asked.token}x"):
            with pytest.raises(UnknownSuspensionError):
                await made.suspensions.answer(token, YES)
        assert await made.suspensions.list() == (asked,)
    assert len(executor.calls) == 1


TAMPERING: dict[str, Callable[[bytes, bytes], bytes]] = {
    "other arguments": lambda kept, other: kept.replace(b"s1", b"s2"),
    "nothing": lambda kept, other: b"{}",
    "another call": lambda kept, other: other,
}
"""By name, what somebody writes in the place of a frozen call."""


@pytest.mark.parametrize("change", TAMPERING)
async def test_what_somebody_changed_in_the_file_never_runs(file: File, change: str) -> None:
    asked, other = await file.asked(CONFIRMED), await file.asked(CONFIRMED)
    with closing(sqlite3.connect(file.path)) as database, database:
        others = dict(holding(database, other.id))
        for place, kept in holding(database, asked.id):
            table, column = place
            changed = TAMPERING[change](kept, others[place])
            database.execute(f'UPDATE {table} SET "{column}" = ? WHERE "{column}" = ?', (changed, kept))
    executor = Listing()
    async with file.serving(executor, CONFIRMED) as made:
        with pytest.raises(TamperedSuspensionError):
            await made.suspensions.answer(asked.token, YES)
    assert executor.calls == []


def holding(database: sqlite3.Connection, text: str) -> list[tuple[tuple[str, str], bytes]]:
    """Return the bytes in the file that hold a text, with table and column."""
    found: list[tuple[tuple[str, str], bytes]] = []
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        for _, column, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
            rows = database.execute(f'SELECT "{column}" FROM {table} WHERE instr("{column}", ?) > 0', (text,))
            found += [((table, column), kept) for (kept,) in rows if isinstance(kept, bytes)]
    assert found
    return found
