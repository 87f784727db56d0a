"""The connections of a server over HTTP: open heads, silent ones, one peer's share, and what refusals say."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.peers import hostile_client
from tests.peers import hostile_connections as hostile
from tests.selection import first
from tests.virtual_time import in_virtual_time
from toolgen.runtime import CallMeta

from .desk import Desk, desk_runtime
from .test_http import call_of, verify
from .web import HEADERS, URL, hello, listening, modern_call, over_sockets, web

OPEN_HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: "
"""What 1,300 connections sent, and nothing more, so that everybody had 503 for ever."""


@pytest.mark.exhaustive
async def test_open_heads_shut_nobody_out() -> None:
    async with desk_runtime(Desk()) as runtime, listening(runtime, max_connections=60) as port:
        async with asyncio.timeout(60), hostile.silent_connections(port, 66, OPEN_HEAD) as held:
            for _ in range(10):
                async with httpx2.AsyncClient(verify=False, headers=HEADERS, timeout=60) as client:
                    answer = await client.post(f"http://127.0.0.1:{port}/mcp", **modern_call("count"))
                    assert answer.status_code == 200
        assert held.opened > 66


UNFINISHED = {
    "nothing": (b"", b""),
    "an open head": (OPEN_HEAD, b""),
    "a head that drips": (OPEN_HEAD, b"a"),
    "a second head": (b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", b"G"),
    "a body that drips after its refusal": (
        b"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000\r\n\r\n",
        b"a",
    ),
}
"""What is sent at once, and what once a second; the server's own timer for connections ends with any byte."""


@pytest.mark.parametrize(("at_once", "each_second"), first(UNFINISHED.values(), 2), ids=UNFINISHED)
@in_virtual_time
async def test_a_connection_without_a_request_is_closed(at_once: bytes, each_second: bytes) -> None:
    loop = asyncio.get_running_loop()
    async with desk_runtime(Desk()) as runtime, listening(runtime, head_s=7) as port:
        began = loop.time()
        await hostile.drip(port, at_once, each_second)
        assert 7 <= loop.time() - began < 9


@asynccontextmanager
async def answered(port: int) -> AsyncIterator[tuple[int, Callable[[], Awaitable[int]]]]:
    """Make a call with a long answer; yield the bytes of its body, and what reads and counts them."""
    call = modern_call("weigh", id="x" * 3_900_000)
    body = json.dumps(call["json"]).encode()
    fields = {**HEADERS, **call["headers"], "host": "localhost", "content-length": len(body)}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        one.connect(("127.0.0.1", port))
        one.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=one, limit=1_024)
        writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        said = await reader.readuntil(b"\r\n\r\n")
        [length] = [line for line in said.split(b"\r\n") if line.lower().startswith(b"content-length:")]

        async def read() -> int:
            count = 0
            try:
                while chunk := await reader.read(65_536):
                    count += len(chunk)
            except ConnectionError:
                pass
            return count

        try:
            yield int(length.partition(b":")[2]), read
        finally:
            writer.close()


async def taken_after(port: int, seconds: float) -> tuple[int, int]:
    """Return the bytes of an answer's body, and how many of them come when they are read after a time."""
    async with answered(port) as (size, read):
        await asyncio.sleep(seconds)
        return size, await read()


@in_virtual_time
async def test_an_answer_that_is_taken_late_is_whole() -> None:
    """The end of a long one was cut as late as a head: its request had ended with the last write."""
    async with desk_runtime(Desk()) as runtime, listening(runtime, head_s=7, write_s=30) as port:
        size, count = await taken_after(port, 29)
        assert count == size > 7_000_000


@in_virtual_time
async def test_the_connection_of_a_client_that_takes_nothing_is_closed() -> None:
    async with desk_runtime(Desk()) as runtime, listening(runtime, head_s=7, write_s=30) as port:
        size, count = await taken_after(port, 61)
        assert count < size


@pytest.mark.exhaustive
async def test_answers_that_nobody_takes_have_a_total_and_the_last_one_is_whole() -> None:
    """Six of them kept 47 MB for a minute."""
    async with (
        asyncio.timeout(120),
        desk_runtime(Desk()) as runtime,
        listening(runtime, max_unsent_bytes=10_000_000, max_calls=1) as port,
        AsyncExitStack() as stack,
    ):
        answers = [await stack.enter_async_context(answered(port)) for _ in range(6)]
        counts = [(size, await read()) for size, read in answers]
        assert counts[-1][0] == counts[-1][1] > 7_000_000
        assert [size == count for size, count in counts[:3]] == [False] * 3


def raw(session: str, body: bytes = b"", verb: str = "POST", **fields: Any) -> bytes:
    """Return a request of a session of 2025-11-25, or of none."""
    given = {**HEADERS, "host": "localhost", "content-length": len(body), **fields}
    if session:
        given["mcp-session-id"] = session
    lines = [
        f"{verb} /mcp HTTP/1.1",
        *(f"{name}: {value}" for name, value in given.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def listen() -> bytes:
    """Return the request of a client of 2026-07-28 that listens."""
    meta = modern_call("count")["json"]["params"]["_meta"]
    params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params})
    fields = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    return raw("", body.encode(), **fields)


WAITING: dict[str, tuple[Callable[[str], bytes], bytes]] = {
    "a stream by which a client listens": (lambda session: raw(session, verb="GET"), b"HTTP/1.1 200"),
    "the same since 2026-07-28": (lambda session: listen(), b"subscriptions/acknowledged"),
    "a question": (
        lambda session: raw(session, hostile_client.call(3, "send", b'{"id": "p"}')),
        b"elicitation",
    ),
    "a body": (lambda session: raw(session, b"{}")[:-1], b""),
}
"""Requests that end by their client alone, and what the server says first."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", WAITING)
async def test_requests_that_wait_for_their_client_shut_nobody_out(kind: str) -> None:
    """1,100 of one client, with one address as all of loopback, had everybody refused with 503 for ever."""
    request, first = WAITING[kind]
    async with asyncio.timeout(60), over_sockets(Desk(), max_connections=6) as (client, url):
        loop, port = asyncio.get_running_loop(), httpx2.URL(url).port
        assert port is not None
        with ExitStack() as stack:
            for _ in range(8):
                answer = await client.post(url, json=hello(elicitation={"form": {}}))
                assert answer.status_code == 200
                session = answer.headers["mcp-session-id"]
                [one] = stack.enter_context(hostile.requests_sent(port, [request(session)]))
                said = b""
                while first not in said:
                    some = await loop.sock_recv(one, 65_536)
                    assert some, said
                    said += some
            assert (await client.post(url, **modern_call("count"))).status_code == 200


async def test_requests_that_go_on_leave_places_to_others_and_to_refusals() -> None:
    """By hanging calls, which no newer connection closes."""
    limits: dict[str, Any] = {"max_connections": 24, "max_connections_per_peer": 3, "max_calls": 100}
    async with over_sockets(Desk(), verify=verify, **limits) as (client, url):
        hanging = {asyncio.create_task(client.post(url, **call_of("mira", "hang"))) for _ in range(4)}
        async with asyncio.timeout(60):
            [refused], hanging = await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED)
        assert (refused.result().status_code, refused.result().headers["retry-after"]) == (429, "1")
        assert (await client.post(url, **call_of("jonas", "count"))).status_code == 200
        for one in hanging:
            one.cancel()
        await asyncio.wait(hanging)
        assert (await client.post(url, **call_of("mira", "count"))).status_code == 200


async def test_requests_of_all_have_a_limit_that_is_said() -> None:
    async with over_sockets(Desk(), max_connections=4) as (client, url):
        hanging = {asyncio.create_task(client.post(url, **modern_call("hang"))) for _ in range(4)}
        async with asyncio.timeout(60):
            [refused], hanging = await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED)
        answer = refused.result()
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.text == "the server has too many open requests; try again later"
        for one in hanging:
            one.cancel()
        await asyncio.wait(hanging)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_the_host_is_looked_at_before_anything_is_said_of_a_path(path: str) -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime) as client:
        url = f"http://127.0.0.1{path}"
        codes = [
            (await client.post(url, json=hello(), headers=headers)).status_code
            for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}, {})
        ]
    assert codes == [421, 403, 200]


async def test_each_refusal_for_now_says_when_to_try_again() -> None:
    async def broken(token: str) -> CallMeta | None:
        raise RuntimeError("down")

    async with desk_runtime(Desk()) as runtime, web(runtime, verify=broken) as client:
        answer = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
