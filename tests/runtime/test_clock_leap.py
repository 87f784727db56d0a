"""A worker that starts under a wall clock that is years ahead ends nothing by it, until it is released."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, Suspended
from toolgen.waiting.errors import LateAnswerError
from toolgen.waiting.options import WaitOptions

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"))
YES: dict[str, Any] = {"approved": True}
DAY = 86400.0
NOW, YEARS = 1_800_000_000.0, 3652 * DAY


class Machine:
    """A file of runs on a machine whose wall clock a test sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.wall = NOW

    @asynccontextmanager
    async def working(self, **how: float) -> AsyncIterator[tuple[Runtime, InProcessEngine]]:
        engine = InProcessEngine(self.path, clock=lambda: self.wall, **how)  # type: ignore[arg-type]  # keep_s
        waits = WaitOptions(clock=lambda: self.wall, expires_s=7 * DAY)
        async with runtime(Listing(), CONFIRMED, engine=engine, waiting=waits) as made:
            for _ in range(20):  # what is due at the start has its turns
                await asyncio.sleep(0)
            yield made, engine

    async def asked(self) -> Suspended:
        async with self.working() as (made, _):
            return waiting(await made.call(TOOL, SITE, META))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "runs.db")


async def test_one_start_under_a_wrong_clock_ends_nothing(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    first = await machine.asked()
    machine.wall = NOW + YEARS
    with caplog.at_level(logging.ERROR, "toolgen.engines"):
        async with machine.working() as (made, engine):
            assert await made.suspensions.list("s") == (first,)
            assert engine.held_s == YEARS
            second = waiting(await made.call(TOOL, SITE, META))
            assert second.expires_at == NOW + 7 * DAY, "it does not live for ten years"
    assert "3652 days ahead" in caplog.text
    assert "toolgen runs release-clock" in caplog.text
    machine.wall = NOW + DAY
    async with machine.working() as (made, engine):
        assert engine.held_s == 0.0
        assert {one.id for one in await made.suspensions.list("s")} == {first.id, second.id}
        assert (await made.suspensions.answer(first.token, YES)).status == "ok"


async def test_what_waits_can_be_answered_under_a_wrong_clock(machine: Machine) -> None:
    asked = await machine.asked()
    machine.wall = NOW + YEARS
    async with machine.working() as (made, _):
        assert (await made.suspensions.answer(asked.token, YES)).status == "ok"


async def test_an_operator_who_trusts_the_clock_lets_it_count(machine: Machine) -> None:
    """The machine was off for two months, and the worker goes on without a new start."""
    asked = await machine.asked()
    machine.wall = NOW + 60 * DAY
    async with machine.working() as (made, engine):
        assert engine.held_s == 60 * DAY
        await engine.release_clock()
        assert engine.held_s == 0.0
        with pytest.raises(LateAnswerError):
            await made.suspensions.answer(asked.token, YES)
        assert await made.suspensions.list("s") == ()
    async with machine.working() as (_, engine):
        assert engine.held_s == 0.0


async def test_it_may_be_released_before_the_worker_starts(machine: Machine) -> None:
    asked = await machine.asked()
    machine.wall = NOW + 60 * DAY
    client = InProcessEngine(machine.path, worker=False, clock=lambda: machine.wall)
    await client.start()
    await client.release_clock()
    await client.close()
    async with machine.working() as (made, engine):
        assert engine.held_s == 0.0
        with pytest.raises(LateAnswerError):
            await made.suspensions.answer(asked.token, YES)


async def test_some_weeks_are_no_leap(machine: Machine) -> None:
    asked = await machine.asked()
    machine.wall = NOW + 29 * DAY
    async with machine.working() as (made, engine):
        assert engine.held_s == 0.0
        with pytest.raises(LateAnswerError):
            await made.suspensions.answer(asked.token, YES)


async def test_where_nothing_would_end_any_clock_is_trusted(machine: Machine) -> None:
    asked = await machine.asked()
    async with machine.working() as (made, _):
        await made.suspensions.answer(asked.token, YES)
    machine.wall = NOW + YEARS
    async with machine.working() as (_, engine):
        assert engine.held_s == 0.0


async def test_nothing_is_forgotten_by_a_wrong_clock(machine: Machine) -> None:
    asked = await machine.asked()
    async with machine.working(keep_s=90 * DAY) as (made, _):
        await made.suspensions.answer(asked.token, YES)
    machine.wall = NOW + YEARS
    async with machine.working(keep_s=90 * DAY) as (made, engine):
        assert engine.held_s > 0
        again = waiting(await made.call(TOOL, SITE, META))
        await made.suspensions.answer(again.token, YES)
        assert len(await engine.list_runs()) == 2
