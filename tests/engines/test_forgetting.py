"""Runs that are forgotten: who hears of them first, and what happens when that fails or the process ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.virtual_time import now
from toolgen.engines import InProcessEngine
from toolgen.runtime.engine import ForgottenRun, OnForget, UnknownRunError

from .toys import Toys, play

MANY = 22
"""Runs of which some are forgotten, also in a file."""
Open = Callable[[OnForget], InProcessEngine]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, toys: Toys) -> Open:
    """Return what opens the engine of a file anew, or one in memory, which keeps one run."""

    def make(on_forget: OnForget) -> InProcessEngine:
        path = None if request.param == "memory" else tmp_path / "runs.db"
        engine = InProcessEngine(path, keep_runs=1, clock=now)
        engine.register(loops=toys.loops(), activities=toys.activities(), on_forget=on_forget)
        return engine

    return make


async def ended(engine: InProcessEngine, *names: str) -> None:
    for name in names:
        await play(engine, [{"child": []}], run_id=name)
        assert (await engine.result(name)).state == "completed"


async def gone(engine: InProcessEngine, run_id: str) -> bool:
    try:
        await engine.status(run_id)
    except UnknownRunError:
        return True
    return False


async def until_gone(engine: InProcessEngine, run_id: str) -> None:
    async with asyncio.timeout(60):
        while not await gone(engine, run_id):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_runs_are_told_of_with_their_children_before_they_are_forgotten(opened: Open) -> None:
    told: list[str] = []

    async def hear(runs: Sequence[ForgottenRun]) -> None:
        assert not [run.run_id for run in runs if await gone(engine, run.run_id)]
        told.extend(run.run_id for run in runs)

    engine = opened(hear)
    await engine.start()
    await ended(engine, *(f"r{number}" for number in range(MANY)))
    await until_gone(engine, f"r{MANY - 20}")
    assert told[:4] == ["r0", "r0/child:0", "r1", "r1/child:0"]
    assert len(set(told)) == len(told)
    assert not await gone(engine, f"r{MANY - 1}")
    await engine.close()


async def test_runs_stay_where_what_they_left_cannot_be_dropped(opened: Open) -> None:
    told: list[str] = []

    async def fail_once(runs: Sequence[ForgottenRun]) -> None:
        told.append(runs[0].run_id)
        if len(told) == 1:
            raise ConnectionError("the store is not there")

    engine = opened(fail_once)
    await engine.start()
    await ended(engine, *(f"r{number}" for number in range(MANY)))
    await asyncio.sleep(30)
    await ended(engine, "soon")
    await asyncio.sleep(1)
    assert (told, await gone(engine, "r0")) == (["r0"], False)
    await asyncio.sleep(60)
    await ended(engine, "later")
    await until_gone(engine, "r0")
    assert told[:2] == ["r0", "r0"]
    await engine.close()


async def test_the_next_process_forgets_what_was_not(tmp_path: Path, toys: Toys) -> None:
    reached, told = asyncio.Event(), list[str]()

    async def hang(runs: Sequence[ForgottenRun]) -> None:
        reached.set()
        await asyncio.Event().wait()

    async def hear(runs: Sequence[ForgottenRun]) -> None:
        told.extend(run.run_id for run in runs)

    for on_forget in (hang, hear):
        engine = InProcessEngine(tmp_path / "runs.db", keep_runs=1, clock=now)
        engine.register(loops=toys.loops(), activities=toys.activities(), on_forget=on_forget)
        await engine.start()
        if on_forget is hang:
            await ended(engine, *(f"r{number}" for number in range(MANY)))
            await reached.wait()
            assert not await gone(engine, "r0")
        else:
            await until_gone(engine, "r0")
        await engine.close()
    assert told[:2] == ["r0", "r0/child:0"]
