"""Children that a run has asked for: the server starts them some moments later."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType

from tests.engines.toys import call, play
from toolgen.engines.temporal.history import RunView
from toolgen.engines.temporal.payloads import data_converter
from toolgen.runtime.engine import Engine

from .test_histories import HISTORIES


async def test_a_run_is_running_until_its_child_is_there() -> None:
    async def decode(payloads: Sequence[Payload], activity: object = None, /) -> list[Any]:
        return await data_converter(None).decode(payloads)

    view, asked = RunView(), 0
    for event in HISTORIES.read("above").history.events:
        await view.read(event, decode)
        if event.event_type == EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
            asked += 1
            assert event.event_id in view.starting
            assert event.event_id not in view.open_children, "nobody can ask for it yet"
            assert not view.is_idle
    assert asked == 3
    assert not view.starting
    assert not view.open_children


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
