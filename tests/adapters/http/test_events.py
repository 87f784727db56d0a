"""Events over HTTP: of one run to its end, of all sessions of a caller, and none twice after a resumption."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from toolgen.adapters.http import SurfaceOptions
from toolgen.adapters.http.event_ring import EventRing, RingEvent, lines_of
from toolgen.events import AssistantReply, Events, RunPhase, ToolUpdate
from toolgen.runtime import CallMeta

from .listening import Reader, listening
from .shop import AGENT, Shop, events_in, problem, served, shop_runtime


async def test_the_stream_of_a_run_ends_with_it() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="tea")).json()
        stream = await shop.client.get(f"/runs/{run['id']}/events")
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        logged = [(id_, event) for id_, event in events_in(stream.text) if id_]
        assert [id_ for id_, _ in logged] == [str(event["seq"]) for _, event in logged]
        assert [event["seq"] for _, event in logged] == list(range(1, len(logged) + 1))
        assert logged[0][1]["type"] == "run_started"
        assert logged[-1][1]["type"] == "run_stream_end"
        assert {event["session_id"] for _, event in logged} == {run["session_id"]}

        for seen in (3, len(logged) - 1):
            headers = {"last-event-id": str(seen)}
            rest = await shop.client.get(f"/runs/{run['id']}/events", headers=headers)
            assert events_in(rest.text) == logged[seen:]
        over = {"last-event-id": str(len(logged))}
        assert (await shop.client.get(f"/runs/{run['id']}/events", headers=over)).status_code == 204
        rest = await shop.client.get(f"/runs/{run['id']}/events", params={"after": 3})
        assert events_in(rest.text) == logged[3:]


async def test_what_is_no_id_is_refused() -> None:
    async with served() as shop:
        run = (await shop.post("/runs", agent=AGENT, message="hello")).json()
        answer = await shop.client.get(f"/runs/{run['id']}/events", headers={"last-event-id": "-1"})
        assert problem(answer) == (400, "invalid-request")
        assert problem(await shop.client.get("/events?types=tool_end,nothing")) == (400, "invalid-request")
    async with served(events=None) as shop:
        assert problem(await shop.client.get("/events")) == (501, "not-implemented")


async def test_a_reader_that_was_cut_off_misses_nothing() -> None:
    shop = Shop()
    async with shop_runtime(shop) as runtime, listening(runtime) as client:
        seen = []
        async with Reader(client, "/events?types=tool_end") as reader:
            pass  # cut off before its first event
        await order(client, 0)
        async with Reader(client, "/events?types=tool_end", reader.last) as reader:
            seen += await reader.take(1)
        for number in range(1, 4):
            await order(client, number)
        async with Reader(client, "/events?types=tool_end", reader.last) as reader:
            seen += await reader.take(3)
            await order(client, 4)
            seen += await reader.take(1)
        ours = reader.last.partition(".")[0]
        for unknown in ("0000.1", f"{ours}.999", f"{ours}.x"):
            async with Reader(client, "/events", unknown) as reader:
                await order(client, 5)  # else a reader that is told nothing would wait
                [(_, lost)] = await reader.take(1)
            assert (lost["type"], lost["count"]) == ("events_dropped", 0)
    assert [event["result"] for _, event in seen] == [f"{number} tea" for number in range(5)]
    assert len({id_ for id_, _ in seen}) == 5


def test_no_text_forges_a_line_of_a_stream() -> None:
    text = 'tea\r\nid: 9\n\ndata: {"type":"tool_end"}\r\r\n'
    lines = lines_of(ToolUpdate(tool=text, value={text: text}), "1")
    assert (lines.count(b"\n"), lines.count(b"\r")) == (3, 0)
    [(id_, event)] = events_in(lines.decode())
    assert (id_, event["tool"], event["value"]) == ("1", text, {text: text})


async def test_a_run_is_followed_while_it_goes_on_and_after_a_cut() -> None:
    shop = Shop()
    async with shop_runtime(shop) as runtime, listening(runtime) as client:
        run = (await client.post("/runs", json={"agent": AGENT, "message": "hold"})).json()
        path = f"/runs/{run['id']}/events"
        async with Reader(client, path) as reader:
            before = []
            async for id_, event in reader:
                before += [event["seq"]] if id_ else []
                if event["type"] == "tool_start":
                    break
        shop.goes_on.set()
        async with Reader(client, path, reader.last) as reader:
            after = [event["seq"] async for id_, event in reader if id_]
    assert [*before, *after] == list(range(1, len(before) + len(after) + 1))


async def test_each_caller_gets_its_own_events() -> None:
    shop = Shop()
    async with shop_runtime(shop) as runtime, listening(runtime) as client:
        async with Reader(client, "/events?types=tool_end") as reader:
            for session in ("bob:1", "", "ann:1", "bob:2", "ann:2"):
                meta = CallMeta(session_id=session)
                await runtime.call("order", {"item": session or "none"}, meta)
            own = [event["session_id"] for _, event in await reader.take(2)]
            async with Reader(client, "/events?session=ann:2", f"{reader.last.partition('.')[0]}.0") as one:
                assert [event["session_id"] for _, event in await one.take(2)] == ["ann:2"] * 2
        assert (await client.get("/events?session=bob:1")).status_code == 404
    assert own == ["ann:1", "ann:2"]


async def test_streams_are_counted_and_end_with_the_server() -> None:
    shop = Shop()
    options = SurfaceOptions(max_streams=8)
    async with shop_runtime(shop) as runtime, listening(runtime, options) as client:
        first, second = Reader(client, "/events"), Reader(client, "/events")
        async with first, second:
            refused = await client.get("/events")
            assert problem(refused) == (429, "too-many-requests")
            assert refused.headers["retry-after"] == "1"


async def test_streams_end_with_the_server() -> None:
    shop = Shop()
    async with shop_runtime(shop) as runtime, listening(runtime) as client:
        run = (await client.post("/runs", json={"agent": AGENT, "message": "ask"})).json()
        readers = [Reader(client, path) for path in ("/events", f"/runs/{run['id']}/events")]
        for reader in readers:
            await reader.__aenter__()
        reading = [asyncio.ensure_future(_types(reader)) for reader in readers]
    for types in await asyncio.gather(*reading):
        assert "run_stream_end" not in types


async def _types(reader: Reader) -> list[str]:
    return [event["type"] async for _, event in reader]


async def test_a_stream_without_events_gets_comments() -> None:
    shop = Shop()
    options = SurfaceOptions(comment_s=0.01)
    async with (
        shop_runtime(shop) as runtime,
        listening(runtime, options) as client,
        client.stream("GET", "/events") as stream,
    ):
        lines = stream.aiter_lines()
        assert ": waiting" in [await anext(lines) for _ in range(5)]


@pytest.mark.parametrize("many", [0, 1, 250])
async def test_a_reader_that_is_overtaken_is_told_how_much_is_missing(many: int) -> None:
    hub = Events()
    ring = EventRing(hub, 100, 2**20)
    ring.open()
    hub.emit(RunPhase(phase="planning"))
    reading = ring.read(0)
    [first] = await anext(reading)
    for _ in range(many):
        hub.emit(RunPhase(phase="waiting"))
    hub.close()
    pieces = [piece async for piece in reading]
    events = [event for piece in pieces for event in piece]
    assert first.number == 1
    dropped = [document_of(event)["count"] for event in events if event.type == "events_dropped"]
    assert sum(dropped) + sum(event.type == "run_phase" for event in events) == many
    assert [event.number for event in events][-1:] == ([many + 1] if many else [])
    await ring.close()


def document_of(event: RingEvent) -> Any:
    [(_, document)] = events_in(event.lines.decode())
    return document


async def test_a_ring_has_so_many_bytes() -> None:
    hub = Events()
    ring = EventRing(hub, 100, 2_000)
    ring.open()
    for number in range(20):
        hub.emit(AssistantReply(text=f"{number} {'x' * 500}"))
    hub.emit(ToolUpdate(tool="a", value=object()))
    hub.close()
    documents = [document_of(event) async for piece in ring.read(0) for event in piece]
    assert [one["type"] for one in documents] == [
        "events_dropped",
        "assistant_reply",
        "assistant_reply",
        "events_dropped",
    ]
    assert [one["count"] for one in documents if "count" in one] == [18, 1]
    assert documents[2]["text"].startswith("19 ")
    await ring.close()


async def order(client: httpx.AsyncClient, number: int) -> None:
    body = {"arguments": {"item": "tea", "amount": number}}
    assert (await client.post("/tools/order/calls", json=body)).json()["status"] == "ok"
