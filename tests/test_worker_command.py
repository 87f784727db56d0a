"""`toolgen worker`: its states, and what it refuses. Its processes are in `tests/conformance`."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from tests.virtual_time import in_virtual_time
from toolgen.cli.worker import Worker
from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine
from toolgen.stores import StoreConnectionError

from .conftest import ProjectFolder
from .runs_project import MAIN, serving, write_runs

AWAY = StoreConnectionError("cannot be reached", server="postgresql://db/x", hint="start the server")
BUG = ValueError("a bug")
QUEUES = """

from toolgen.engines import EngineError


class Queued(InProcessEngine):
    def assign(self, *, queues=(), role="all", drain_s=30.0):
        raise EngineError(f"assigned {queues} {role} {drain_s:g}")
"""


@pytest.fixture
def runs(project: ProjectFolder) -> ProjectFolder:
    write_runs(project)
    return project


async def started(engine: InProcessEngine) -> InProcessEngine:
    engine.register(loops={}, activities={})
    await engine.start()
    return engine


async def reachable() -> None:
    """Find that all stores can be used."""


@in_virtual_time
async def test_it_is_ready_until_it_is_asked_to_end_and_logs_each_change_once() -> None:
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("toolgen.cli")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        engine, worker = await started(InProcessEngine()), Worker()
        states = [worker.state]
        working = asyncio.ensure_future(worker.work(engine, reachable))
        await asyncio.sleep(10)
        states.append(worker.state)
        await engine.close()
        await asyncio.sleep(10)
        states.append(worker.state)
        await engine.start()
        await asyncio.sleep(10)
        states.append(worker.state)
        worker.end()
        await working
        assert states == ["starting", "ready", "engine lost", "ready"]
        assert (worker.state, engine.is_worker) == ("draining", False)
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert records == [
        "the worker: ready",
        "the worker: engine lost",
        "the worker: ready",
        "the worker: draining",
        "the worker has ended",
    ]


@in_virtual_time
async def test_it_is_ready_only_while_its_stores_can_be_used(caplog: pytest.LogCaptureFixture) -> None:
    engine, worker, loop = await started(InProcessEngine()), Worker(), asyncio.get_running_loop()
    found: list[Exception | None] = [AWAY, None, AWAY, AWAY, BUG, BUG, None]
    seen: list[tuple[float, str]] = []
    began = loop.time()

    async def check() -> None:
        seen.append((loop.time() - began, worker.state))
        if len(seen) > len(found):
            await asyncio.Event().wait()
        if (error := found[len(seen) - 1]) is not None:
            raise error

    working = asyncio.ensure_future(worker.work(engine, check))
    await asyncio.sleep(39.5)
    assert worker.state == "store unreachable", "a check that hangs is given up"
    worker.end()
    await working
    away = "store unreachable"
    assert seen == [
        (0.0, "starting"),
        (5.0, away),
        (10.0, "ready"),
        (15.0, away),
        (20.0, away),
        (25.0, away),
        (30.0, away),
        (35.0, "ready"),
    ]
    reasons = [one.getMessage() for one in caplog.records if "a store cannot be used" in one.getMessage()]
    assert reasons == [
        f"a store cannot be used: {why}"
        for why in (AWAY.message, AWAY.message, "ValueError", "no answer within 3 seconds")
    ]
    assert [one.exc_info[1] for one in caplog.records if one.exc_info] == [BUG], "once, not at each check"


async def test_a_worker_that_is_asked_to_end_before_it_works_ends() -> None:
    worker = Worker()
    worker.end()
    await worker.work(await started(InProcessEngine()), reachable)
    assert worker.state == "draining"


async def test_an_engine_that_is_a_client_is_no_worker(tmp_path: Path) -> None:
    engine = await started(InProcessEngine(tmp_path / "runs.db", worker=False))
    with pytest.raises(ToolgenError, match="executes no runs"):
        await Worker().work(engine, reachable)
    await engine.close()


def test_a_runtime_that_keeps_no_runs_has_no_worker(runs: ProjectFolder) -> None:
    runs.write("app/main.py", MAIN.replace('InProcessEngine("runs.db")', "InProcessEngine()"))
    done = runs.run("worker")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "error: the configured runtime does not keep runs after its process ends\n  hint: keep the runs"
    )


def test_a_second_worker_of_a_file_is_refused(runs: ProjectFolder) -> None:
    with serving(runs) as server:
        done = runs.run("worker")
    assert done.code == 2
    assert f"are executed by another engine, in the process {server.process.pid}" in done.err
    assert done.err.endswith("toolgen serve --no-worker\n")


@pytest.mark.parametrize("option", [("--queue", "x"), ("--role", "activities")])
def test_an_engine_without_queues_takes_none(runs: ProjectFolder, option: tuple[str, str]) -> None:
    done = runs.run("worker", *option)
    assert done.code == 2
    assert "error: the engine 'in-process' has no task queues\n" in done.err


def test_an_engine_with_queues_gets_the_options(runs: ProjectFolder) -> None:
    runs.write("app/main.py", MAIN.replace('InProcessEngine("runs.db")', 'Queued("runs.db")') + QUEUES)
    done = runs.run("worker", "--queue", "a", "--queue", "b", "--role", "runs", "--drain", "5")
    assert done.code == 2
    assert "error: assigned ('a', 'b') runs 5\n" in done.err


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_a_time_to_drain_is_a_number_of_seconds(runs: ProjectFolder, seconds: str) -> None:
    done = runs.run("worker", "--drain", seconds)
    assert (done.code, "--drain" in done.err) == (2, True)


@pytest.mark.parametrize("address", ["x", ":80", "127.0.0.1:", "1:99999"])
def test_an_address_that_is_none_is_refused(runs: ProjectFolder, address: str) -> None:
    done = runs.run("worker", "--health", address)
    assert done.code == 2
    assert f"error: --health '{address}' is not HOST:PORT\n" in done.err
