"""Runs in a file that cannot be written for a while, and clocks that jump."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path

import pytest

from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine, RunContext
from toolgen.engines.in_process.file_clock import RunClock
from toolgen.engines.in_process.journal import NULL, RunRecord
from toolgen.engines.in_process.live_run import SteadyClock, call_later
from toolgen.engines.in_process.runs import LoopRuns
from toolgen.engines.in_process.store import RunStore
from toolgen.stores import LeaseLostError, ReplacedFileError, StoreFullError, StoreLockedError
from toolgen.stores.file_watch import FileWatch

from .clock import ManualClock
from .toys import Toys, call, play


@pytest.fixture
async def toys() -> Toys:
    return Toys()


@pytest.fixture
async def engine(tmp_path: Path, toys: Toys) -> AsyncIterator[InProcessEngine]:
    engine = InProcessEngine(tmp_path / "runs.db")
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    yield engine
    await engine.close()


async def test_a_locked_file_holds_up_the_runs_and_nothing_else(
    engine: InProcessEngine, toys: Toys, tmp_path: Path
) -> None:
    await play(engine, [{"calls": [call("a", gate="a")]}, {"calls": [call("b")]}], run_id="r")
    await toys.has("start", "a")
    with sqlite3.connect(tmp_path / "runs.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        starts = [asyncio.ensure_future(play(engine, [], run_id=f"s{number}")) for number in range(12)]
        toys.open("a")
        await toys.has("end", "a")
        assert await asyncio.to_thread(lambda: "free") == "free"
        assert (await engine.status("r")).state == "running"
        assert not any(start.done() for start in starts)
        assert not toys.counts("start")["b"], "the loop has not heard of what is not kept"
        other.execute("COMMIT")
    other.close()
    await asyncio.gather(*starts)
    assert (await engine.result("r")).state == "completed"
    assert {(await engine.result(f"s{number}")).state for number in range(12)} == {"completed"}


async def test_events_of_a_run_do_not_wake_those_who_wait_for_its_end(engine: InProcessEngine) -> None:
    changes: list[str] = []
    wake = engine._store.on_change

    def changed(run_id: str) -> None:
        changes.append(run_id)
        wake(run_id)

    engine._store.on_change = changed
    steps = [
        step
        for number in range(9)
        for step in ({"publish": {"type": "round"}, "key": f"{number}"}, {"calls": [call(f"c{number}")]})
    ]
    await play(engine, steps, run_id="r")
    assert (await engine.result("r")).state == "completed"
    assert changes == ["r"]
    assert len([event async for event in engine.events("r")]) == 10


@pytest.mark.parametrize("turns", range(5))
async def test_a_start_that_is_cancelled_leaves_no_run_that_nobody_executes(
    engine: InProcessEngine, turns: int
) -> None:
    starting = asyncio.ensure_future(play(engine, [], run_id="r"))
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait([starting])
    await play(engine, [], run_id="r")
    assert (await asyncio.wait_for(engine.result("r"), 60)).state == "completed"


class _LockedOnce(RunStore):
    """A store that cannot be read the first time."""

    is_locked = True

    def unfinished(self, only: Collection[str] | None = None) -> list[RunRecord]:
        if self.is_locked:
            self.is_locked = False
            raise StoreLockedError("is locked", path=Path("runs.db"), hint="try it again")
        return super().unfinished(only)


async def test_a_start_after_one_that_could_not_read_the_runs_executes_them() -> None:
    """It took them to be executed already, and nobody executed them before the end of the process."""
    store = _LockedOnce()
    store.add(RunRecord(run_id="r", loop="done", input=NULL, parent=None))
    runs = LoopRuns(store, SteadyClock(), call_later, None)
    store.on_change = runs.followers.changed

    async def done(ctx: RunContext, given: Json) -> Json:
        return given

    runs.register({"done": done}, {}, None, None)
    with pytest.raises(StoreLockedError):
        runs.start(worker=True)
    assert not runs.is_working
    runs.start(worker=True)
    while store.state("r") == "running":
        await runs.followers.change("r")
    assert store.state("r") == "completed"
    await runs.close()


async def test_a_full_disk_refuses_what_is_new_and_loses_nothing(
    engine: InProcessEngine, toys: Toys, tmp_path: Path
) -> None:
    await play(engine, [{"calls": [call("a", gate="a", result="x" * 100_000)]}], run_id="r")
    await toys.has("start", "a")
    assert (await engine.status("r")).state == "running"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "runs.db-wal").stat().st_size, hard))
    try:
        toys.open("a")
        await toys.has("end", "a")
        with pytest.raises(StoreFullError):
            await play(engine, ["y" * 100_000], run_id="s")
        assert (await engine.status("r")).state == "running"
        assert [run.run_id for run in await engine.list_runs()] == ["r"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (await engine.result("r")).output == [["x" * 100_000]]
    await play(engine, [], run_id="s")
    assert (await engine.result("s")).state == "completed"
    assert toys.counts("start")["a"] == 1


async def test_a_worker_whose_lock_was_removed_stops_and_leaves_the_runs_to_the_next_one(
    engine: InProcessEngine, toys: Toys, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await play(engine, [{"calls": [call("a")]}, {"calls": [call("b", gate="b")]}], run_id="r")
    await toys.has("start", "b")
    result = asyncio.ensure_future(engine.result("r"))
    (tmp_path / "runs.db.lock").unlink()
    with pytest.raises(LeaseLostError, match=r"runs\.db\.lock' was removed or replaced"):
        await play(engine, [], run_id="s")
    with pytest.raises(LeaseLostError):
        await asyncio.wait_for(result, 60)
    assert not engine.is_worker
    assert [record.message for record in caplog.records if "the worker stopped" in record.message]
    other, others = InProcessEngine(tmp_path / "runs.db"), Toys()
    other.register(loops=others.loops(), activities=others.activities())
    others.open("b")
    await other.start()
    assert (await other.result("r")).state == "completed"
    assert [run.run_id for run in await other.list_runs()] == ["r"]
    assert not others.counts("start")["a"]
    await other.close()
    await engine.close()
    await engine.start()
    await play(engine, [{"calls": [call("c")]}], run_id="t")
    assert (await engine.result("t")).state == "completed"


async def test_an_idle_worker_notices_that_its_lock_was_replaced(tmp_path: Path, toys: Toys) -> None:
    clock = ManualClock()
    engine = InProcessEngine(tmp_path / "runs.db", clock=clock.time, call_later=clock.call_later)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    lock = tmp_path / "runs.db.lock"
    new = tmp_path / "new"
    new.touch(0o600)
    new.replace(lock)
    await clock.advance()
    assert not engine.is_worker
    await engine.close()


async def test_an_idle_worker_notices_that_its_file_was_replaced(tmp_path: Path, toys: Toys) -> None:
    clock = ManualClock()
    engine = InProcessEngine(tmp_path / "runs.db", clock=clock.time, call_later=clock.call_later)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await InProcessEngine(tmp_path / "other.db").close()
    for name in ("runs.db-wal", "runs.db-shm"):
        (tmp_path / name).unlink()
    (tmp_path / "other.db").replace(tmp_path / "runs.db")
    await clock.advance()
    assert not engine.is_worker
    with pytest.raises(ReplacedFileError, match="was replaced under the process"):
        await play(engine, [], run_id="r")
    with pytest.raises(ReplacedFileError, match="is not the journal of its witness"):
        await engine.start()
    await engine.close()


async def test_it_is_logged_once_that_runs_whose_time_has_come_cannot_be_read(
    tmp_path: Path, toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    """Each look at the file was a line."""
    clock = ManualClock()
    engine = InProcessEngine(tmp_path / "runs.db", clock=clock.time, call_later=clock.call_later)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"wait": ["go"], "timeout_s": 0.5}], run_id="r")
    await engine.settled("r")
    (tmp_path / "runs.db").rename(tmp_path / "away")
    for _ in range(8):
        await clock.advance()
    (tmp_path / "away").rename(tmp_path / "runs.db")
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    await engine.close()


async def test_an_engine_takes_a_new_lease_where_its_lock_was_removed(tmp_path: Path, toys: Toys) -> None:
    clock = ManualClock()
    engine = InProcessEngine(tmp_path / "runs.db", clock=clock.time, call_later=clock.call_later)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    (tmp_path / "runs.db.lock").unlink()
    await clock.advance()
    await engine.start()
    assert engine.is_worker
    await play(engine, [], run_id="r")
    assert (await engine.result("r")).state == "completed"
    await engine.close()


def test_a_wall_clock_that_is_set_anew_moves_nothing() -> None:
    wall, monotonic = [1000.0], [5.0]
    clock = SteadyClock(lambda: wall[0], lambda: monotonic[0])
    assert clock() == 1000.0
    wall[0], monotonic[0] = 1000.0 + 8 * 86400, 6.0
    assert clock() == 1001.0
    wall[0], monotonic[0] = 0.0, 7.0
    assert clock() == 1002.0


def test_a_clock_goes_on_from_what_was_seen() -> None:
    now = [1000.0]
    clock = RunClock(lambda: now[0])
    clock.continue_from(500.0)
    assert clock() == 1000.0
    clock.continue_from(2000.0)
    assert clock() == 2000.0
    now[0] = 1001.0
    assert clock() == 2001.0


async def test_time_does_not_run_backwards_over_a_restart(tmp_path: Path, toys: Toys) -> None:
    """The wall clock was set back by a day between the processes."""
    times = []
    for now in (1_000_000.0, 1_000_000.0 - 86400):
        clock = ManualClock(now)
        engine = InProcessEngine(tmp_path / "runs.db", clock=clock.time, call_later=clock.call_later)
        engine.register(loops=toys.loops(), activities=toys.activities())
        await engine.start()
        run_id = f"r{now}"
        await engine.start_run("clock", None, run_id=run_id)
        result = asyncio.ensure_future(engine.result(run_id))
        while not result.done():
            await clock.advance()
            await asyncio.sleep(0.002)
        output = (await result).output
        assert isinstance(output, dict)
        times.append(output["times"])
        await engine.close()
    assert times[1][0] >= times[0][0]  # type: ignore[index, operator]  # numbers


async def test_after_a_look_that_fails_comes_the_next_one(tmp_path: Path) -> None:
    looks: list[Callable[[], None]] = []

    def later(delay: float, look: Callable[[], None]) -> asyncio.TimerHandle:
        looks.append(look)
        return asyncio.get_running_loop().call_later(3600, look)

    def fail() -> None:
        raise ValueError("a row that nobody expected")

    watch = FileWatch(tmp_path / "runs.db", later, fail, lambda message: None)
    watch.start(is_worker=False)
    with pytest.raises(ValueError, match="nobody expected"):
        looks.pop()()
    assert len(looks) == 1
    watch.stop()
