"""Brief steps of a store: run in the event loop, unless something is in their way."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.runtime.store_files import adding, notes, texts
from toolgen.agents import Turn
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.stores import StoreClosedError, StoreLockedError
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.transactions import Transaction


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    with closing(notes(tmp_path, synchronous="NORMAL")) as file:
        yield file


async def thread(tx: Transaction) -> int:
    return threading.get_ident()


async def test_brief_steps_are_run_in_the_event_loop(file: SqliteFile, tmp_path: Path) -> None:
    here = threading.get_ident()
    assert await file.write(thread, is_brief=True) == here
    assert await file.read(thread, is_brief=True) == here
    assert await file.write(thread) != here
    (tmp_path / "full").mkdir()
    with closing(notes(tmp_path / "full", synchronous="FULL")) as full:
        assert await full.write(thread, is_brief=True) != here, "the disk decides how long it takes"
        assert await full.read(thread, is_brief=True) == here


async def test_a_brief_step_comes_after_those_of_the_thread(file: SqliteFile) -> None:
    """It holds up nobody, and what was asked first is done first."""
    begun, go_on = threading.Event(), threading.Event()

    async def slow(tx: Transaction) -> None:
        begun.set()
        go_on.wait()
        await adding("slow")(tx)

    first = asyncio.create_task(file.write(slow))
    await asyncio.to_thread(begun.wait)
    second = asyncio.create_task(file.write(adding("queued")))
    third = asyncio.create_task(file.write(adding("brief"), is_brief=True))
    await asyncio.sleep(0)
    assert await file.read(texts, is_brief=True) == []
    go_on.set()
    await asyncio.gather(first, second, third)
    assert await file.read(texts, is_brief=True) == ["slow", "queued", "brief"]
    assert await file.write(thread, is_brief=True) == threading.get_ident(), "the thread has no more to do"


async def test_few_turns_of_a_conversation_are_read_in_the_event_loop(tmp_path: Path) -> None:
    def threads() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name.startswith("toolgen sqlite")}

    with closing(SqliteSessionStore(tmp_path / "sessions.db")) as store:
        await store.create("s", "a")
        before = threads()
        for number in range(20):
            run_id = f"r{number}"
            await store.begin(Turn(id=run_id, session_id="s", run_id=run_id, agent="a", started_at=0.0))
            if number < 16:
                assert len(await store.transcript("s")) == number + 1
        assert len(await store.transcript("s", newest=16)) == 16
        assert threads() == before
        assert len(await store.transcript("s")) == len(await store.transcript("s", newest=99)) == 20
        assert len(threads() - before) == 1


async def test_a_step_that_was_canceled_before_it_began_is_in_nobodys_way(file: SqliteFile) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def slow(tx: Transaction) -> None:
        begun.set()
        go_on.wait()

    first = asyncio.create_task(file.write(slow))
    await asyncio.to_thread(begun.wait)
    second = asyncio.create_task(file.write(adding("canceled")))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go_on.set()
    await first
    assert await file.write(thread, is_brief=True) == threading.get_ident()
    assert await file.read(texts) == []


async def test_a_locked_file_holds_up_no_event_loop(tmp_path: Path) -> None:
    with closing(notes(tmp_path, synchronous="NORMAL", busy_s=0.05)) as file:
        with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = [asyncio.create_task(file.write(adding(text), is_brief=True)) for text in "abc"]
            await asyncio.sleep(0)
            assert await file.read(texts, is_brief=True) == []
            for task in waiting:
                with pytest.raises(StoreLockedError, match=r"by another process for 0\.05 s"):
                    await task
            later = asyncio.create_task(file.write(adding("later"), is_brief=True))
            await asyncio.sleep(0)
            assert not later.done()
            other.execute("COMMIT")
        await later
        assert await file.read(texts, is_brief=True) == ["later"]


async def test_nothing_is_kept_of_a_brief_step_that_raises(file: SqliteFile) -> None:
    async def fails(tx: Transaction) -> None:
        await adding("a")(tx)
        raise KeyError("no")

    with pytest.raises(KeyError):
        await file.write(fails, is_brief=True)
    await file.write(adding("b"), is_brief=True)
    assert await file.read(texts) == ["b"]
    file.close()
    with pytest.raises(StoreClosedError):
        await file.write(adding("c"), is_brief=True)


async def test_a_step_that_waits_for_something_else_is_refused(file: SqliteFile) -> None:
    async def waits(tx: Transaction) -> None:
        await adding("a")(tx)
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="awaited something other than its transaction"):
        await file.write(waits)
    assert await file.read(texts) == []


def test_many_event_loops_use_one_store(tmp_path: Path) -> None:
    """Each in a thread of its own, and what one has written the others read."""
    store = SqliteSessionStore(tmp_path / "sessions.db")

    async def use(number: int) -> None:
        for turn in range(20):
            await store.create(f"s{number}-{turn}", "a")
            assert (await store.get(f"s{number}-{turn}")).agent == "a"

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(asyncio.run, use(number)) for number in range(4)]:
            done.result()
    assert len(asyncio.run(store.list())) == 80
    store.close()
