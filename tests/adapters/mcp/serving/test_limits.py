"""What hostile clients send costs no more than it may: bytes, keys, depth, calls at once."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import threading
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client._memory import InMemoryTransport
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus

from tests.adapters.mcp.serving.desk import Desk, desk_runtime
from tests.adapters.mcp.serving.web import HEADERS, URL, listening, modern_call, web
from tests.agents.tools import until
from tests.peers import hostile_connections as hostile
from tests.peers.hostile_client import MESSAGES
from tests.selection import diagonal
from toolgen.adapters.mcp import HttpOptions, serve_stdio, server
from toolgen.adapters.mcp.scanning import message_limits
from toolgen.adapters.mcp.serving.changes import Listeners
from toolgen.adapters.mcp.serving.executing import CallsAtOnce
from toolgen.adapters.mcp.serving.stdio import StdinLines
from toolgen.runtime import Limits

KEYS = "the message has more than 11000 keys and items in all"
REFUSED = {
    "braces": (7, KEYS),
    "members": ("seven", KEYS),
    "depth": (7, "the message has more than 72 arrays and objects inside one another"),
    "hidden": (None, KEYS),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("attack", "era"), diagonal(REFUSED, [{}, {"mcp-protocol-version": "2026-07-28"}]))
async def test_a_body_that_holds_too_much_is_refused_before_it_is_decoded(
    attack: str, era: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []
    monkeypatch.setattr("toolgen.adapters.mcp.serving.admitted_calls._is_call", decoded.append)
    id_, why = REFUSED[attack]
    async with desk_runtime(Desk()) as runtime, web(runtime) as client:
        (message,) = MESSAGES[attack]()
        answer = await client.post(URL, content=message, headers=era)
        assert (answer.status_code, decoded) == (413, [])
        assert answer.json()["id"] == id_
        assert answer.json()["error"] == {
            "code": -32600,
            "message": f"{why}; Runtime(limits=) sets the limit",
        }
        assert (await client.post(URL, **modern_call("count"))).status_code == 200


def in_chunks(port: int, size: int) -> bytes:
    """Return a request whose body of 20,000 bytes and more comes in chunks of a size."""
    call = modern_call("weigh", id="p1", unit="x" * 20_000)
    body = json.dumps(call["json"]).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: localhost:{port}",
        "Connection: close",
        "Transfer-Encoding: chunked",
    ]
    lines += [f"{name}: {value}" for name, value in {**HEADERS, **call["headers"]}.items()]
    lines.append("Content-Type: application/json")
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + coded + b"0\r\n\r\n"


@pytest.mark.parametrize(("size", "status"), [(1, 400), (10, 400), (50, 200), (30_000, 200)])
async def test_a_body_of_too_many_chunks_is_refused(size: int, status: int) -> None:
    async with desk_runtime(Desk()) as runtime, listening(runtime) as port, asyncio.timeout(60):
        with hostile.requests_sent(port, [in_chunks(port, size)]) as [one]:
            answer = await hostile.read_all(one)
        assert answer.startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize("order", [1, -1])
async def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(order: int) -> None:
    """A proxy that reads the other one sees another request behind it (RFC 9112, section 6.1)."""
    lengths = ["Content-Length: 5", "Transfer-Encoding: chunked"][::order]
    async with desk_runtime(Desk()) as runtime, listening(runtime) as port, asyncio.timeout(60):
        head = "\r\n".join(["POST /mcp HTTP/1.1", f"Host: localhost:{port}", *lengths, "", ""])
        smuggled = f"GET /mcp HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        with hostile.requests_sent(port, [f"{head}0\r\n\r\n{smuggled}".encode()]) as [one]:
            answer = await hostile.read_all(one)
        assert (answer[:12], answer.count(b"HTTP/1.1 ")) == (b"HTTP/1.1 400", 1)


async def test_the_limits_of_the_runtime_are_those_of_its_messages() -> None:
    call = modern_call("weigh", id="p1", unit="x", more=[0] * 11_100)
    for limits, status in ((Limits(), 413), (Limits(keys=12_000), 200)):
        async with desk_runtime(Desk(), limits=limits) as runtime, web(runtime) as client:
            assert (await client.post(URL, **call)).status_code == status


class Peer:
    """A client at a pipe whose messages are read as those of stdin."""

    def __init__(self, lines: AsyncIterator[str], refusals: list[tuple[Any, str]]) -> None:
        self.lines = lines
        self.refusals = refusals


@asynccontextmanager
async def reading(messages: Iterator[bytes], limits: Limits) -> AsyncIterator[Peer]:
    """Yield what is read of messages that a client writes, a line each."""
    out, into = os.pipe()
    refusals: list[tuple[Any, str]] = []

    async def refuse(id_: Any, why: str) -> None:
        refusals.append((id_, why))

    def write() -> None:
        with os.fdopen(into, "wb") as pipe:
            for message in messages:
                pipe.writelines((message, b"\n"))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield Peer(aiter(StdinLines(out, limits, refuse, lambda: 0.0)), refusals)
    finally:
        await asyncio.to_thread(thread.join)  # `out` stays open: the thread of the lines may go on


def two(attack: str) -> Iterator[bytes]:
    yield from MESSAGES[attack]()
    yield from MESSAGES["ping"]()


@pytest.mark.exhaustive
async def test_of_a_line_that_is_too_long_no_more_is_kept_than_shows_that() -> None:
    long, *_ = MESSAGES["long_line"]()  # made before the memory is measured
    tracemalloc.start()
    try:
        async with reading(iter([long, *MESSAGES["ping"]()]), message_limits(Limits(), 2**20)) as peer:
            lines = [json.loads(line) async for line in peer.lines]
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()
    assert [line["method"] for line in lines] == ["ping"]
    why = "the message has more than 1048576 bytes of JSON"
    settings = "Runtime(limits=) and serve_stdio(max_line_bytes=) set the limits"
    assert peer.refusals == [(7, f"{why}; {settings}")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", REFUSED)
async def test_a_line_that_holds_too_much_is_refused_and_the_next_one_read(attack: str) -> None:
    async with reading(two(attack), message_limits(Limits(), 4 * 2**20)) as peer:
        lines = [json.loads(line) async for line in peer.lines]
    assert [line["method"] for line in lines] == ["ping"]
    ((id_, why),) = peer.refusals
    assert (id_, why.partition(";")[0]) == REFUSED[attack]


async def test_an_answer_that_holds_too_much_ends_what_waits_for_it() -> None:
    async with reading(two("answer"), message_limits(Limits(), 4 * 2**20)) as peer:
        lines = [json.loads(line) async for line in peer.lines]
    assert (lines[0]["id"], lines[0]["error"]["message"].partition(";")[0]) == (7, KEYS)
    assert peer.refusals == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("attack", "methods"),
    [
        ("notifications", {"notifications/cancelled": 1_000, "ping": 1}),
        ("flood", {"notifications/roots/list_changed": 1_000}),
        ("questions", {"ping": 5_001}),
    ],
)
async def test_notifications_beyond_the_budget_are_dropped_and_then_the_client_is_ended(
    attack: str, methods: dict[str, int]
) -> None:
    async with reading(two(attack), message_limits(Limits(), 4 * 2**20)) as peer:
        assert Counter([json.loads(line)["method"] async for line in peer.lines]) == methods


async def test_answers_beyond_the_budget_are_taken() -> None:
    """Whoever waits for one would wait for ever."""

    def messages() -> Iterator[bytes]:
        yield from MESSAGES["notifications"]()
        yield b'{"jsonrpc": "2.0", "id": 1, "result": {"action": "decline"}}'

    async with reading(messages(), message_limits(Limits(), 4 * 2**20)) as peer:
        assert json.loads([line async for line in peer.lines][-1])["result"] == {"action": "decline"}


@pytest.mark.exhaustive
async def test_calls_beyond_the_limit_are_refused_and_the_connection_goes_on() -> None:
    begun: list[int] = []
    go_on, full = asyncio.Event(), asyncio.Event()

    class Counted(Desk):
        async def hang(self) -> str:
            """Wait until all are made."""
            begun.append(1)
            if len(begun) == 100:
                full.set()
            await go_on.wait()
            return "went on"

    async with desk_runtime(Counted()) as runtime:
        made = server(runtime)
        made.sdk.middleware.insert(0, CallsAtOnce(made.executing, 100))
        async with Client(InMemoryTransport(made.sdk), mode="legacy") as client:
            calls = [asyncio.create_task(client.call_tool("hang", {})) for _ in MESSAGES["calls_at_once"]()]
            async with asyncio.timeout(60):
                await full.wait()
                await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
                await client.list_tools()
                go_on.set()
                ended = await asyncio.gather(*calls, return_exceptions=True)
            assert len(begun) == 100
            refused = [error.message for error in ended if isinstance(error, MCPError)]
            assert refused == ["too many concurrent calls (100 running); try again later"] * 1_400
            assert not (await client.call_tool("count", {})).is_error


@pytest.mark.parametrize("name", [option.name for option in dataclasses.fields(HttpOptions)[2:]])
def test_a_limit_that_lets_nothing_in_is_refused(name: str) -> None:
    """`max_connections=0` was the default."""
    refused = (-1,) if name == "drain_s" else (0, -1)
    for value in refused:
        given: dict[str, Any] = {name: value}
        with pytest.raises(ValueError, match=rf"HttpOptions\({name}={value}\); it must be "):
            HttpOptions(**given)
    given = {name: 1}
    HttpOptions(**given)


@pytest.mark.parametrize("name", ["max_line_bytes", "max_calls"])
async def test_a_limit_of_stdio_that_lets_nothing_in_is_refused(name: str) -> None:
    async with desk_runtime(Desk()) as runtime:
        with pytest.raises(ValueError, match=rf"serve_stdio\({name}=0\); it must be at least 1"):
            await serve_stdio(server(runtime), **{name: 0})


async def test_beyond_so_many_streams_the_first_ends_for_a_further_one() -> None:
    """1,000 of one client had every other one refused."""
    sdk: Server[Any] = Server("streams", on_subscriptions_listen=Listeners(InMemorySubscriptionBus(), 2))
    async with (
        asyncio.timeout(30),
        Client(InMemoryTransport(sdk), mode="auto") as client,
        client.listen(tools_list_changed=True) as first,
        client.listen(tools_list_changed=True),
        client.listen(tools_list_changed=True),
    ):
        assert [change async for change in first] == []


async def test_a_chunk_that_nobody_takes_when_the_loop_ends_ends_the_reader_in_silence() -> None:
    """`asyncio.run` cancels what is left of a loop, such as the chunk that waits for room."""
    out, into = os.pipe()
    os.write(into, b"x\n")
    chunks: asyncio.Queue[bytes] = asyncio.Queue(1)
    chunks.put_nowait(b"one that is there")
    lines = StdinLines(out, message_limits(Limits(), 2**20), refused_nothing, lambda: 0.0)
    reader = asyncio.create_task(asyncio.to_thread(lines._read, asyncio.get_running_loop(), chunks))
    known = asyncio.all_tasks()
    await until(lambda: asyncio.all_tasks() - known)
    (asyncio.all_tasks() - known).pop().cancel()
    await reader
    os.close(into)
    os.close(out)


async def refused_nothing(id_: Any, why: str) -> None:
    pytest.fail(f"{id_} was refused: {why}")
