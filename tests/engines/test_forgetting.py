"""Runs that are forgotten: who hears of them first, and what happens when that fails or the process ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.virtual_time import now
from toolgen.engines import ForgottenRun, InProcessEngine, OnForget, UnknownRunError

from .conftest import Make
from .toys import Toys, play

MANY = 22
"""Runs of which some are forgotten, also in a file."""
Open = Callable[..., InProcessEngine]


@pytest.fixture
def opened(make_engine: Make, toys: Toys) -> Open:
    """Return what opens the engine of a file anew, or one in memory, which keeps one run."""

    def make(on_forget: OnForget | None = None) -> InProcessEngine:
        engine = make_engine(keep_runs=1)
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


async def test_the_oldest_runs_are_forgotten_with_their_children_and_none_that_goes_on(
    opened: Open,
) -> None:
    engine = opened()
    await engine.start()
    await play(engine, [{"wait": ["go"]}], run_id="waits")
    names = [f"r{number}" for number in range(MANY)]
    await ended(engine, *names)
    await until_gone(engine, "r0")
    kept = {run.run_id for run in await engine.list_runs()}
    assert (
        {"waits", names[-1], f"{names[-1]}/child:0"}
        <= kept
        <= {"waits", *(name for root in names[1:] for name in (root, f"{root}/child:0"))}
    )
    await engine.close()


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


async def test_who_waits_for_a_run_hears_how_it_ended(opened: Open) -> None:
    """Though many runs end at once, and are not to be kept."""

    async def hear(runs: Sequence[ForgottenRun]) -> None:
        pass

    engine = opened(hear)
    await engine.start()
    names = [f"r{number}" for number in range(50)]
    for name in names:
        await play(engine, [{"wait": ["go"]}], run_id=name)
    waiting = [asyncio.ensure_future(engine.result(name)) for name in names]
    await asyncio.sleep(1)
    await asyncio.gather(*(engine.signal(name, "go", None, signal_id="1") for name in names))
    assert {status.state for status in await asyncio.gather(*waiting)} == {"completed"}
    await engine.close()
