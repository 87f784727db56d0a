"""Signals, updates and workflows that a client other than ours sends: malformed ones change nothing."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.common import RawValue, RetryPolicy
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.engines.starting import StartEngine
from tests.engines.toys import Toys, call, play, until_listed
from toolgen.engines import Engine
from toolgen.engines.temporal import TemporalEngine, scheduling
from toolgen.engines.temporal.documents import VERSION

from .processes import ends

MALFORMED: Final[dict[str, list[Any]]] = {
    "nothing": [],
    "null": [None],
    "a text": ["go"],
    "a list": [[1]],
    "no keys": [{}],
    "a key is missing": [{"id": "1", "name": "go", "op": "wait:0", "key": "k"}],
    "an id that is a list": [
        {"id": [], "name": "go", "op": [], "key": "k", "request_id": "b", "payload": 1},
    ],
    "names that are numbers": [
        {"id": 1, "name": 2, "op": 3, "key": 4, "request_id": 5, "payload": 1},
    ],
    "two arguments": [{}, {}],
    "no JSON": [RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b"{"))],
    "a number that JSON has not": [
        RawValue(
            Payload(
                metadata={"encoding": b"json/plain"},
                data=b'{"id":"1","name":"go","op":"wait:0","key":"k","request_id":"b","payload":NaN}',
            )
        )
    ],
    "a number that is too large": [
        RawValue(
            Payload(
                metadata={"encoding": b"json/plain"},
                data=b'{"id":"1","name":"go","op":"wait:0","key":"k","request_id":"b","payload":1e400}',
            )
        )
    ],
    "another encoding": [RawValue(Payload(metadata={"encoding": b"binary/plain"}, data=b"x"))],
}


async def stranger(engine: TemporalEngine) -> Client:
    """Return a client that knows nothing of our documents."""
    return await Client.connect(engine._address)


@pytest.mark.parametrize("name", ["signal", "answer", "begun"])
@pytest.mark.parametrize("args", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_signal_is_dropped_and_logged(
    engine: Engine, name: str, args: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"wait": ["answer:wait:0"], "about": "?"}, {"wait": ["go"]}], run_id="r")
    await engine.settled("r")
    handle = (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r")
    with caplog.at_level(logging.WARNING):
        await handle.signal(name, args=args)
        assert (await engine.settled("r")).state == "waiting"
        assert [wait.op for wait in await engine.open_waits()] == ["wait:0"]
        assert await engine.answer("r", "wait:0", "yes", key="1") == "accepted"
    assert "drop" in caplog.text
    await engine.signal("r", "go", 1, signal_id="1")
    status = await engine.result("r")
    assert (status.state, status.error) == ("completed", "")


async def test_a_signal_that_is_named_as_an_answer_ends_no_wait(engine: Engine) -> None:
    """Of an answer the history says who gave it; of this nothing would."""
    assert isinstance(engine, TemporalEngine)
    steps = [{"wait": ["go"]}, {"wait": ["answer:wait:1"], "about": "?"}]
    await play(engine, steps, run_id="r")
    await engine.settled("r")
    handle = (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r")
    forged = {"id": "1", "name": "answer:wait:1", "payload": "forged"}
    await handle.signal("signal", forged)
    await engine.signal("r", "go", 1, signal_id="2")
    while not (await engine.settled("r")).awaiting:
        pass
    await handle.signal("signal", {**forged, "id": "3"})
    assert (await engine.settled("r")).awaiting
    assert await engine.answer("r", "wait:1", "yes", key="1") == "accepted"
    assert (await engine.result("r")).output == [{"go": 1}, {"answer:wait:1": "yes"}]


@pytest.mark.parametrize(
    "sent",
    [
        {"op": "tool:b", "events": [{"type": "approved"}]},
        {"op": "tool:c", "events": [{"type": "approved"}]},
        {"op": "tool:a", "events": [{"type": "run_stream_end"}]},
        {"op": "tool:a", "events": [{"type": "run_completed", "status": "failed"}]},
        {"op": "tool:a", "events": [{"type": 1}]},
        {"op": "tool:a", "events": [{"type": "x" * 1_700_000}]},
        {"op": "tool:a", "events": ["approved"]},
        {"op": "tool:a", "events": {"type": "approved"}},
    ],
    ids=[
        "ended",
        "unknown",
        "end of the log",
        "end of the run",
        "no type",
        "long type",
        "no event",
        "no list",
    ],
)
async def test_events_of_no_activity_in_flight_and_ends_are_not_in_the_log(
    engine: Engine, toys: Toys, sent: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(engine, TemporalEngine)
    steps = [{"calls": [call("b")]}, {"calls": [call("a", gate="1")]}, {"publish": {"type": "after"}}]
    await play(engine, steps, run_id="r")
    await toys.has("start", "a")
    with caplog.at_level(logging.WARNING):
        await (
            (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r").signal("begun", sent)
        )
        toys.open("1")
        assert (await engine.result("r")).state == "completed"
    assert "drops a begun record" in caplog.text
    assert [event["type"] for event in await ends(engine, "r")] == ["after", "run_stream_end"]


async def test_events_of_an_activity_that_waits_for_others_are_not_in_the_log(
    engine: Engine, toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(engine, TemporalEngine)
    monkeypatch.setattr(scheduling, "_MOST_OPEN", 1)
    await play(engine, [{"calls": [call("a", gate="1"), call("b")]}], run_id="r")
    await toys.has("start", "a")
    forged = {"op": "tool:b", "events": [{"type": "approved"}]}
    await (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r").signal("begun", forged)
    toys.open("1")
    assert (await engine.result("r")).state == "completed"
    assert [event["type"] for event in await ends(engine, "r")] == ["run_stream_end"]


async def test_an_event_of_very_many_values_is_cut(engine: Engine, toys: Toys) -> None:
    """Its numbers are longer as the log writes them, and more than the server takes of one piece."""
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"calls": [call("a", gate="1")]}], run_id="r")
    await toys.has("start", "a")
    values = b",".join(b'"%d":1e15' % number for number in range(1_000))
    numbers = b",".join([b"1e15"] * 120_000)
    data = b'{"op":"tool:a","events":[{%b,"n":[%b],"type":"x"}]}' % (values, numbers)
    sent = RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data))
    await (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r").signal("begun", sent)
    toys.open("1")
    async with asyncio.timeout(30):
        assert (await engine.result("r")).state == "completed"
    first, _ = await ends(engine, "r")
    assert (first["type"], first["is_cut"]) == ("x", True)
    assert len(first) <= 101


@pytest.mark.parametrize("args", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_update_is_refused(engine: Engine, args: list[Any]) -> None:
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"wait": ["answer:wait:0"], "about": "?"}], run_id="r")
    await engine.settled("r")
    handle = (await stranger(engine)).get_workflow_handle(f"{engine._settings.prefix}r")
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update("answer", args=args)
    assert await engine.answer("r", "wait:0", "yes", key="1") == "accepted"
    assert (await engine.result("r")).state == "completed"


@pytest.mark.parametrize("args", MALFORMED.values(), ids=MALFORMED)
async def test_a_workflow_that_is_no_run_hides_no_other(engine: Engine, args: list[Any]) -> None:
    assert isinstance(engine, TemporalEngine)
    await play(engine, [{"wait": ["answer:wait:0"], "about": "?"}], run_id="r")
    await engine.settled("r")
    client = await stranger(engine)
    handle = await client.start_workflow(
        "toolgen.run", args=args, id=f"{engine._settings.prefix}other", task_queue=engine._settings.queue
    )
    while True:
        listed = [one.id async for one in client.list_workflows("WorkflowType = 'toolgen.run'")]
        if f"{engine._settings.prefix}other" in listed and f"{engine._settings.prefix}r" in listed:
            break
    assert [wait.op for wait in await engine.open_waits()] == ["wait:0"]
    assert "r" in [run.run_id for run in await engine.list_runs()]
    with suppress(RPCError):  # it has failed
        await handle.terminate()
    assert await engine.answer("r", "wait:0", "yes", key="1") == "accepted"


async def test_a_workflow_with_the_id_of_another_run_tells_nobody_of_it(start_engine: StartEngine) -> None:
    told: list[str] = []
    engine = await start_engine(on_event=lambda run_id, *event: told.append(run_id))
    assert isinstance(engine, TemporalEngine)
    start = {"version": VERSION, "run_id": "r", "loop": "script", "session": "", "input": []}
    client = await stranger(engine)
    handle = await client.start_workflow(
        "toolgen.run", start, id=f"{engine._settings.prefix}other", task_queue=engine._settings.queue
    )
    await handle.result()
    await play(engine, [], run_id="own")
    await engine.result("own")
    assert set(told) == {"own"}


@workflow.defn(name="toolgen.run")
class OfAStranger:
    """A workflow that has a worker of ours execute activities of our type, with what is no piece of a log."""

    @workflow.run
    async def run(self, given: dict[str, Any]) -> None:
        for piece in ({"loop": "script"}, {**given, "after": 0, "entries": [{"event": 1}]}, "piece"):
            await workflow.execute_activity(
                "toolgen.log",
                piece,
                task_queue=given["input"],
                start_to_close_timeout=timedelta(seconds=10),
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        await workflow.wait_condition(lambda: False)


async def test_an_activity_that_is_no_piece_of_a_log_hides_no_run(engine: Engine) -> None:
    assert isinstance(engine, TemporalEngine)
    client = await stranger(engine)
    start = {
        "version": VERSION,
        "run_id": "other",
        "loop": "script",
        "session": "",
        "input": engine._settings.queue,
    }
    async with Worker(
        client,
        task_queue="stranger",
        workflows=[OfAStranger],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        handle = await client.start_workflow(
            "toolgen.run", start, id=f"{engine._settings.prefix}other", task_queue="stranger"
        )
        told = 0
        async for event in handle.fetch_history_events(wait_new_event=True):
            assert not event.HasField("activity_task_failed_event_attributes")
            told += event.HasField("activity_task_completed_event_attributes")
            if told == 3:
                break
        await play(engine, [], run_id="r")
        await engine.result("r")
        for run_id in ("r", "other"):
            await until_listed(engine, run_id)
        assert (await engine.status("other")).state == "running"
        await engine.cancel("other", reason="enough")
        assert (await engine.result("other")).state == "canceled"
