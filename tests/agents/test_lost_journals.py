"""A journal that was restored, replaced or lost: nothing that may not run twice does."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.agents.journal_desk import YES, Desk, Model, approved, backup
from tests.agents.journal_desk import desk as desk
from tests.lab.agents import unpaired
from tests.runtime.bank import META, Bank
from tests.selection import first
from toolgen.agents import RunHandle
from toolgen.agents.turns import START_S
from toolgen.calls.call import CallName
from toolgen.engines import EngineError, InProcessEngine
from toolgen.runtime import Runtime
from toolgen.stores import ReplacedFileError, StoreCorruptError, StoreMissingError
from toolgen.waiting.errors import LateAnswerError

from .tools import waiting

pytestmark = pytest.mark.asyncio(loop_factories=["real"])  # files of several processes


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engines of the tests keep their runs in files."""


async def test_a_restored_journal_makes_no_approved_call_again(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await desk.ask()
    kept = desk.copy()
    assert await desk.finish() == '"b is wiped"'
    desk.restore(kept)
    with caplog.at_level(logging.ERROR, "toolgen.engines"):
        async with desk.process() as (_, handle):
            assert "may have run" in (await handle.result()).text, "nobody is asked again"
    assert desk.done == ["pay a", "wipe b"]
    assert "runs.db is older than its witness" in caplog.text
    assert "calls that had started: 1, accepted answers: 1, runs: 1, unfinished runs: r" in caplog.text
    async with desk.process() as (agents, handle):
        said = await agents.sessions.run_messages("r")
        assert [*unpaired(said)] == []
        ends = [event async for event in handle.events() if event.type == "tool_end"]
        assert [end.status for end in ends if end.status != "suspended"] == ["ok", "unknown"]


@pytest.mark.exhaustive
async def test_what_was_approved_and_lost_is_neither_denied_nor_over_afterwards(desk: Desk) -> None:
    """Its time is over in the copy, which is an old one, and its run is canceled before it goes on."""
    await desk.ask()
    kept = desk.copy()
    await desk.finish()
    desk.restore(kept)
    async with desk.process() as (_, handle):
        await handle.cancel("enough")
        ends = [event async for event in handle.events() if event.type == "tool_end"]
    assert ends[-1].status == "unknown"
    desk.restore(kept)
    with closing(sqlite3.connect(desk.folder / "runs.db")) as database, database:
        database.execute("UPDATE run SET wake = 1.0 WHERE wake IS NOT NULL")
    async with desk.process() as (_, handle):
        assert "may have run" in (await handle.result()).text
    assert desk.done == ["pay a", "wipe b"]


async def test_what_was_denied_and_lost_is_asked_again(desk: Desk) -> None:
    await desk.ask()
    kept = desk.copy()
    async with desk.process() as (_, handle):
        await handle.answer(await waiting(handle), {"approved": False})
        await handle.result()
    desk.restore(kept)
    assert await desk.finish() == '"b is wiped"'
    assert desk.done == ["pay a", "wipe b"]


async def test_a_run_that_a_copy_does_not_have_begins_nothing_again(desk: Desk) -> None:
    """Its client starts it again under its id, as after every loss of a connection."""
    async with desk.process():
        pass
    kept = desk.copy()
    await desk.ask()
    assert await desk.finish() == '"b is wiped"'
    desk.restore(kept)
    desk.wall += START_S + 1
    async with desk.process() as (agents, handle):
        await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
        await handle.answer(await waiting(handle), YES)
        await handle.result()
        ends = [event async for event in handle.events() if event.type == "tool_end"]
    assert [end.status for end in ends if end.status != "suspended"] == ["unknown", "unknown"]
    assert desk.done == ["pay a", "wipe b"]


async def test_what_a_model_plans_again_under_other_ids_is_not_made_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, is_apart=False, planner=Model())
    async with desk.process():
        pass
    kept = desk.copy()
    await desk.ask()
    assert await desk.finish() == '"b is wiped"'
    desk.restore(kept)
    for _ in range(2):  # what is not known stays so in the next process
        async with desk.process() as (agents, handle):
            await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
            await waiting(handle)
    async with desk.process() as (agents, handle):
        await handle.answer(await waiting(handle), YES)
        await handle.result()
        ends = [event async for event in handle.events() if event.type == "tool_end"]
        assert [end.status for end in ends if end.status != "suspended"] == ["unknown", "unknown"]
        await waiting(await agents.client("x.agent").start("Go.", session_id="other"))
    assert desk.done == ["pay a", "wipe b", "pay a"], "another run makes its calls"


@pytest.mark.parametrize(("is_there", "says"), [(False, "cannot be found any more"), (True, "is empty")])
async def test_nothing_is_executed_without_the_journal_of_the_witness(
    desk: Desk, is_there: bool, says: str
) -> None:
    await desk.ask()
    desk.lose()
    path = desk.folder / "runs.db"
    if is_there:
        path.touch()
    for _ in range(2):
        with pytest.raises(StoreMissingError, match=says) as caught:
            async with desk.process():
                pass
        assert "toolgen runs restore" in str(caught.value.hint)
        client = InProcessEngine(path, worker=False)
        with pytest.raises(StoreMissingError, match=says):
            await client.list_runs()
        await client.close()
        assert path.exists() == is_there
    client = InProcessEngine(path, worker=False)
    assert await client.restore() is not None
    assert await client.list_runs() == ()
    await client.close()


async def test_a_lost_journal_in_which_nothing_had_begun_is_noticed_too(tmp_path: Path) -> None:
    """Its runs wait for people, who would wait for nothing."""
    path = tmp_path / "runs.db"

    def made() -> Runtime:
        runtime = Runtime(engine=InProcessEngine(path))
        runtime.tools.register(Bank().toolset())
        return runtime

    async with made() as runtime:
        assert (await runtime.call("bank.accounts.pay_approved", {"amount": 5}, META)).status == "suspended"
    await InProcessEngine(tmp_path / "other.db").close()
    (tmp_path / "other.db").replace(path)
    with pytest.raises(ReplacedFileError, match="is not the journal of its witness"):
        async with made():
            pass
    engine = InProcessEngine(path, worker=False)
    lost = await engine.restore()
    assert lost is not None
    assert (lost.begun, lost.answered) == (0, 0)
    assert await engine.restore() is None
    await engine.close()
    async with made() as runtime:
        assert await runtime.suspensions.list() == ()


async def test_no_client_makes_an_empty_file_in_the_place_of_one_that_was_removed(desk: Desk) -> None:
    await desk.ask()
    async with desk.process() as (_, handle):
        kept = desk.copy()
        desk.lose()
        client = InProcessEngine(desk.folder / "runs.db", worker=False)
        for engine in (client, InProcessEngine(desk.folder / "runs.db")):
            with pytest.raises(StoreMissingError, match="cannot be found any more") as caught:
                await engine.list_runs()
            assert "if it is lost for good: toolgen runs restore" in str(caught.value.hint)
            with pytest.raises(StoreMissingError):
                await engine.signal("r", "name", None, signal_id="x")
        with pytest.raises(StoreMissingError):
            await handle.settled()
        assert not (desk.folder / "runs.db").exists()
        shutil.copy(kept, desk.folder / "runs.db")
        assert [run.run_id for run in await client.list_runs()] == ["r"]
        await client.close()


async def _refused(handle: RunHandle) -> None:
    """Approve the call of an older copy; the worker can still have the status of the old file at first."""
    with suppress(LateAnswerError):
        await approved(handle)
        pytest.fail("a call of the older copy was executed")
    await approved(handle)


@pytest.mark.parametrize("how", first(["restored by SQLite", "moved there"]))
async def test_an_older_copy_that_is_put_under_a_worker_stops_it_before_it_does_anything(
    desk: Desk, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk.process() as (agents, handle):
        await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
        await waiting(handle)
        kept = desk.folder / "copy.db"
        backup(desk.folder / "runs.db", kept)
        assert await approved(handle) == '"b is wiped"'
        if how == "moved there":
            desk.restore(kept)
        else:
            backup(kept, desk.folder / "runs.db")
        with pytest.raises(ReplacedFileError, match="was replaced under the process that executes its runs"):
            await _refused(handle)
    assert "was replaced under the process that executes its runs" in caplog.text
    async with desk.process() as (_, handle):
        assert "may have run" in (await handle.result()).text
    assert desk.done == ["pay a", "wipe b"]


async def test_a_journal_that_was_put_back_goes_on(desk: Desk) -> None:
    await desk.ask()
    kept = desk.copy()
    desk.lose()
    with pytest.raises(StoreMissingError):
        async with desk.process():
            pass
    desk.restore(kept)
    assert await desk.finish() == '"b is wiped"'


async def test_a_lost_journal_is_accepted_once_and_begins_nothing_again(desk: Desk) -> None:
    await desk.ask()
    desk.lose()
    engine = InProcessEngine(desk.folder / "runs.db", worker=False)
    lost = await engine.restore()
    assert lost is not None
    assert (lost.begun, lost.answered) == (1, 0)
    assert await engine.restore() is None
    await engine.close()
    async with desk.process() as (agents, handle):
        await agents.release(lost_engine=lost.engine_id)
        await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
        await waiting(handle)
    assert desk.done == ["pay a"]
    assert await desk.finish() == '"b is wiped"'


async def test_a_worker_keeps_others_from_accepting_a_journal(desk: Desk) -> None:
    async with desk.process():
        other = InProcessEngine(desk.folder / "runs.db", worker=False)
        with pytest.raises(EngineError, match="are executed by another engine"):
            await other.restore()
        await other.close()
    with pytest.raises(EngineError, match="the runs are in memory"):
        await InProcessEngine().restore()


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_a_named_call_that_a_copy_does_not_have_is_not_executed_again(
    tmp_path: Path, is_deleted: bool
) -> None:
    path, bank = tmp_path / "runs.db", Bank()

    async def call() -> str:
        runtime = Runtime(engine=InProcessEngine(path))
        runtime.tools.register(bank.toolset())
        async with runtime:
            name = CallName(interface="test", call_id="c1", checkpoint="")
            return (await runtime.call_once(name, "pay", {"amount": 5}, META)).status

    await InProcessEngine(path).close()
    shutil.copy(path, tmp_path / "copy.db")
    assert [await call(), await call()] == ["ok", "ok"]
    for name in ("runs.db", "runs.db-wal", "runs.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    if is_deleted:
        engine = InProcessEngine(path, worker=False)
        assert await engine.restore() is not None
        await engine.close()
    else:
        shutil.copy(tmp_path / "copy.db", path)
    assert await call() == "unknown"
    assert bank.paid == [("pay", 5)]


async def test_a_run_whose_output_is_gone_hides_no_other(tmp_path: Path) -> None:
    """The list of all runs was a TypeError."""
    desk = Desk(tmp_path, is_apart=False)
    await desk.ask()
    await desk.finish()
    async with desk.process() as (agents, _):
        other = await agents.client("x.agent").start("Again.", session_id="t", run_id="other")
        await other.result()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as database, database:
        database.execute("UPDATE run SET output = NULL WHERE run_id = 'r'")
    async with desk.process() as (agents, _):
        assert [listed.run_id for listed in await agents.list_runs()] == ["other"]
        with pytest.raises(StoreCorruptError, match="run r cannot be read"):
            await agents.snapshot("r")


@pytest.mark.parametrize(
    "output", first(["[]", "{}", '"x"', '{"failure": null, "agent": "x.agent", "pending": [{}]}'])
)
async def test_a_run_whose_output_has_another_shape_hides_no_other(tmp_path: Path, output: str) -> None:
    """The list of all runs was a TypeError or a KeyError."""
    desk = Desk(tmp_path, is_apart=False)
    await desk.ask()
    await desk.finish()
    async with desk.process() as (agents, _):
        other = await agents.client("x.agent").start("Again.", session_id="t", run_id="other")
        await other.result()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as database, database:
        database.execute("UPDATE run SET output = CAST(? AS BLOB) WHERE run_id = 'r'", (output,))
    async with desk.process() as (agents, _):
        listed = {run.run_id: run for run in await agents.list_runs()}
        assert set(listed) == {"r", "other"}
        assert (listed["r"].status, listed["other"].status) == ("failed", "completed")
        assert "does not have the shape" in listed["r"].error


async def test_a_wait_that_cannot_be_read_hides_no_run(tmp_path: Path) -> None:
    """The list of all runs was a TypeError."""
    desk = Desk(tmp_path, is_apart=False)
    async with desk.process() as (agents, handle):
        await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
        await waiting(handle)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as database, database:
        database.execute("UPDATE wait SET about = CAST('{' AS BLOB)")
    async with desk.process() as (agents, handle):
        (listed,) = await agents.list_runs()
        assert [one.kind for one in listed.awaiting] == ["tampered"]
        with pytest.raises(StoreCorruptError, match="run r cannot be read"):
            await handle.settled()
