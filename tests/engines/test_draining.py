"""Every engine that drains: what runs ends, nothing further begins, and the next worker goes on."""

from __future__ import annotations

import asyncio

import pytest

from tests.virtual_time import VirtualTimeLoop
from toolgen.engines import DrainingEngine, Engine

from .starting import StartEngine
from .toys import Toys, call, play


@pytest.fixture
async def draining(engine: Engine) -> DrainingEngine:
    assert isinstance(engine, DrainingEngine)
    return engine


async def drain(engine: DrainingEngine, seconds: float = 30.0) -> bool:
    return await asyncio.wait_for(engine.drain(seconds), 60)


async def test_nothing_runs_and_draining_is_over_at_once(draining: DrainingEngine) -> None:
    began = asyncio.get_running_loop().time()
    assert await drain(draining)
    assert asyncio.get_running_loop().time() == began


async def test_what_runs_ends_and_what_follows_is_begun_after_a_restart(
    draining: DrainingEngine, engine: Engine, toys: Toys
) -> None:
    steps = [{"calls": [call("first", gate="gate")]}, {"calls": [call("second")]}]
    await play(engine, steps, run_id="r")
    await toys.has("start", "first")
    drained = asyncio.ensure_future(drain(draining))
    await asyncio.sleep(0)
    assert not drained.done()
    toys.open("gate")
    assert await drained
    await engine.close()
    assert toys.log == [("start", "first", 1), ("end", "first", 1)]
    await engine.start()
    assert (await engine.result("r")).state == "completed"
    assert toys.log[2:] == [("start", "second", 1), ("end", "second", 1)]


async def test_draining_ends_after_its_time_and_the_call_is_made_again(
    draining: DrainingEngine, engine: Engine, toys: Toys
) -> None:
    await play(engine, [{"calls": [call("slow", gate="gate")]}], run_id="r")
    await toys.has("start", "slow")
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    began = loop.time()
    assert not await drain(draining, 30)
    assert loop.time() - began == pytest.approx(30)
    await engine.close()
    toys.open("gate")
    await engine.start()
    assert (await engine.status("r")).state == "running"
    assert (await engine.result("r")).state == "completed"


async def test_a_call_that_ends_in_another_drain_is_not_cut_off(
    draining: DrainingEngine, engine: Engine, toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    await play(engine, [{"calls": [call("slow", gate="gate")]}], run_id="r")
    await toys.has("start", "slow")
    assert not await drain(draining, 1)
    toys.open("gate")
    assert await drain(draining)
    await engine.close()
    assert "cut off" not in caplog.text
    await engine.start()
    assert (await engine.result("r")).state == "completed"
    assert toys.counts("start") == {"slow": 1}


@pytest.mark.parametrize("seconds", [0, None], ids=["drained", "closed"])
async def test_close_logs_each_call_that_it_cuts_off(
    draining: DrainingEngine,
    engine: Engine,
    toys: Toys,
    caplog: pytest.LogCaptureFixture,
    seconds: float | None,
) -> None:
    calls = [call("slow", gate="gate"), call("once", once=True, tells=[], gate="gate"), call("quick")]
    await play(engine, [{"calls": calls}], run_id="r")
    for id_ in ("slow", "once"):
        await toys.has("start", id_)
    await toys.has("end", "quick")
    if seconds is not None:
        assert not await drain(draining, seconds)
        assert "cut off" not in caplog.text
    await engine.close()
    again = "another worker executes it again" if engine.caps.is_durable else "its run ends with this process"
    assert sorted(caplog.messages) == [
        f"run r: tool:{id_} of tool did not end before its worker and was cut off; {then}"
        for id_, then in (("once", "its outcome is unknown"), ("slow", again))
    ]


async def test_a_failed_attempt_is_not_followed_by_another_one(
    draining: DrainingEngine, engine: Engine, toys: Toys
) -> None:
    await play(engine, [{"calls": [call("flaky", gate="gate", fail_until=2)]}], run_id="r")
    await toys.has("start", "flaky")
    drained = asyncio.ensure_future(drain(draining))
    await asyncio.sleep(0)
    toys.open("gate")
    assert await drained
    await asyncio.sleep(5)
    assert toys.counts("start") == {"flaky": 1}
    await engine.close()
    await engine.start()
    assert (await engine.result("r")).state == "completed"
    assert toys.counts("start") == {"flaky": 2}


async def test_a_run_that_has_something_left_to_begin_does_not_count_as_waiting(
    start_engine: StartEngine, toys: Toys
) -> None:
    engine = await start_engine()
    assert isinstance(engine, DrainingEngine)
    assert await drain(engine)
    steps = [{"parts": [{"wait": ["go"]}, {"call": call("work")}]}]
    await play(engine, steps, run_id="r")
    await asyncio.sleep(5)
    assert (await engine.status("r")).state == "running"
    await engine.close()
    assert not toys.log
    await engine.start()
    await toys.has("end", "work")
    assert (await engine.settled("r")).state == "waiting"
