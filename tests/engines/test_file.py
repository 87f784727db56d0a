"""Runs in a file: what a restart finds, what is kept, and what is deleted."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.selection import first
from toolgen.engines import (
    ActivityInfo,
    CallOptions,
    EngineError,
    InProcessEngine,
    RunContext,
    UnknownRunError,
)
from toolgen.engines.in_process.journal import MOST_BYTES
from toolgen.stores import ForeignFileError, StoreMissingError

from .clock import ManualClock
from .file_engines import Open
from .file_engines import open_engine as open_engine
from .file_engines import toys as toys
from .toys import Toys, abouts, call, play


def rows(path: Path, sql: str) -> list[Any]:
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


async def test_it_is_durable_and_has_one_id_and_one_secret(open_engine: Open, tmp_path: Path) -> None:
    engine = await open_engine()
    assert engine.caps.is_durable
    assert engine.caps.max_payload_bytes == MOST_BYTES
    other = await open_engine(worker=False)
    assert (engine.id, engine.secret()) == (other.id, other.secret())
    assert engine.id.startswith("sqlite_")
    secret = engine.secret()
    assert secret is not None
    assert len(secret) == 32
    for name in ("runs.db", "runs.db.key", "runs.db.lock", "runs.db.bell"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name


@pytest.mark.parametrize("turns", first(range(8), 2))
async def test_a_close_during_a_start_ends_and_it_starts_again(open_engine: Open, turns: int) -> None:
    engine = await open_engine(is_started=False)
    starting = asyncio.ensure_future(engine.start())
    for _ in range(turns):
        await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await engine.close()
        await asyncio.gather(starting, return_exceptions=True)
        await engine.start()
        await play(engine, [], run_id="r")
        assert (await engine.result("r")).state == "completed"


async def test_a_child_with_a_lower_number_than_its_parent_goes_on_and_is_erased(
    open_engine: Open, tmp_path: Path
) -> None:
    """The worker counts its runs by itself, and clients those that they start."""
    engine = await open_engine()
    client = await open_engine(worker=False)
    for number in range(5):
        await client.start_run("script", [], run_id=f"r{number}", session="s")
    await client.start_run("script", [{"child": [{"wait": ["go"], "about": "x"}]}], run_id="up", session="s")
    await client.settled("up")
    (order,) = rows(
        tmp_path / "runs.db", "SELECT child.no < run.no FROM run JOIN run child ON child.parent = run.no"
    )
    assert order == (1,)
    await engine.close()
    await open_engine()
    (child,) = (await client.status("up")).children
    await client.signal(child, "go", None, signal_id="1")
    assert (await client.result("up")).state == "completed"
    assert await client.forget_session("s") == 7
    assert rows(tmp_path / "runs.db", "SELECT run_id FROM run") == []


async def test_another_process_goes_on_with_what_was_left(open_engine: Open, toys: Toys) -> None:
    """The engine is another object each time, which knows nothing but the file."""
    engine = await open_engine()
    steps = [{"calls": [call("a"), call("b", gate="b")]}, {"publish": {"type": "told"}}, {"wait": ["go"]}]
    await play(engine, steps, run_id="r")
    await toys.has("start", "b")
    await toys.has("end", "a")
    await asyncio.sleep(0.02)
    await engine.close()
    toys.open("b")
    engine = await open_engine()
    assert (await engine.settled("r")).state == "waiting"
    assert toys.counts("start") == {"a": 1, "b": 2}
    await engine.close()
    engine = await open_engine()
    await engine.signal("r", "go", 7, signal_id="1")
    status = await engine.result("r")
    assert status.output == [[{"id": "a", "ok": True}, {"id": "b", "ok": True}], {"go": 7}]
    assert await engine.replay("r") == status.output
    assert [event["type"] async for _, event in engine.events("r")] == ["told", "run_stream_end"]


async def test_parked_runs_are_rows(open_engine: Open, toys: Toys) -> None:
    engine = await open_engine()
    steps = [{"child": [{"wait": ["go"], "about": "below"}]}, {"calls": [call("a")]}]
    for number in range(20):
        await play(engine, steps, run_id=f"r{number}")
    for number in range(20):
        await engine.settled(f"r{number}")
    await asyncio.sleep(0.02)
    assert not engine._runs._live
    assert {task.get_name() for task in asyncio.all_tasks()} == {asyncio.current_task().get_name()}  # type: ignore[union-attr]  # there is one
    child = await engine.status("r7/child:0")
    assert (child.state, abouts(child)) == ("waiting", ("below",))
    await engine.signal("r7/child:0", "nobody", 1, signal_id="0")
    assert not engine._runs._live, "nobody waits for it"
    await engine.signal("r7/child:0", "go", 1, signal_id="1")
    assert (await engine.status("r7")).state == "running"
    assert (await engine.result("r7")).output == [[{"go": 1}], [{"id": "a", "ok": True}]]
    await engine.cancel("r8", reason="enough")
    assert (await engine.status("r8/child:0")).state == "canceled"


async def test_a_wait_about_the_input_of_its_run_keeps_it_once(tmp_path: Path) -> None:
    async def loop(ctx: RunContext, given: Any) -> Any:
        signal = await ctx.wait("wait:1", "go", about=given)
        return [given, signal and signal.payload]

    given: dict[str, Any] = {"frozen": "x" * 5000}
    for is_again in (False, True):
        engine = InProcessEngine(tmp_path / "runs.db")
        engine.register(loops={"loop": loop}, activities={})
        await engine.start()
        await engine.start_run("loop", given, run_id="r", session="s")
        await engine.start_run("loop", None, run_id="about nothing")
        assert abouts(await engine.settled("r")) == (given,)
        assert (await engine.settled("about nothing")).awaiting == ()
        assert [wait.about for wait in await engine.open_waits(session="s")] == [given]
        wait = await engine.wait_status("r", "wait:1")
        assert wait is not None
        assert wait.about == given
        if is_again:
            await engine.signal("r", "go", 7, signal_id="1")
            assert (await engine.result("r")).output == [given, 7]
            assert await engine.replay("r") == [given, 7]
        await engine.close()
    assert rows(tmp_path / "runs.db", "SELECT about FROM wait ORDER BY id") == [(b"",), (b"null",)]


@pytest.mark.exhaustive
async def test_a_time_limit_comes_after_a_restart(open_engine: Open, toys: Toys) -> None:
    clock = ManualClock(1000.0)
    how: dict[str, Any] = {"clock": clock.time, "call_later": clock.call_later}
    engine = await open_engine(**how)
    await play(engine, [{"wait": ["go"], "timeout_s": 3600.0}, {"calls": [call("a")]}], run_id="r")
    await play(engine, [{"wait": [], "timeout_s": 1800.0}], run_id="sleeps")
    await engine.settled("r")
    await engine.close()
    clock = ManualClock(1000.0 + 7200)
    engine = await open_engine(clock=clock.time, call_later=clock.call_later)
    over = asyncio.gather(engine.result("r"), engine.result("sleeps"))
    while not over.done():
        await clock.advance()  # there is always a next look at the file
        await asyncio.sleep(0.002)
    assert [status.output for status in await over] == [[None, [{"id": "a", "ok": True}]], [None]]


async def test_attempts_go_on_after_a_restart(open_engine: Open, toys: Toys) -> None:
    clock = ManualClock(1000.0)
    engine = await open_engine(clock=clock.time, call_later=clock.call_later)
    await play(engine, [{"calls": [call("a", fail_until=3)]}], run_id="r")
    await toys.has("start", "a")
    await asyncio.sleep(0.02)
    await engine.close()
    engine = await open_engine()
    assert (await engine.result("r")).output == [[{"id": "a", "ok": True}]]
    assert [attempt for what, _, attempt in toys.log if what == "start"] == [1, 2, 3]


async def test_what_must_not_happen_twice_ends_as_unknown(tmp_path: Path) -> None:
    begun: list[str] = []
    both = asyncio.Event()

    async def effect(info: ActivityInfo, arg: Any) -> str:
        if arg["begins"]:
            await info.begun()
        begun.append(info.op)
        if len(begun) == 2:
            both.set()
        if len(begun) <= 2:
            await asyncio.Event().wait()
        return "done"

    async def loop(ctx: RunContext, arg: Any) -> Any:
        options = CallOptions(once=True)
        calls = [
            ctx.start(name, "effect", {"begins": name == "began"}, options) for name in ("began", "not yet")
        ]
        return [str(got) for got in await ctx.gather(*calls)]

    for is_again in (False, True):
        engine = InProcessEngine(tmp_path / "runs.db")
        engine.register(loops={"loop": loop}, activities={"effect": effect})
        await engine.start()
        await engine.start_run("loop", None, run_id="r")
        if is_again:
            assert (await engine.result("r")).output == [
                "began: outcome_unknown: the process ended while it was executed; it may have had its effect",
                "done",
            ]
        else:
            await asyncio.wait_for(both.wait(), 60)
        await engine.close()
    assert sorted(begun) == ["began", "not yet", "not yet"]


async def test_old_runs_are_deleted_with_all_that_belongs_to_them(open_engine: Open, tmp_path: Path) -> None:
    clock = ManualClock(1000.0)
    engine = await open_engine(keep_runs=5, clock=clock.time, call_later=clock.call_later)
    await play(engine, [{"wait": ["go"]}], run_id="waits")
    for number in range(60):
        await play(engine, [{"child": [{"publish": {"type": "x"}}]}], run_id=f"r{number}")
        await engine.result(f"r{number}")
    await engine.signal("waits", "nobody", None, signal_id="1")  # is written after what was to be deleted
    kept = {run.run_id for run in await engine.list_runs(limit=1000)}
    assert {"waits", "r59", "r59/child:0"} <= kept
    assert len(kept) <= 1 + 2 * (5 + 20)
    assert "r0" not in kept
    with pytest.raises(UnknownRunError):
        await engine.status("r0")
    await engine.close()
    for table in ("op", "event", "wait"):
        assert rows(
            tmp_path / "runs.db", f"SELECT count(*) FROM {table} WHERE id >> 20 NOT IN (SELECT no FROM run)"
        ) == [(0,)]


async def test_runs_are_kept_for_a_time(open_engine: Open) -> None:
    clock = ManualClock(1000.0)
    engine = await open_engine(keep_s=3600, clock=clock.time, call_later=clock.call_later)
    await play(engine, [], run_id="old")
    await engine.result("old")
    await engine.close()
    clock = ManualClock(1000.0 + 4000)
    engine = await open_engine(keep_s=3600, clock=clock.time, call_later=clock.call_later)
    await play(engine, [], run_id="new")
    await engine.result("new")
    async with asyncio.timeout(60):
        while len(await engine.list_runs()) > 1:
            await clock.advance()
            await asyncio.sleep(0.002)
    assert [run.run_id for run in await engine.list_runs()] == ["new"]


async def test_a_run_that_gets_the_number_of_a_deleted_one_has_not_started_its_work(tmp_path: Path) -> None:
    async def loop(ctx: RunContext, arg: Any) -> Any:
        if arg == "work":
            return await ctx.wait("forever", "never")
        return await ctx.detach("work", "loop", "work") if arg else None

    now = 1000.0
    how: dict[str, Any] = {"keep_s": 5.0, "clock": lambda: now}
    worker, client = (
        InProcessEngine(tmp_path / "runs.db", worker=is_worker, **how) for is_worker in (True, False)
    )
    for engine in (worker, client):
        engine.register(loops={"loop": loop}, activities={})
        await engine.start()
    await client.start_run("loop", "", run_id="first")
    await client.start_run("loop", "starts work", run_id="starter")
    await worker.result("starter")
    await worker.settled("starter/work")
    now += 10
    while rows(tmp_path / "runs.db", "SELECT 1 FROM run WHERE run_id = 'starter'"):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    others = [f"other{number}" for number in range(4)]
    for run_id in others:
        await client.start_run("loop", "work", run_id=run_id)
        await client.cancel(run_id)
    assert (await worker.status("starter/work")).state == "waiting"
    for engine in (client, worker):
        await engine.close()


async def test_what_is_no_journal_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(b"something else\n" * 100)
    with pytest.raises(ForeignFileError):
        InProcessEngine(path)
    assert path.read_bytes() == b"something else\n" * 100
    with pytest.raises(StoreMissingError):
        InProcessEngine(tmp_path / "nowhere" / "runs.db")


async def test_a_loop_that_nobody_knows_stands_still(open_engine: Open, tmp_path: Path, toys: Toys) -> None:
    """A client of another version may have started it."""
    client = InProcessEngine(tmp_path / "runs.db", worker=False)
    client.register(loops={"later": toys.changed}, activities={})
    await client.start_run("later", {}, run_id="r")
    engine = await open_engine()
    await asyncio.sleep(0.02)
    assert (await engine.status("r")).state == "running"
    with pytest.raises(EngineError, match="no loop"):
        await engine.start_run("later", {}, run_id="s")
    await client.close()


def test_an_engine_belongs_to_one_event_loop(tmp_path: Path, toys: Toys) -> None:
    for path in (None, tmp_path / "runs.db"):
        engine = InProcessEngine(path)
        engine.register(loops=toys.loops(), activities=toys.activities())
        first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
        first.run_until_complete(engine.start())
        for what in (engine.start(), engine.start_run("script", [], run_id="r")):
            with pytest.raises(EngineError, match="another event loop"):
                second.run_until_complete(what)
        first.run_until_complete(engine.close())
        second.run_until_complete(engine.start())
        second.run_until_complete(engine.close())
        first.close()
        second.close()
