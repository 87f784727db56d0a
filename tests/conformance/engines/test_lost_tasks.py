"""Answers to which no worker replies: none is there, or a lost one has a workflow task in hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    PollWorkflowTaskQueueRequest,
    RespondWorkflowTaskFailedRequest,
)
from temporalio.client import Client

from tests.engines.starting import StartEngine
from tests.engines.toys import play
from tests.temporal_server import TemporalServer
from toolgen.engines import UnsettledAnswerError

ASKS = [{"wait": ["answer:wait:0"], "about": "?"}]


async def taken(client: Client, engine: Any) -> bytes:
    """Take the first workflow task of an engine, and return its token."""
    task = await client.workflow_service.poll_workflow_task_queue(
        PollWorkflowTaskQueueRequest(
            namespace="default", task_queue=TaskQueue(name=engine._settings.queue), identity="lost"
        )
    )
    return task.task_token


async def fail(client: Client, token: bytes, cause: WorkflowTaskFailedCause.ValueType) -> None:
    """Give up a workflow task; the server has it done again."""
    await client.workflow_service.respond_workflow_task_failed(
        RespondWorkflowTaskFailedRequest(namespace="default", task_token=token, cause=cause)
    )


async def test_of_two_answers_that_the_server_does_not_show_yet_one_is_recorded(
    server: TemporalServer, start_engine: StartEngine
) -> None:
    engine: Any = await start_engine(is_started=False)
    await play(engine, ASKS, run_id="r")
    await taken(await Client.connect(server.address), engine)
    said = ("yes", "no")
    receipts = await asyncio.gather(*(engine.answer("r", "wait:0", one, key=one) for one in said))
    assert sorted(receipts) == ["conflict", "recorded"]
    counts = said[receipts.index("recorded")]
    await engine.start()
    assert (await engine.result("r")).output == [{"answer:wait:0": counts}]
    assert await engine.answer("r", "wait:0", counts, key=counts) == "same"


async def test_an_answer_that_the_server_does_not_show_in_time_is_not_acknowledged(
    server: TemporalServer, start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolgen.engines.temporal.client._LOST_TASK_S", 0.0)
    engine: Any = await start_engine(is_started=False)
    await play(engine, ASKS, run_id="r")
    client = await Client.connect(server.address)
    token = await taken(client, engine)
    with pytest.raises(UnsettledAnswerError, match="does not show yet"):
        await engine.answer("r", "wait:0", "yes", key="yes")
    await fail(client, token, WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE)
    assert await engine.answer("r", "wait:0", "no", key="no") == "conflict"
    assert await engine.answer("r", "wait:0", "yes", key="yes") == "same"


async def test_who_does_not_wait_for_a_worker_is_canceled(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: Any = await start_engine(is_started=False)
    await play(engine, ASKS, run_id="r")
    client = (await engine._connected()).client
    update, is_sent = client.workflow_service.update_workflow_execution, asyncio.Event()

    async def send(*given: Any, **how: Any) -> Any:
        is_sent.set()
        return await update(*given, **how)

    monkeypatch.setattr(client.workflow_service, "update_workflow_execution", send)
    answering = asyncio.ensure_future(engine.answer("r", "wait:0", "yes", key="yes"))
    await is_sent.wait()
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    events = client.get_workflow_handle(f"{engine._settings.prefix}r").fetch_history_events()
    assert not [one async for one in events if one.HasField("workflow_execution_signaled_event_attributes")]


async def test_a_task_that_succeeded_on_the_next_page_of_a_history_stalls_no_run(
    server: TemporalServer, start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: Any = await start_engine(is_started=False)
    await play(engine, [], run_id="r")
    stranger = await Client.connect(server.address)
    cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
    await fail(stranger, await taken(stranger, engine), cause)
    await engine.start()
    await stranger.get_workflow_handle(f"{engine._settings.prefix}r").result()
    service = engine._client.client.workflow_service
    read = service.get_workflow_execution_history

    async def read_one(request: GetWorkflowExecutionHistoryRequest, **how: Any) -> Any:
        request.maximum_page_size = 1
        return await read(request, **how)

    monkeypatch.setattr(service, "get_workflow_execution_history", read_one)
    assert (await engine.result("r")).state == "completed"
