"""A batch of more calls than the engine has open at once: the server gets the others when these end."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowHistory

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play
from toolgen.engines.temporal import TemporalEngine, scheduling


@pytest.fixture(autouse=True)
def one_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each run one activity open at once."""
    monkeypatch.setattr(scheduling, "_MOST_OPEN", 1)


def canceled(history: WorkflowHistory) -> list[str]:
    """Return the ids of the activities that a run has canceled."""
    events = history.events
    ids = {
        event.event_id: event.activity_task_scheduled_event_attributes.activity_id
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
    }
    return [
        ids[event.activity_task_cancel_requested_event_attributes.scheduled_event_id]
        for event in events
        if event.HasField("activity_task_cancel_requested_event_attributes")
    ]


async def test_calls_begin_one_after_the_other_and_can_be_replayed(
    start_engine: StartEngine, toys: Toys
) -> None:
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"calls": [call("a"), call("b", is_fatal=True), call("c")]}], run_id="r")
    status = await engine.result("r")
    assert status.output == [
        [{"id": "a", "ok": True}, {"failed": "NonRetryableError"}, {"id": "c", "ok": True}]
    ]
    assert await engine.replay("r") == status.output


async def test_a_canceled_run_cancels_the_call_that_began_late(start_engine: StartEngine, toys: Toys) -> None:
    engine = await start_engine()
    assert isinstance(engine, TemporalEngine)
    calls = [call("a"), call("b", gate="never"), call("c")]
    await play(engine, [{"calls": calls}], run_id="r")
    await toys.has("start", "b")
    await engine.cancel("r", reason="enough")
    assert (await engine.result("r")).state == "canceled"
    assert engine._client is not None
    assert canceled(await engine._client.history("r")) == ["tool:b"]
    assert toys.counts("start")["c"] == 0
