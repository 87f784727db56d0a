"""Many readers of event streams over sockets, and a load of calls and runs beside them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

import httpx

from toolgen.adapters.http import SurfaceOptions

from .listening import listening
from .shop import AGENT, Shop, shop_runtime

_EVENTS: Final = "/events?types=tool_end"
_AT_ONCE: Final = 20
"""Requests of the load that are on their way."""
_CUT_AFTER: Final = 7
"""Events after which a reader that is cut off comes again."""


@dataclass(slots=True)
class Follower:
    """Reads one stream by a socket of its own, and keeps the ids of its events."""

    url: str
    authorization: str
    path: str
    ids: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    """The documents of its events."""
    has_begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self, most: int | None = None, *, until: bytes = b"") -> None:
        """Read so many events, or to the end of the stream, or through an event that has a text."""
        host = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(host.hostname, host.port)
        last = f"Last-Event-ID: {self.ids[-1]}\r\n" if self.ids else ""
        head = f"GET {self.path} HTTP/1.1\r\nHost: {host.netloc}\r\nAuthorization: {self.authorization}\r\n"
        writer.write(f"{head}{last}\r\n".encode())
        try:
            status = await reader.readline()
            assert b" 200 " in status, status
            await reader.readuntil(b"retry: 1000\n")
            self.has_begun.set()
            number = 0
            async for id_, text in _events_of(reader):
                self.ids.append(id_)
                self.texts.append(text)
                number += 1
                if number == most or (until and until in text):
                    return
        finally:
            writer.close()


async def _events_of(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the id and the document of each event; lines of the chunked coding stand between them."""
    id_ = ""
    while line := await reader.readline():
        if line.startswith(b"id: "):
            id_ = line[4:-1].decode()
        elif line.startswith(b"data: "):
            if id_:
                yield id_, line[6:-1]
            id_ = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a crowd got."""

    readers: int
    calls: int
    """That were made, those of runs too."""
    events: int
    """That all readers got."""
    runs: int


async def crowd(streams: int, calls: int, runs: int) -> Counts:
    """Let readers follow all events and those of runs while calls are made, and check that nobody misses any.

    A tenth of them is cut off and comes again; another one reads nothing before all is over.
    """
    shop = Shop()
    most = 2 * streams
    options = SurfaceOptions(max_streams=most, max_streams_per_caller=most, comment_s=5.0)
    async with shop_runtime(shop) as runtime, listening(runtime, options) as client:
        to_all = [_follower(client, _EVENTS) for _ in range(streams - streams // 5)]
        cut, late = to_all[: len(to_all) // 10], to_all[len(to_all) // 10]
        last = asyncio.ensure_future(_read_all(client, late, to_all, cut))
        await asyncio.gather(*(one.has_begun.wait() for one in to_all if one is not late))
        begun = [await _started(client, number) for number in range(runs)]
        paths = [f"/runs/{quote(run, safe='')}/events" for run in begun]
        to_runs = [_follower(client, paths[number % runs]) for number in range(streams // 5)]
        of_runs = [asyncio.ensure_future(one.read()) for one in to_runs]
        await asyncio.gather(*(one.has_begun.wait() for one in to_runs))
        shop.goes_on.set()
        await _call_all(client, calls)
        async with asyncio.timeout(300):
            await asyncio.gather(*of_runs)
            assert (await client.post("/tools/order/calls", json=_LAST)).json()["status"] == "ok"
            await last
    _check_all(to_all, calls + runs + 1)
    _check_runs(to_runs)
    events = sum(len(one.ids) for one in (*to_all, *to_runs))
    return Counts(readers=streams, calls=calls + runs + 1, events=events, runs=runs)


_LAST: Final = {"arguments": {"item": "the last one"}}


def _follower(client: httpx.AsyncClient, path: str) -> Follower:
    return Follower(str(client.base_url), client.headers["authorization"], path)


async def _read_all(
    client: httpx.AsyncClient, late: Follower, to_all: list[Follower], cut: list[Follower]
) -> None:
    """Read all events through the last one, with each reader as it does."""
    first = _follower(client, _EVENTS)
    start = asyncio.ensure_future(first.read(1))
    await first.has_begun.wait()

    async def read(one: Follower) -> None:
        if one in cut:
            await one.read(_CUT_AFTER)
        await one.read(until=b"the last one")

    reading = [asyncio.ensure_future(read(one)) for one in to_all if one is not late]
    await start
    late.ids, late.texts = first.ids, first.texts  # as if it had been cut off after the first one
    await asyncio.gather(*reading)
    await late.read(until=b"the last one")


async def _started(client: httpx.AsyncClient, number: int) -> str:
    body = {"agent": AGENT, "message": f"hold {number}"}
    run: str = (await client.post("/runs", json=body)).json()["id"]
    return run


async def _call_all(client: httpx.AsyncClient, calls: int) -> None:
    """Make calls, each of which is answered."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def call(number: int) -> None:
        async with slots:
            body = {"arguments": {"item": f"tea {number}"}}
            answer = await client.post("/tools/order/calls", json=body)
            assert answer.json()["result"] == f"1 tea {number}", answer.text

    await asyncio.gather(*map(call, range(calls)))


def _check_all(followers: list[Follower], expected: int) -> None:
    """Check that each reader got every event once, in one order."""
    for one in followers:
        assert len(one.ids) == expected, (len(one.ids), expected)
        assert one.ids == followers[0].ids
    results = [json.loads(text) for text in followers[0].texts]
    assert {result["type"] for result in results} == {"tool_end"}
    assert len({(result["run_id"], result["tool_call_id"]) for result in results}) == expected


def _check_runs(followers: list[Follower]) -> None:
    """Check that each reader of a run got every event of its log once, to the end."""
    for one in followers:
        assert one.ids == [str(number) for number in range(1, len(one.ids) + 1)]
        assert json.loads(one.texts[-1])["type"] == "run_stream_end"
