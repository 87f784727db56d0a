"""Children that a run has asked for: the server starts them some moments later."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType

from tests.engines.starting import StartEngine
from tests.engines.toys import call, play
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine, context


async def test_runs_can_be_watched_and_canceled_while_their_children_start(engine: Engine) -> None:
    below = [{"wait": ["go"], "about": "below"}]
    parts = [{"child": below} for _ in range(3)]
    ids = [f"r{number}" for number in range(24)]

    async def one(number: int, run_id: str) -> None:
        await play(engine, [{"parts": [*parts, {"call": call(run_id)}]}, {"detach": below}], run_id=run_id)
        if number % 2:
            assert (await engine.settled(run_id)).state == "waiting"
        await engine.cancel(run_id, reason="enough")
        assert (await engine.result(run_id)).state == "canceled"

    await asyncio.gather(*(one(number, run_id) for number, run_id in enumerate(ids)))


async def test_more_children_than_the_server_takes_begin_when_others_end(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that outlive the run count as well."""
    monkeypatch.setattr(context, "_MOST_CHILDREN", 2)
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    below = [{"wait": ["go"]}]
    parts = [{"child": below} for _ in range(4)]
    await play(engine, [{"detach": below}, {"parts": parts}], run_id="r")
    ids = [f"r/child:1.{number}" for number in range(4)]
    for number, run_id in enumerate(ids):
        status = await engine.settled("r")
        assert status.children == tuple(ids[: number + 1]), "beside the one that outlives the run"
        await engine.signal(run_id, "go", None, signal_id="1")
        await engine.result(run_id)
    assert (await engine.result("r")).output == ["r/work:0", [[{"go": None}]] * 4]
    assert await engine.replay("r") == ["r/work:0", [[{"go": None}]] * 4]
    history = await (await engine._connected()).history("r")
    begun = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED
    assert sum(event.event_type == begun for event in history.events) == 5
    await engine.signal("r/work:0", "go", None, signal_id="1")
