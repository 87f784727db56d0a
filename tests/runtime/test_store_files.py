"""The files of SQLite stores: opened at once by many, kept open, told from others, and what goes wrong."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import surroundings
from tests.runtime.session_stores import HELLO, turn
from tests.runtime.store_files import NOTES, STORES, adding, notes, texts
from tests.two_users import give_away
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.capabilities import Change, FileArtifactStore, SqliteArtifactStore, SqliteStateStore
from toolgen.stores import (
    ForeignFileError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreReadOnlyError,
    UnsafeFileError,
)
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.transactions import Transaction

each_store = pytest.mark.parametrize("content", STORES)


def other(path: Path) -> closing[sqlite3.Connection]:
    """Return a connection of somebody else, open until the end of the block."""
    return closing(sqlite3.connect(path / "notes.db", isolation_level=None, timeout=0))


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


async def uses_state(store: SqliteStateStore) -> None:
    await store.apply("app", "a", [Change(key="hits", operation="add", value=1)])
    assert await store.load("app", "a") == {"hits": 2}


async def uses_artifacts(store: SqliteArtifactStore) -> None:
    assert await store.save("s", "plan", b"22", "text/plain", {}, 100) == 2
    assert [info.size for info in await store.listed("s", "plan")] == [1, 2]


async def uses_sessions(store: SqliteSessionStore) -> None:
    await store.begin(turn("r"))
    await store.write("r", 0, [HELLO])
    assert (await store.transcript("s"))[0].messages == (HELLO,)


USES: dict[str, Callable[[Any], Awaitable[None]]] = {
    "state": uses_state,
    "artifacts": uses_artifacts,
    "sessions": uses_sessions,
}


@each_store
def test_a_file_of_another_store_is_refused(tmp_path: Path, content: str) -> None:
    for name, store in STORES.items():
        store(tmp_path / name)
        if name != content:
            with pytest.raises(ForeignFileError, match=f"other contents than {content}"):
                STORES[content](tmp_path / name)


@each_store
@pytest.mark.parametrize(
    "statement", ["CREATE TABLE state (id INTEGER)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"]
)
def test_a_database_of_an_application_is_refused_and_stays_as_it_was(
    tmp_path: Path, content: str, statement: str
) -> None:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
    before = path.read_bytes()
    with pytest.raises(ForeignFileError, match=r"app\.db' is a database with other contents") as caught:
        STORES[content](path)
    assert caught.value.path == path
    assert caught.value.hint == f"use a separate file for the {content}"
    assert path.read_bytes() == before


@each_store
def test_what_cannot_be_opened_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "text").write_bytes(b"no database at all, but some other text\n" * 50)
    for path, kind, says in (
        (tmp_path / "text", ForeignFileError, "text' is not a SQLite database"),
        (tmp_path / "missing" / "a.db", StoreMissingError, r"a\.db' is in a folder that does not exist"),
        (tmp_path, StoreError, "is a folder"),
        (Path(":memory:"), StoreError, "':memory:' is not a file"),
    ):
        with pytest.raises(kind, match=says) as caught:
            STORES[content](path)
        assert caught.value.hint
    assert not (tmp_path / "missing").exists()


@each_store
def test_a_new_file_is_its_owners(tmp_path: Path, content: str) -> None:
    store = STORES[content](tmp_path / "a.db")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600}
    store.close()


def test_the_access_to_a_file_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.db").touch(mode=0o640)
    with closing(notes(tmp_path)):
        assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o640}


def test_a_link_may_name_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "notes.db").symlink_to(tmp_path / "volume" / "real.db")
    asyncio.run(notes(tmp_path).write(adding("a")))
    assert (tmp_path / "volume" / "real.db").stat().st_size


def _share_log(path: Path, _: pytest.MonkeyPatch) -> None:
    log = path.with_name("a.db-wal")
    log.touch()
    log.chmod(0o666)


def _link_out(path: Path, _: pytest.MonkeyPatch) -> None:
    path.rename(path.parent.with_name("elsewhere.db"))
    path.symlink_to("../elsewhere.db")


def _link_to_nothing(path: Path, _: pytest.MonkeyPatch) -> None:
    path.unlink()
    path.symlink_to("../elsewhere.db")


def _share_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.chmod(0o1777)
    give_away(monkeypatch, path)


def _add_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite rolls it back, whatever the mode of the file."""
    path.parent.chmod(0o1777)
    journal = path.with_name("a.db-journal")
    journal.touch()
    give_away(monkeypatch, journal)


SHARED: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "mode 0666": lambda path, _: path.chmod(0o666),
    "mode 0602": lambda path, _: path.chmod(0o602),
    "a log of mode 0666": _share_log,
    "a link out of the folder": _link_out,
    "a link to nothing out of the folder": _link_to_nothing,
    "of another user in a folder of all": _share_folder,
    "a journal of another user in a folder of all": _add_journal,
}


@each_store
@pytest.mark.parametrize("how", SHARED)
def test_a_file_that_every_user_can_change_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, how: str
) -> None:
    path = tmp_path / "store/a.db"
    path.parent.mkdir()
    STORES[content](path).close()
    SHARED[how](path, monkeypatch)
    elsewhere = tmp_path / "elsewhere.db"
    before = elsewhere.exists()
    with pytest.raises(
        UnsafeFileError, match=r"a\.db.* (every user (can )?write|is a link to .*, outside its folder)"
    ) as caught:
        STORES[content](path)
    assert caught.value.hint
    assert elsewhere.exists() == before


@each_store
@pytest.mark.parametrize("mode", [0o640, 0o660, 0o644, 0o600], ids=oct)
def test_the_group_of_a_file_and_readers_may_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, mode: int
) -> None:
    """A folder that its group shares has files of each of them."""
    path = tmp_path / "a.db"
    STORES[content](path).close()
    path.chmod(mode)
    tmp_path.chmod(0o2770)
    give_away(monkeypatch, path)
    STORES[content](path).close()


async def test_a_file_that_is_shared_meanwhile_is_not_opened_again(tmp_path: Path) -> None:
    file = notes(tmp_path)
    await file.write(adding("a"))
    shutil.copy(tmp_path / "notes.db", tmp_path / "other")
    (tmp_path / "other").chmod(0o666)
    (tmp_path / "other").replace(tmp_path / "notes.db")
    with pytest.raises(UnsafeFileError, match="0666"):
        await file.read(texts)


@pytest.mark.parametrize("how", ["mode", "link"])
def test_a_folder_of_a_store_that_every_user_can_change_is_refused(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "store/artifacts"
    folder.mkdir(parents=True)
    FileArtifactStore(folder)
    if how == "mode":
        folder.chmod(0o777)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFileError, match="artifacts"):
        FileArtifactStore(folder)


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = SqliteFile("notes.db", NOTES)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    asyncio.run(file.write(adding("a")))
    assert not list((tmp_path / "below").iterdir())


async def test_nothing_is_kept_of_a_step_that_raises(tmp_path: Path) -> None:
    file = notes(tmp_path)

    async def fails(tx: Transaction) -> None:
        await adding("a")(tx)
        raise KeyError("no")

    with pytest.raises(KeyError):
        await file.write(fails)
    await file.write(adding("b"))
    with pytest.raises(sqlite3.IntegrityError):  # a wrong statement says nothing of the file
        await file.write(adding("b"))
    assert await file.read(texts) == ["b"]


async def test_a_locked_file_is_read_and_says_so_to_writers(tmp_path: Path) -> None:
    file = notes(tmp_path, busy_s=0)
    with other(tmp_path) as database:
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError, match=r"notes\.db' has been locked by another process for 0 s"):
            await file.write(adding("a"))
        assert await file.read(texts) == []
        database.execute("COMMIT")
    await file.write(adding("a"))
    assert await file.read(texts) == ["a"]


@pytest.mark.exhaustive
async def test_a_locked_file_holds_up_nothing_else(tmp_path: Path) -> None:
    """Neither the threads of `asyncio.to_thread`, nor another file, nor what is read."""
    store, beside = SqliteStateStore(tmp_path / "notes.db"), SqliteStateStore(tmp_path / "beside.db")
    add = [Change(key="hits", operation="add", value=1)]
    with other(tmp_path) as database:
        database.execute("BEGIN IMMEDIATE")
        writing = [asyncio.create_task(store.apply("app", "a", add)) for _ in range(40)]
        await asyncio.sleep(0)
        await asyncio.to_thread(gc.collect)
        await beside.apply("app", "a", add)
        assert await store.load("app", "a") == {}
        assert not any(task.done() for task in writing)
        database.execute("COMMIT")
        await asyncio.gather(*writing)
    assert await store.load("app", "a") == {"hits": 40}


async def test_a_full_disk_says_so(tmp_path: Path) -> None:
    file = notes(tmp_path)

    async def fill(tx: Transaction) -> None:
        await tx.change("PRAGMA max_page_count = 1")
        await adding("x" * 100_000)(tx)

    with pytest.raises(StoreFullError, match="cannot grow: database or disk is full"):
        await file.write(fill)
    await file.write(adding("a"))
    assert await file.read(texts) == ["a"]


async def test_a_file_that_cannot_be_written_to_says_so(tmp_path: Path) -> None:
    file = notes(tmp_path)

    async def writes(tx: Transaction) -> None:
        await tx.change("PRAGMA query_only = ON")
        await adding("a")(tx)

    with pytest.raises(StoreReadOnlyError, match="cannot be written to"):
        await file.write(writes)


async def test_a_damaged_file_says_so_until_it_is_restored(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(notes(tmp_path)) as file:
        for number in range(100):
            await file.write(adding(f"{number} " + "x" * 500))
    shutil.copy(path, tmp_path / "backup")
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xaa" * (len(whole) - 4096))
    file = notes(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreCorruptError, match=r"notes\.db' is damaged"):
            await file.read(texts)
    (tmp_path / "backup").rename(path)
    assert len(await file.read(texts)) == 100


async def test_a_file_that_was_removed_says_so_until_it_is_back(tmp_path: Path) -> None:
    file = notes(tmp_path)
    await file.write(adding("a"))
    with other(tmp_path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (tmp_path / "notes.db").rename(tmp_path / "away")
    for step in (file.read(texts), file.write(texts)):
        with pytest.raises(StoreMissingError, match=r"notes\.db' cannot be found any more"):
            await step
    assert not (tmp_path / "notes.db").exists()
    (tmp_path / "away").rename(tmp_path / "notes.db")
    assert await file.read(texts) == ["a"]


async def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with closing(notes(tmp_path / "new")) as new:
        await new.write(adding("new"))
    file = notes(tmp_path)
    await file.write(adding("old"))
    assert await file.read(texts) == ["old"]
    (tmp_path / "notes.db-wal").unlink()
    (tmp_path / "notes.db-shm").unlink()
    (tmp_path / "new" / "notes.db").rename(tmp_path / "notes.db")
    assert await file.read(texts) == ["new"]
    await file.write(adding("newer"))
    assert await file.read(texts) == ["new", "newer"]


@each_store
async def test_a_closed_store_says_so(tmp_path: Path, content: str) -> None:
    store = STORES[content](tmp_path / "a.db")
    store.close()
    store.close()
    assert files(tmp_path) == ["a.db"]
    with pytest.raises(StoreClosedError, match=r"a\.db' was closed"):
        await USES[content](store)


async def test_a_step_that_is_being_run_ends_before_the_file_is_closed(tmp_path: Path) -> None:
    file = notes(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    async def step(tx: Transaction) -> None:
        begun.set()
        go_on.wait()
        await adding("a")(tx)

    first, second = asyncio.create_task(file.write(step)), asyncio.create_task(file.write(adding("b")))
    await asyncio.to_thread(begun.wait)
    file.close()
    go_on.set()
    await first
    with pytest.raises(StoreClosedError):
        await second
    with closing(notes(tmp_path)) as again:
        assert await again.read(texts) == ["a"]


def test_the_errors_of_stores_load_no_database() -> None:
    code = "import sys, json, toolgen.stores; print(json.dumps('sqlite3' in sys.modules))"
    printed = subprocess.check_output([sys.executable, "-c", code], env=surroundings())
    assert json.loads(printed) is False
