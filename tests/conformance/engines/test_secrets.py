"""What the server gets to see of runs: JSON documents, and with a codec that encrypts nothing readable."""

from __future__ import annotations

import asyncio
from typing import Any, get_type_hints

import pytest
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload

from tests.engines.processes import PATIENCE_S
from tests.engines.toys import Toys, call, play
from tests.temporal_server import TemporalServer
from toolgen.engines.temporal import TemporalEngine
from toolgen.engines.temporal.documents import (
    ActivityEnd,
    ActivityStart,
    Entry,
    KeptAnswer,
    LogPiece,
    Mark,
    RunStart,
    SentAnswer,
    SentBegun,
    SentSignal,
)

from .codec import ContextCodec
from .processes import TemporalWorkers, ends

SECRET = "hunter2"
DOCUMENTS = (
    RunStart,
    ActivityStart,
    ActivityEnd,
    LogPiece,
    Mark,
    SentSignal,
    SentAnswer,
    SentBegun,
    KeptAnswer,
)


@pytest.fixture
async def hidden(workers: TemporalWorkers, server: TemporalServer) -> TemporalWorkers:
    """Return workers and a client that encrypt."""
    workers.settings["key"] = "a key that nobody knows"
    workers.client = workers.new_client()
    await workers.start("one")
    return workers


def steps_with(secret: str) -> list[dict[str, Any]]:
    """Return a run that has a secret in everything that it does."""
    below = [
        {"calls": [call("below", word=secret, result={"word": secret})]},
        {"publish": {"word": secret, "type": "x"}},
    ]
    tells = [{"type": "told", "word": secret}]
    return [
        {"calls": [call("a", word=secret, result=secret), call("b", word=secret, once=True, tells=tells)]},
        {"publish": {"type": "said", "word": secret}},
        {"child": below},
        {"detach": below},
        {"wait": ["answer:wait:4"], "about": {"word": secret}},
        {"wait": ["go"], "about": secret},
        {"wait": ["never"], "about": secret, "timeout_s": 0.01},
    ]


async def made(workers: TemporalWorkers) -> list[str]:
    """Make runs that end in each way, and return their ids."""
    client = workers.client
    await play(client, steps_with(SECRET), run_id="r")
    await workers.until_awaiting("r")
    assert await client.answer("r", "wait:4", {"word": SECRET}, key="k") == "accepted"
    await client.signal("r", "go", SECRET, signal_id="1")
    assert (await client.result("r")).state == "completed"
    await client.result("r/work:3")
    await play(client, [{"publish": {"type": "x", "word": SECRET}}, {"raise": SECRET}], run_id="fails")
    assert (await client.result("fails")).state == "failed"
    await play(client, [{"calls": [call("held", word=SECRET, gate="never", once=True)]}], run_id="canceled")
    await workers.has("begun", "held")
    await client.cancel("canceled")
    await play(client, [{"calls": [call("f", says=SECRET, attempts=2)]}], run_id="tries")
    await client.result("tries")
    return ["r", "r/child:2", "r/work:3", "fails", "canceled", "tries"]


async def raw(client: TemporalEngine, run_id: str) -> list[Message]:
    """Return all that the server tells of a run."""
    connected = await client._connected()
    handle = connected.client.get_workflow_handle(connected._id(run_id))
    described = await handle.describe()
    listed = [
        one.raw_info
        async for one in connected.client.list_workflows(f"WorkflowId = '{connected._id(run_id)}'")
    ]
    events: list[Message] = [event async for event in handle.fetch_history_events()]
    return [*events, described.raw_description, *listed]


async def test_with_a_codec_the_server_sees_no_plain_text(hidden: TemporalWorkers) -> None:
    client = hidden.client
    for run_id in await made(hidden):
        for message in await raw(client, run_id):
            assert SECRET.encode() not in message.SerializeToString(), (run_id, message)
    status = await client.status("r")
    assert isinstance(status.output, list)
    assert status.output[0][0] == SECRET  # type: ignore[index]  # a list of lists
    assert (await ends(client, "r"))[1] == {"type": "said", "word": SECRET}
    assert "internal error" in (await client.status("fails")).error
    assert (await client.status("tries")).output == [[{"failed": "ConnectionError"}]]
    await play(client, steps_with(SECRET), run_id="parked")
    await hidden.until_awaiting("parked")
    async with asyncio.timeout(PATIENCE_S):
        while not (waits := await client.open_waits()):  # noqa: ASYNC110 - it is listed a moment later
            await asyncio.sleep(0.05)
    assert [wait.about for wait in waits] == [{"word": SECRET}]
    await client.cancel("parked", reason="enough")


def payloads(message: Message) -> list[Payload]:
    """Return all payloads in a message."""
    if isinstance(message, Payload):
        return [message]
    found: list[Payload] = []
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = [one for one in value.values() if isinstance(one, Message)]
        else:
            inner = list(value) if field.is_repeated else [value]
        for one in inner:
            found += payloads(one)
    return found


def fits(value: Any, *documents: Any) -> bool:
    """Return whether a value has the keys of one of the documents and no other."""
    return isinstance(value, dict) and any(set(value) <= set(get_type_hints(one)) for one in documents)


async def test_histories_hold_our_documents_and_nothing_else(workers: TemporalWorkers) -> None:
    client = workers.client
    await workers.start("one")
    converter = (await client._connected()).client.data_converter.payload_converter
    for run_id in await made(workers):
        for message in await raw(client, run_id):
            for payload in payloads(message):
                if payload.metadata.get("type", b"").startswith(b"Keyword"):
                    continue  # a search attribute
                assert payload.metadata == {"encoding": b"json/plain"}, run_id
                value = converter.from_payload(payload)
                known = fits(value, *DOCUMENTS)
                if isinstance(value, dict) and "entries" in value:
                    assert all(fits(entry, Entry) for entry in value["entries"])
                assert known or is_plain(value), (run_id, value)


def is_plain(value: Any) -> bool:
    """Return whether a value is a script's output, an empty result, a summary, or a patch's marker."""
    if isinstance(value, dict):
        return value in ({"id": name, "deprecated": False} for name in ("all-begun", "projected"))
    return value is None or isinstance(value, list) or (isinstance(value, str) and SECRET not in value)


async def test_a_codec_that_depends_on_the_context_reads_what_it_has_written(
    server: TemporalServer, toys: Toys
) -> None:
    engine = TemporalEngine(server.address, queue="context", prefix="context:", codec=ContextCodec())
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    try:
        tells = [{"type": "told"}]
        steps: list[Any] = [
            {"calls": [call("a", once=True, tells=tells), call("b", is_fatal=True)]},
            {"publish": {"type": "said"}},
            {"child": [{"publish": {"type": "below"}}, {"calls": [call("c")]}]},
            {"wait": ["answer:wait:3"], "about": "?"},
        ]
        await play(engine, steps, run_id="r")
        assert [wait.about for wait in (await engine.settled("r")).awaiting] == ["?"]
        assert await engine.answer("r", "wait:3", "yes", key="1") == "accepted"
        output: Any = (await engine.result("r")).output
        assert output[0][0] == {"id": "a", "ok": True}
        assert output[1:] == [[[{"id": "c", "ok": True}]], {"answer:wait:3": "yes"}]
        assert [event["type"] for event in await ends(engine, "r")] == ["told", "said", "run_stream_end"]
    finally:
        await engine.close()
