"""Files of runs with a flipped bit, or a changed row: named errors, and the rest goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import answer_name
from toolgen.runtime.stores import ForeignFileError, StoreCorruptError

from .flips import flip, write_journal
from .toys import Toys, call, play

FLIPS = 24
"""Seeds; `make lab` has 500."""
BAD = "CAST('{no json' AS BLOB)"
ROWS = {
    "its input": f"UPDATE run SET input = {BAD} WHERE run_id = 'bad'",
    "an end": f"UPDATE op SET value = {BAD} WHERE id >> 20 = :no",
    "the names of a wait": "UPDATE wait SET names = '{' WHERE id >> 20 = :no",
    "other names of a wait": "UPDATE wait SET names = '17' WHERE id >> 20 = :no",
    "a text that is not UTF-8": "UPDATE op SET what = CAST(x'c3ff' AS TEXT) WHERE id >> 20 = :no",
    "a state": "UPDATE run SET state = 'unheard of' WHERE run_id = 'bad'",
}
"""What somebody changes in the rows of one run."""
STEPS = [{"calls": [call("a")]}, {"wait": [answer_name("wait:1")], "about": {"question": "Really?"}}]


async def test_a_flipped_bit_is_a_named_error(tmp_path: Path) -> None:
    journal = await write_journal(tmp_path / "runs.db")
    for seed in range(FLIPS):
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


@pytest.mark.parametrize("row", ROWS)
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
    "row", [row for row in ROWS if row not in ("the names of a wait", "other names of a wait")]
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


async def test_a_log_that_is_not_json_names_its_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, f"INSERT OR REPLACE INTO event (id, key, text) VALUES ((:no << 20) + 1, 'k', {BAD})")
    engine = _started(path, Toys())
    await engine.start()
    with pytest.raises(StoreCorruptError, match="the log of run bad cannot be read"):
        [event async for event in engine.events("bad", follow=False)]
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


async def test_a_clock_that_is_no_time_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    _change(path, "INSERT OR REPLACE INTO meta VALUES ('clock', 'noon')")
    engine = _started(path, Toys())
    with pytest.raises(StoreCorruptError, match="the time of the runs cannot be read"):
        await engine.start()
    await engine.close()


@pytest.mark.parametrize("row", [*ROWS, "its log"])
async def test_a_check_names_each_run_that_cannot_be_read(tmp_path: Path, row: str) -> None:
    path = tmp_path / "runs.db"
    await _write(path)
    engine = InProcessEngine(path, worker=False)
    engine.register(loops=Toys().loops(), activities={})
    await engine.start()
    assert await engine.check() == ()
    _change(path, ROWS.get(row, f"INSERT OR REPLACE INTO event VALUES ((:no << 20) + 1, 'k', {BAD})"))
    (found,) = await engine.check()
    assert "run bad cannot be read" in found
    await engine.close()


async def test_no_worker_starts_where_an_index_has_lost_a_run(tmp_path: Path) -> None:
    """The run would never be executed, and nobody would hear why."""
    path = tmp_path / "runs.db"
    await _write(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema = ON")
        (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'run_state'").fetchone()
        hidden = "CREATE INDEX run_state ON run (state) WHERE no < 0"
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'run_state'", (hidden,))
        database.commit()
    with closing(sqlite3.connect(path)) as database:
        database.execute("REINDEX run_state")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'run_state'", (sql,))
        database.commit()
    engine = _started(path, Toys())
    with pytest.raises(StoreCorruptError, match=r"run_state.* toolgen runs check"):
        await engine.start()
    assert not engine.is_worker
    assert any("run_state" in one for one in await engine.check())
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
