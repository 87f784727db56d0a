"""The record that an activity begins, among its heartbeats."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import (
    RecordActivityTaskHeartbeatRequest,
    SignalWorkflowExecutionRequest,
)
from temporalio.client import Client
from temporalio.converter import ActivitySerializationContext
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment

from tests.temporal_server import TemporalServer
from toolgen.engines import ActivityInfo, CallOptions, RunContext
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.engines.temporal.activities import Heartbeats
from toolgen.engines.temporal.payloads import data_converter

from .codec import ContextCodec
from .processes import HEARTBEAT_S


async def test_no_older_heartbeat_is_sent_after_it(server: TemporalServer) -> None:
    """The SDK holds heartbeats back, and sends the newest: that has to be the record."""
    client = await Client.connect(server.address, data_converter=data_converter(None))
    environment, beats = ActivityEnvironment(), list[tuple[Any, ...]]()
    environment.on_heartbeat = lambda *details: beats.append(details)

    async def attempt() -> None:
        with pytest.raises(RPCError):  # the server knows no such activity
            await Heartbeats(client, timedelta(seconds=60), once=True).record_begin()

    await environment.run(attempt)
    assert beats == [("begun",)]


async def test_it_is_encoded_in_the_context_in_which_it_is_read(
    server: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await Client.connect(server.address, data_converter=data_converter(ContextCodec()))
    environment, sent = ActivityEnvironment(), list[RecordActivityTaskHeartbeatRequest]()
    record = client.workflow_service.record_activity_task_heartbeat

    async def keep(request: RecordActivityTaskHeartbeatRequest, **how: Any) -> Any:
        sent.append(request)
        return await record(request, **how)

    monkeypatch.setattr(client.workflow_service, "record_activity_task_heartbeat", keep)

    async def attempt() -> None:
        with pytest.raises(RPCError):  # the server knows no such activity
            await Heartbeats(client, timedelta(seconds=60), once=True).record_begin()

    await environment.run(attempt)
    info = environment.info
    context = ActivitySerializationContext(
        namespace=info.namespace,
        workflow_id=info.workflow_id,
        workflow_type=info.workflow_type,
        activity_type=info.activity_type,
        activity_id=info.activity_id,
        activity_task_queue=info.task_queue,
        is_local=info.is_local,
    )
    [request] = sent
    assert await client.data_converter.with_context(context).decode(request.details.payloads) == ["begun"]


async def test_the_record_waits_for_an_older_heartbeat_in_flight(
    server: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A heartbeat that comes to the server after the record would replace it.

    Enough come before it that a call that begins late is not taken for lost.
    """
    enough, told, gate = asyncio.Event(), asyncio.Event(), asyncio.Event()
    sent = list[list[bytes]]()

    async def loop(ctx: RunContext, given: Any) -> Any:
        return await ctx.start("op", "begin", None, CallOptions(once=True))

    async def begin(info: ActivityInfo, arg: Any) -> Any:
        await enough.wait()
        await info.begun()
        return info.attempt

    engine = TemporalEngine(
        server.address, queue="late", prefix="late:", limits=TemporalLimits(heartbeat_s=HEARTBEAT_S)
    )
    engine.register(loops={"one": loop}, activities={"begin": begin})
    await engine.start()
    try:
        service = (await engine._connected()).client.workflow_service
        record, signal = service.record_activity_task_heartbeat, service.signal_workflow_execution

        async def hold(request: RecordActivityTaskHeartbeatRequest, **how: Any) -> Any:
            sent.append([payload.data for payload in request.details.payloads])
            if len(sent) == 7:
                enough.set()
                await gate.wait()
            return await record(request, **how)

        async def tell(request: SignalWorkflowExecutionRequest, **how: Any) -> Any:
            try:
                return await signal(request, **how)
            finally:
                told.set()

        monkeypatch.setattr(service, "record_activity_task_heartbeat", hold)
        monkeypatch.setattr(service, "signal_workflow_execution", tell)
        await engine.start_run("one", None, run_id="r")
        async with asyncio.timeout(20):
            await told.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            assert sent == [[]] * 7
            gate.set()
            status = await engine.result("r")
    finally:
        enough.set()
        gate.set()
        await engine.close()
    assert (status.output, sent[7:]) == (1, [[b'"begun"']])


class Beginning:
    """A run of one call, which records twice that it begins: at first, and when its gate is open.

    Only the first record comes with a heartbeat of the SDK, which sends the next one when it is time.
    """

    def __init__(self) -> None:
        self.has_started, self.gate, self.end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def loop(self, ctx: RunContext, given: Any) -> Any:
        return await ctx.start("op", "begin", None, CallOptions(once=True))

    async def begin(self, info: ActivityInfo, arg: Any) -> Any:
        await info.begun()
        self.has_started.set()
        await self.gate.wait()
        try:
            await info.begun()
        finally:
            self.end.set()


@pytest.mark.parametrize("max_activities", [1, 100], ids=["requested", "over"])
async def test_a_canceled_call_that_would_begin_is_canceled_and_no_failure(
    server: TemporalServer, caplog: pytest.LogCaptureFixture, max_activities: int
) -> None:
    """With one activity at a time the run ends after the call; with more the call is left behind."""
    of_run, prefix = Beginning(), f"beginning {max_activities}:"
    limits = TemporalLimits(reply_s=0.1, max_activities=max_activities)
    engine = TemporalEngine(server.address, queue=prefix, prefix=prefix, limits=limits)
    engine.register(loops={"one": of_run.loop}, activities={"begin": of_run.begin})
    await engine.start()
    try:
        await engine.start_run("one", None, run_id="r")
        async with asyncio.timeout(20):
            await of_run.has_started.wait()
            await engine.cancel("r", reason="enough")
            client = (await engine._connected()).client
            events = client.get_workflow_handle(f"{prefix}r").fetch_history_events(wait_new_event=True)
            awaited = "activity_task_cancel_requested_event_attributes"
            if max_activities > 1:
                awaited = "workflow_execution_canceled_event_attributes"
            async for event in events:
                if event.HasField(awaited):  # type: ignore[arg-type]  # one of two fields
                    break
            of_run.gate.set()
            await of_run.end.wait()
            assert (await engine.result("r")).state == "canceled"
    finally:
        of_run.gate.set()
        await engine.close()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("max_activities", [1, 100], ids=["requested", "over"])
async def test_a_call_that_has_not_begun_is_canceled(
    server: TemporalServer, caplog: pytest.LogCaptureFixture, max_activities: int
) -> None:
    """With one activity at a time the run ends after the call; with more the call is left behind."""
    has_started, is_canceled, prefix = asyncio.Event(), asyncio.Event(), f"not begun {max_activities}:"

    async def loop(ctx: RunContext, given: Any) -> Any:
        return await ctx.start("op", "wait", None, CallOptions(once=True))

    async def wait(info: ActivityInfo, arg: Any) -> Any:
        has_started.set()
        try:
            await asyncio.Event().wait()
        finally:
            is_canceled.set()

    limits = TemporalLimits(heartbeat_s=HEARTBEAT_S, reply_s=0.1, max_activities=max_activities)
    engine = TemporalEngine(server.address, queue=prefix, prefix=prefix, limits=limits)
    engine.register(loops={"one": loop}, activities={"wait": wait})
    await engine.start()
    try:
        await engine.start_run("one", None, run_id="r")
        async with asyncio.timeout(20):
            await has_started.wait()
            await engine.cancel("r", reason="enough")
            await is_canceled.wait()
            assert (await engine.result("r")).state == "canceled"
    finally:
        await engine.close()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
