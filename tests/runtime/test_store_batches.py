"""Files that are written in batches: what is kept, what is refused, and what goes on when a fault is over."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from toolgen.stores import (
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    sqlite_batches,
    sqlite_thread,
)
from toolgen.stores.batched_file import BatchedFile
from toolgen.stores.sqlite_batches import SqliteBatches
from toolgen.stores.sqlite_format import SqliteFormat

FORMAT = SqliteFormat(
    content="words",
    application_id=77,
    version=1,
    statements=("CREATE TABLE word (text TEXT NOT NULL) STRICT",),
)
PUT = "INSERT INTO word (text) VALUES (?)"


@pytest.fixture(params=["NORMAL", "FULL"])
async def batches(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteBatches]:
    mode: Literal["NORMAL", "FULL"] = request.param
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous=mode, busy_s=0.05)
    yield batches
    await batches.close()


def words(database: sqlite3.Connection) -> list[str]:
    return [text for (text,) in database.execute("SELECT text FROM word ORDER BY rowid")]


def add(text: str) -> Any:
    def step(database: sqlite3.Connection) -> int:
        database.execute(PUT, (text,))
        return len(words(database))

    return step


async def test_a_turn_of_the_loop_is_one_transaction(batches: SqliteBatches) -> None:
    commits: list[tuple[set[str], set[str]]] = []
    batches.on_commit = lambda *names: commits.append(names)
    heard: list[str] = []
    for number in range(200):
        batches.put(PUT, str(number))
        batches.when_written(lambda number=number: heard.append(str(number)))  # type: ignore[misc]  # a default
        batches.mark(f"m{number % 2}")
        batches.mark(f"g{number % 2}", grows=True)
    assert not heard
    assert await batches.run(add("last")) == 201
    assert heard == [str(number) for number in range(200)]
    assert commits == [({"m0", "m1"}, {"g0", "g1"})]
    assert batches.read(words) == [*heard, "last"]


async def test_a_row_that_nobody_waits_for_is_written_soon(batches: SqliteBatches) -> None:
    written = asyncio.Event()
    batches.on_commit = lambda *_: written.set()
    batches.put(PUT, "a")
    await asyncio.wait_for(written.wait(), 60)
    assert batches.read(words) == ["a"]


async def test_a_row_whose_time_is_over_while_another_is_written_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_batches, "_LAZY_S", 0.0)
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous="FULL")
    may_end, written = threading.Event(), asyncio.Event()
    first = asyncio.ensure_future(batches.run(lambda _: may_end.wait(60)))
    for _ in range(3):  # until it is in the thread
        await asyncio.sleep(0)
    batches.put(PUT, "a")
    batches.when_written(written.set, is_urgent=False)
    for _ in range(3):  # until the time of the row is over
        await asyncio.sleep(0)
    may_end.set()
    assert await first
    await asyncio.wait_for(written.wait(), 60)
    assert batches.read(words) == ["a"]
    await batches.close()


async def test_a_step_that_refuses_hinders_nobody(batches: SqliteBatches) -> None:
    def refuse(database: sqlite3.Connection) -> None:
        raise LookupError("not this one")

    got = await asyncio.gather(
        batches.run(add("a")), batches.run(refuse), batches.run(add("b")), return_exceptions=True
    )
    assert got[0] == 1
    assert isinstance(got[1], LookupError)
    assert got[2] == 2


async def test_a_text_that_utf8_does_not_have_holds_up_no_other_row(batches: SqliteBatches) -> None:
    for text in ("a", "b\ud800", "c"):
        batches.put(PUT, text)
    await asyncio.wait_for(batches.wait_written(), 60)
    assert batches.read(words) == ["a", "b?", "c"]


async def test_what_is_contested_is_not_decided(tmp_path: Path) -> None:
    def contested(database: sqlite3.Connection) -> Collection[int]:
        return {2}

    batches = SqliteBatches(tmp_path / "words.db", FORMAT, contested=contested)
    heard: list[tuple[int, bool]] = []
    for about in (1, 2, 3):
        batches.put_unless_contested(
            PUT,
            str(about),
            about=about,
            then=lambda is_kept, a=about: heard.append((a, is_kept)),  # type: ignore[misc]  # a default
        )
    await batches.wait_written()
    assert heard == [(1, True), (2, False), (3, True)]
    assert batches.read(words) == ["1", "3"]
    await batches.close()


async def test_a_locked_file_holds_up_nobody_else(batches: SqliteBatches) -> None:
    """Rows are kept in memory until they can be written; requests are refused, and leave nothing."""
    with sqlite3.connect(batches.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        batches.put(PUT, "row")
        kept = asyncio.ensure_future(batches.wait_written())
        requests = [asyncio.ensure_future(batches.run(add("request"))) for _ in range(12)]
        assert await asyncio.to_thread(lambda: "free") == "free"
        for request in requests:
            with pytest.raises(StoreLockedError):
                await request
        assert batches.read(words) == []
        assert not kept.done()
        other.execute("COMMIT")
    other.close()
    assert await batches.run(add("later")) == 2
    await kept
    assert batches.read(words) == ["row", "later"]


async def test_a_request_waits_for_a_locked_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time in which the batch before it failed counts for it too."""
    now, is_written = [0.0], threading.Event()
    for module in (sqlite_batches, sqlite_thread):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous="FULL", busy_s=3600.0)
    other = sqlite3.connect(batches.path, isolation_level=None, check_same_thread=False)

    def fail(database: sqlite3.Connection) -> None:
        is_written.wait(60)
        database.execute("ROLLBACK")
        other.execute("BEGIN IMMEDIATE")
        now[0] = 3600.0
        database.execute("INSERT INTO nowhere VALUES (1)")

    failing = asyncio.ensure_future(batches.run(fail))
    for _ in range(3):  # until it is in the thread
        await asyncio.sleep(0)
    waiting = asyncio.ensure_future(batches.run(add("a")))
    await asyncio.sleep(0)
    is_written.set()
    with pytest.raises(StoreError, match="no such table"):
        await failing
    with pytest.raises(StoreLockedError, match="for 3600 s"):
        await asyncio.wait_for(waiting, 60)
    other.close()
    assert await batches.run(add("b")) == 1
    await batches.close()


async def test_it_goes_on_by_itself_when_there_is_room_again(batches: SqliteBatches) -> None:
    await batches.run(add("a"))
    with _no_room(batches.path):
        batches.put(PUT, "x" * 100_000)
        kept = asyncio.ensure_future(batches.wait_written())
        with pytest.raises(StoreFullError):
            await batches.run(add("y" * 100_000))
        assert batches.read(words) == ["a"]
    await asyncio.wait_for(kept, 60)
    assert batches.read(words) == ["a", "x" * 100_000]


async def test_a_file_that_is_gone_is_an_error_until_it_is_back(batches: SqliteBatches) -> None:
    await batches.run(add("a"))
    away = batches.path.with_name("away.db")
    batches.path.rename(away)
    batches.put(PUT, "b")
    with pytest.raises(StoreMissingError):
        await batches.run(add("c"))
    with pytest.raises(StoreMissingError):
        batches.read(words)
    away.rename(batches.path)
    assert await batches.run(add("d")) == 3
    assert batches.read(words) == ["a", "b", "d"]


async def test_it_is_opened_again_after_it_was_closed(batches: SqliteBatches) -> None:
    batches.put(PUT, "a")
    await batches.close()
    with pytest.raises(StoreError, match="was closed"):
        batches.read(words)
    batches.reopen()
    assert batches.read(words) == ["a"]
    assert await batches.run(add("b")) == 2


async def test_a_row_that_is_there_already_is_a_sign_of_damage(tmp_path: Path) -> None:
    """Such as one that an index has lost: the rows of its batch were written again for ever."""
    tables = ("CREATE TABLE word (text TEXT PRIMARY KEY NOT NULL) STRICT",)
    format = SqliteFormat(content="words", application_id=77, version=1, statements=tables)
    batches = SqliteBatches(tmp_path / "words.db", format)
    await batches.run(add("a"))
    batches.put(PUT, "a")
    with pytest.raises(StoreCorruptError, match="a row contradicts a stored row: UNIQUE constraint failed"):
        await asyncio.wait_for(batches.wait_written(), 60)
    with pytest.raises(StoreCorruptError):  # so that no worker of the file is ready
        await BatchedFile(batches).check()
    await batches.close()


async def test_who_waits_for_rows_of_a_closed_file_hears_it(batches: SqliteBatches) -> None:
    away = batches.path.with_name("away.db")
    batches.path.rename(away)
    batches.put(PUT, "a")
    waiting = asyncio.ensure_future(batches.wait_written())
    with pytest.raises(StoreMissingError):
        await batches.flush()
    await batches.close()
    for written in (waiting, batches.wait_written()):
        with pytest.raises(StoreClosedError):
            await asyncio.wait_for(written, 60)
    away.rename(batches.path)
    batches.reopen()
    await batches.wait_written()
    assert batches.read(words) == ["a"]


async def test_the_event_loop_goes_on_while_the_file_is_rewritten(tmp_path: Path) -> None:
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, busy_s=3600.0)
    has_gone_on, heard = threading.Event(), list[bool]()
    with sqlite3.connect(batches.path, isolation_level=None, check_same_thread=False) as other:
        other.execute("BEGIN IMMEDIATE")

        def let_it_end() -> None:
            heard.append(has_gone_on.wait(20))
            other.execute("ROLLBACK")

        thread = threading.Thread(target=let_it_end)
        thread.start()
        rewriting = asyncio.ensure_future(batches.vacuum())
        await asyncio.to_thread(_until, batches._writes._lock.locked)
        written = asyncio.ensure_future(batches.run(add("a")))
        for _ in range(5):
            await asyncio.sleep(0)
        has_gone_on.set()
        await rewriting
        assert await written == 1
        await asyncio.to_thread(thread.join)
    other.close()
    assert heard == [True]
    await batches.close()


async def test_a_file_is_rewritten_once_for_what_was_deleted(batches: SqliteBatches) -> None:
    def rewrites(database: sqlite3.Connection) -> Any:
        return database.execute("PRAGMA schema_version").fetchone()[0]

    found = [batches.read(rewrites)]
    for text in ("a", "", "b"):
        if text:
            await batches.run(add(text))
        await batches.vacuum()
        found.append(batches.read(rewrites))
    assert [number - found[0] for number in found] == [0, 1, 1, 2]


def test_it_goes_on_in_another_event_loop(tmp_path: Path) -> None:
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous="FULL")

    async def first() -> None:
        batches.put(PUT, "a")
        batches.when_written(lambda: None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # it is being written when the event loop ends

    async def second() -> list[str]:
        await batches.run(add("b"))
        await batches.close()
        batches.reopen()
        return batches.read(words)

    asyncio.run(first())
    assert asyncio.run(second()) == ["a", "b"]


@pytest.mark.parametrize(
    "waits", [SqliteBatches.flush, SqliteBatches.wait_written], ids=["a request", "a wait"]
)
def test_who_waited_in_an_event_loop_that_ended_is_forgotten(
    tmp_path: Path, waits: Callable[[SqliteBatches], Coroutine[Any, Any, None]]
) -> None:
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous="FULL")
    loop = asyncio.new_event_loop()

    async def first() -> asyncio.Task[None]:
        batches.put(PUT, "a")
        waiting = asyncio.create_task(waits(batches))
        for _ in range(3):
            await asyncio.sleep(0)  # it is being written when the event loop ends
        return waiting

    async def second() -> list[str]:
        await batches.run(add("b"))
        await batches.close()
        batches.reopen()
        return batches.read(words)

    waiting = loop.run_until_complete(first())
    loop.close()
    assert asyncio.run(second()) == ["a", "b"]
    coroutine = waiting.get_coro()
    assert coroutine is not None
    coroutine.close()  # so that it is not told of as pending


def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        os.sched_yield()


@contextmanager
def _no_room(path: Path) -> Iterator[None]:
    """Let no file of this process grow beyond what the log of the file has now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.with_name(f"{path.name}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_forked_process_is_refused_and_says_why(tmp_path: Path) -> None:
    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    batches = SqliteBatches(tmp_path / "words.db", FORMAT, synchronous="FULL")
    assert asyncio.run(batches.run(add("parent"))) == 1
    asked: dict[str, Any] = {
        "run": lambda: batches.run(add("child")),
        "kept": batches.wait_written,
        "close": batches.close,
        "read": lambda: asyncio.to_thread(batches.read, words),
        "write_now": lambda: asyncio.to_thread(batches.write_now, add("child")),
    }
    child = os.fork()
    if child == 0:
        for number, ask in enumerate(asked.values()):
            try:
                asyncio.run(asyncio.wait_for(ask(), 60))
            except StoreError as error:
                if "forked" in error.message:
                    continue
            except BaseException:
                pass
            os._exit(10 + number)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asyncio.run(batches.run(add("again"))) == 2
    asyncio.run(batches.close())
