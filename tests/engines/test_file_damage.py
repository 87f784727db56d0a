"""Files of runs with a flipped bit, or a changed row: named errors, and the rest goes on."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from tests.selection import first, volume
from toolgen.engines import InProcessEngine, PayloadTooLargeError, answer_name
from toolgen.stores import ForeignFileError, StoreCorruptError

from .flips import flip, write_journal
from .toys import Toys, call, play

BAD = "CAST('{no json' AS BLOB)"
OBJECT = "CAST('{}' AS BLOB)"
NO_OBJECT = "CAST('null' AS BLOB)"
ROWS = {
    "its input": f"UPDATE run SET input = {BAD} WHERE run_id = 'bad'",
    "an end": f"UPDATE op SET value = {BAD} WHERE id >> 20 = :no",
    "the names of a wait": "UPDATE wait SET names = '{' WHERE id >> 20 = :no",
    "other names of a wait": "UPDATE wait SET names = '17' WHERE id >> 20 = :no",
    "a text that is not UTF-8": "UPDATE op SET what = CAST(x'c3ff' AS TEXT) WHERE id >> 20 = :no",
    "a first event that is lost": f"INSERT INTO event VALUES ((:no << 20) + 2, 'k', {OBJECT})",
    "an event that is no object": f"INSERT INTO event VALUES ((:no << 20) + 1, 'k', {NO_OBJECT})",
    "the number of a wait": "UPDATE wait SET id = id + 1 WHERE id >> 20 = :no",
    "what it waits for": f"UPDATE wait SET about = {BAD} WHERE id >> 20 = :no",
    "a state": "UPDATE run SET state = 'unheard of' WHERE run_id = 'bad'",
}
"""What somebody changes in the rows of one run."""
SOME = [*list(ROWS)[:3], *(pytest.param(row, marks=pytest.mark.exhaustive) for row in list(ROWS)[3:])]
STEPS = [{"calls": [call("a")]}, {"wait": [answer_name("wait:1")], "about": {"question": "Really?"}}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seeds", first([range(8), range(8, volume(24, lab=524))]))
async def test_a_flipped_bit_is_a_named_error(tmp_path: Path, seeds: range) -> None:
    journal = await write_journal(tmp_path / "runs.db")
    for seed in seeds:
        await flip(tmp_path / str(seed), journal, seed)


def _started(path: Path, toys: Toys) -> InProcessEngine:
    engine = InProcessEngine(path)
    engine.register(loops=toys.loops(), activities=toys.activities())
    return engine


async def _write(path: Path) -> None:
    """Write two runs that wait."""
    toys = Toys()
    engine = _started(path, toys)
    await engine.start()
    for run_id in ("bad", "good"):
        await play(engine, STEPS, run_id=run_id)
        await engine.settled(run_id)
    await engine.close()


async def _answer(engine: InProcessEngine) -> None:
    await engine.answer("bad", "wait:1", "yes", key="jo")
    await engine.settled("bad")


def _change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        (no,) = database.execute("SELECT no FROM run WHERE run_id = 'bad'").fetchone()
        database.execute(sql, {"no": no})
        database.commit()


@pytest.mark.parametrize("row", SOME)
async def test_a_bad_row_stops_its_run_and_no_other(tmp_path: Path, row: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, ROWS[row])
    engine = _started(path, Toys())
    await engine.start()
    assert [run.run_id for run in await engine.list_runs()] == ["good", "bad"]
    assert {wait.run_id for wait in await engine.open_waits()} >= {"good"}
    with pytest.raises(StoreCorruptError, match=r"runs\.db' is damaged: .*run bad"):
        await _answer(engine)
    await engine.answer("good", "wait:1", "yes", key="jo")
    assert (await engine.result("good")).state == "completed"
    await engine.close()


@pytest.mark.parametrize(
    "row", first([row for row in ROWS if row not in ("the names of a wait", "other names of a wait")], 3)
)
async def test_a_damaged_run_that_was_cut_off_stalls_alone(tmp_path: Path, row: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, "UPDATE run SET state = 'running', wake = NULL")
    _change(path, ROWS[row])
    engine = _started(path, Toys())
    await engine.start()
    with pytest.raises(StoreCorruptError, match="run bad"):
        await engine.settled("bad")
    assert (await engine.settled("good")).state == "waiting"
    await engine.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("column", ["the question", pytest.param("the input", marks=pytest.mark.exhaustive)])
async def test_what_is_far_too_large_is_named_and_not_read(tmp_path: Path, column: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    large = "zeroblob(80000000)"
    table = "wait SET about" if column == "the question" else "run SET input"
    of_run = "id >> 20 = :no" if column == "the question" else "no = :no"
    _change(path, f"UPDATE {table} = {large} WHERE {of_run}")
    engine = _started(path, Toys())
    tracemalloc.start()
    await engine.start()
    status = next(run for run in await engine.list_runs() if run.run_id == "bad")
    told = (status.error, *(wait.fault for wait in status.awaiting))
    assert "it has more than 67108864 bytes" in told
    assert {wait.run_id: bool(wait.fault) for wait in await engine.open_waits()} == {
        "bad": column == "the question",
        "good": False,
    }
    with pytest.raises(StoreCorruptError, match=r"run bad.* cannot be read: it has more than 67108864 bytes"):
        await _answer(engine)
    assert any("run bad" in one for one in await engine.check())
    assert (await engine.settled("good")).state == "waiting"
    assert tracemalloc.get_traced_memory()[1] < 40_000_000
    tracemalloc.stop()
    await engine.close()


async def test_a_file_refuses_what_it_would_not_read(tmp_path: Path) -> None:
    engine = _started(tmp_path / "runs.db", Toys())
    with pytest.raises(PayloadTooLargeError):
        await engine.start_run("script", "x" * 2**26, run_id="r")
    await engine.close()


async def test_a_log_that_is_not_json_names_its_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, f"INSERT OR REPLACE INTO event (id, key, text) VALUES ((:no << 20) + 1, 'k', {BAD})")
    engine = _started(path, Toys())
    await engine.start()
    with pytest.raises(StoreCorruptError, match="the log of run bad cannot be read"):
        [event async for event in engine.events("bad", follow=False)]
    await engine.close()


async def test_a_wait_for_nothing_that_can_be_read_is_no_wait(tmp_path: Path) -> None:
    """Who waited got a status that says nothing of what the run waits for."""
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, ROWS["what it waits for"])
    engine = _started(path, Toys())
    await engine.start()
    with pytest.raises(StoreCorruptError, match="run bad cannot be read"):
        await engine.settled("bad")
    await engine.close()


async def test_a_run_with_a_number_that_none_can_have_is_named(tmp_path: Path) -> None:
    """Its number was an OverflowError of every list, and of the check."""
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, f"UPDATE run SET no = {2**63 - 1} WHERE no = :no")
    engine = _started(path, Toys())
    await engine.start()
    bad, good = await engine.list_runs()
    assert (bad.run_id, good.state) == ("bad", "waiting")
    assert "run bad cannot be read" in bad.error
    (found,) = await engine.check()
    assert "run bad cannot be read" in found
    for read in (engine.settled, engine.status):
        with pytest.raises(StoreCorruptError, match="run bad"):
            await read("bad")
    await play(engine, [], run_id="new")
    assert (await engine.result("new")).state == "completed"
    await engine.close()


async def test_runs_that_are_said_to_be_below_each_other_end_nothing(tmp_path: Path) -> None:
    """A circle of parents was followed for ever."""
    path = tmp_path / "runs.db"
    await _write(path)
    _change(
        path, "UPDATE run SET parent = (SELECT no FROM run other WHERE other.no != run.no), state = 'running'"
    )
    engine = _started(path, Toys())
    await engine.start()
    assert len(await engine.list_runs()) == 2
    await engine.close()


async def test_a_run_that_is_said_to_be_below_itself_keeps_none_from_being_canceled(tmp_path: Path) -> None:
    """It was looked for above itself until the recursion was too deep."""
    path = tmp_path / "runs.db"
    await _write(path)
    starter = "(SELECT no FROM run WHERE run_id = 'good')"
    _change(path, f"UPDATE run SET parent = no, starter = {starter} WHERE run_id = 'bad'")
    engine = _started(path, Toys())
    await engine.start()
    await engine.cancel("good", reason="enough")
    assert (await engine.result("good")).state == "canceled"
    with pytest.raises(StoreCorruptError, match="run bad is recorded as its own descendant"):
        await engine.replay("bad")
    await engine.close()


@pytest.mark.parametrize("row", SOME)
async def test_a_run_that_cannot_be_read_can_be_canceled(tmp_path: Path, row: str) -> None:
    """The cancellation was taken, and the run stayed as it was."""
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, ROWS[row])
    engine = _started(path, Toys())
    await engine.start()
    await engine.cancel("bad", reason="enough")
    if row != "its input":
        status = await engine.status("bad")
        assert (status.state, status.error) == ("canceled", "enough")
    await engine.close()
    engine = _started(path, Toys())
    await engine.start()
    assert [run.run_id for run in await engine.list_runs(state="canceled")] == ["bad"]
    assert (await engine.settled("good")).state == "waiting"
    await engine.close()


async def _write_signal(path: Path, change: str, *, cancels: bool) -> None:
    """Write two runs that wait, and what a client says to one of them, changed since."""
    await _write(path)
    client = InProcessEngine(path, worker=False)
    client.register(loops=Toys().loops(), activities={})
    await client.start()
    if cancels:
        await client.cancel("bad", reason="enough")
    else:
        await client.answer("bad", "wait:1", "yes", key="jo")
    await client.close()
    _change(path, f"UPDATE signal SET {change} WHERE run = :no")


@pytest.mark.parametrize("change", [f"payload = {BAD}", "name = 'other'", "is_taken = 7"])
async def test_an_answer_that_cannot_be_read_stalls_its_run(tmp_path: Path, change: str) -> None:
    """The run failed with an internal error, or waited for ever, and the check named nothing before."""
    path = tmp_path / "runs.db"
    await _write_signal(path, change, cancels=False)
    engine = _started(path, Toys())
    (found,) = await engine.check()
    assert "run bad cannot be read" in found
    await engine.start()
    with pytest.raises(StoreCorruptError, match="run bad"):
        await engine.result("bad")
    assert await engine.answer("good", "wait:1", "yes", key="jo") == "accepted"
    assert (await engine.result("good")).state == "completed"
    await engine.close()


@pytest.mark.parametrize("payload", [BAD, "CAST('17' AS BLOB)"])
async def test_a_cancellation_whose_reason_cannot_be_read_counts(tmp_path: Path, payload: str) -> None:
    """No worker started with it, or heard of anything after it."""
    path = tmp_path / "runs.db"
    await _write_signal(path, f"payload = {payload}", cancels=True)
    engine = _started(path, Toys())
    await engine.start()
    status = await engine.result("bad")
    assert (status.state, status.error) == ("canceled", "")
    assert await engine.answer("good", "wait:1", "yes", key="jo") == "accepted"
    await engine.close()


@pytest.mark.parametrize("row", SOME)
async def test_a_client_of_another_process_hears_of_a_bad_row(tmp_path: Path, row: str) -> None:
    """It waited for ever, for a run that its worker had not even begun."""
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, ROWS[row])
    worker, client = _started(path, Toys()), InProcessEngine(path, worker=False)
    client.register(loops=Toys().loops(), activities={})
    await worker.start()
    await client.start()
    with pytest.raises(StoreCorruptError, match="run bad"):
        await asyncio.wait_for(client.result("bad"), 60)
    if row != "a state":  # on which nothing depends for who loads the run
        with pytest.raises(StoreCorruptError, match="run bad"):
            await asyncio.wait_for(client.answer("bad", "wait:1", "yes", key="jo"), 60)
        with pytest.raises(StoreCorruptError, match="run bad"):
            await asyncio.wait_for(_log(client), 60)
    assert await client.answer("good", "wait:1", "yes", key="jo") == "accepted"
    assert (await client.result("good")).state == "completed"
    await client.close()
    await worker.close()


async def _log(engine: InProcessEngine) -> None:
    """Read the log of the bad run, which is not over."""
    async for _ in engine.events("bad"):
        pass


async def test_a_clock_that_is_no_time_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, "INSERT OR REPLACE INTO meta VALUES ('clock', 'noon')")
    engine = _started(path, Toys())
    with pytest.raises(StoreCorruptError, match="the time of the runs cannot be read"):
        await engine.start()
    await engine.close()


@pytest.mark.parametrize("row", [*SOME, "its log"])
async def test_a_check_names_each_run_that_cannot_be_read(tmp_path: Path, row: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    engine = InProcessEngine(path, worker=False)
    engine.register(loops=Toys().loops(), activities={})
    await engine.start()
    assert await engine.check() == ()
    _change(path, ROWS.get(row, f"INSERT OR REPLACE INTO event VALUES ((:no << 20) + 1, 'k', {BAD})"))
    (found,) = await engine.check()
    assert re.search("run bad (.* )?cannot be read", found)
    await engine.close()


@pytest.mark.parametrize(("index", "number"), [("run_state", "no"), ("session_by_age", "number")])
async def test_no_worker_starts_where_an_index_has_lost_a_run_or_a_session(
    tmp_path: Path, index: str, number: str
) -> None:
    """It would never be executed, or listed, and nobody would hear why."""
    path = tmp_path / "runs.db"
    await _write(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO session (id, agent, created_at, labels) VALUES ('s', 'a', 0, '{}')")
        database.execute("PRAGMA writable_schema = ON")
        (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        hidden = f"{sql} WHERE {number} < 0"
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (hidden, index))
        database.commit()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"REINDEX {index}")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, index))
        database.commit()
    engine = _started(path, Toys())
    with pytest.raises(StoreCorruptError, match=rf"{index}.* toolgen runs check"):
        await engine.start()
    assert not engine.is_worker
    assert any(index in one for one in await engine.check())
    await engine.close()


@pytest.mark.parametrize(
    "statements",
    [
        "ALTER TABLE run RENAME TO old; CREATE VIEW run AS WITH RECURSIVE n (no) AS"
        " (SELECT 1 UNION ALL SELECT no + 1 FROM n) SELECT old.* FROM n, old",
        "CREATE TRIGGER runs_all AFTER INSERT ON op BEGIN DELETE FROM op; END",
    ],
)
async def test_a_view_without_end_and_a_trigger_are_refused(tmp_path: Path, statements: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)
    with pytest.raises(ForeignFileError, match=r"runs\.db' has the (view|trigger) 'run"):
        InProcessEngine(path)


async def test_a_view_of_its_owner_beside_the_tables_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE VIEW report AS SELECT state, count(*) FROM run GROUP BY state")
    engine = _started(path, Toys())
    await engine.start()
    assert len(await engine.list_runs()) == 2
    await engine.close()
