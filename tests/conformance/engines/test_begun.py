"""The record that an activity begins, among its heartbeats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import RecordActivityTaskHeartbeatRequest
from temporalio.client import Client
from temporalio.converter import ActivitySerializationContext
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment

from tests.temporal_server import TemporalServer
from toolgen.engines.temporal.activities import Heart
from toolgen.engines.temporal.payloads import data_converter

from .codec import ContextCodec


async def test_no_older_heartbeat_is_sent_after_it(server: TemporalServer) -> None:
    """The SDK holds heartbeats back, and sends the newest: that has to be the record."""
    client = await Client.connect(server.address, data_converter=data_converter(None))
    environment, beats = ActivityEnvironment(), list[tuple[Any, ...]]()
    environment.on_heartbeat = lambda *details: beats.append(details)

    async def attempt() -> None:
        with pytest.raises(RPCError):  # the server knows no such activity
            await Heart(client, timedelta(seconds=60)).begun()

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
            await Heart(client, timedelta(seconds=60)).begun()

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
