"""Waits of hours, on a server that skips the time of single workflows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import TimeSkipper

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play
from tests.temporal_server import TemporalServer
from toolgen.contract.json_value import Json
from toolgen.engines import RunContext, WaitOverError
from toolgen.engines.temporal import TemporalEngine

HOUR_S = 3600.0


async def patient(ctx: RunContext, given: Any) -> Json:
    """Wait for five hours, and return for how long it was and what came."""
    began = ctx.now()
    signal = await ctx.wait("wait", "answer:wait", timeout_s=5 * HOUR_S, about="?")
    return [round((ctx.now() - began) / HOUR_S, 1), None if signal is None else signal.payload]


@pytest.fixture(scope="module")
def server() -> Iterator[TemporalServer]:
    server = TemporalServer(None, "--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true")
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def engine(start_engine: StartEngine) -> TemporalEngine:
    engine = await start_engine(is_started=False)
    assert isinstance(engine, TemporalEngine)
    engine._require_registered().loops.update(patient=patient)  # type: ignore[attr-defined]  # a dictionary
    await engine.start()
    return engine


async def skip(engine: TemporalEngine, run_id: str, hours: float) -> None:
    """Let hours pass for a run."""
    client = await engine._connected()
    handle = client.client.get_workflow_handle(client._id(run_id))
    await TimeSkipper(client.client).fast_forward(handle, timedelta(hours=hours))


async def test_a_wait_of_five_hours_expires_or_is_answered_after_three(engine: TemporalEngine) -> None:
    for run_id in ("expires", "answered"):
        await engine.start_run("patient", None, run_id=run_id)
        assert (await engine.settled(run_id)).awaiting
    await asyncio.gather(skip(engine, "expires", 4.9), skip(engine, "answered", 3.0))
    assert (await engine.status("expires")).awaiting, "its time is not over"
    assert await engine.answer("answered", "wait", "yes", key="yes") == "accepted"
    assert (await engine.result("answered")).output == [3.0, "yes"]
    await skip(engine, "expires", 0.2)
    assert (await engine.result("expires")).output == [5.0, None]
    with pytest.raises(WaitOverError):
        await engine.answer("expires", "wait", "late", key="late")


async def test_a_child_waits_for_hours_beside_its_parent(engine: TemporalEngine, toys: Toys) -> None:
    steps = [
        {"child": [{"wait": ["go"], "timeout_s": 5 * HOUR_S}], "is_needed": True},
        {"calls": [call("a")]},
    ]
    await play(engine, steps, run_id="r")
    assert (await engine.settled("r")).state == "waiting"
    await skip(engine, "r/child:0", 5.1)
    assert (await engine.result("r")).output == [[None], [{"id": "a", "ok": True}]]
