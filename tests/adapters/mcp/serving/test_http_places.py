"""The connections of a server over HTTP: open heads, silent ones, one peer's share, and what refusals say."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tests.peers import hostile_connections as hostile
from tests.virtual_time import in_virtual_time
from toolgen.runtime import CallMeta

from .desk import Desk, desk_runtime
from .test_http import call_of, verify
from .web import HEADERS, URL, hello, listening, modern_call, web

OPEN_HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: "
"""What 1,300 connections sent, and nothing more, so that everybody had 503 for ever."""


async def test_open_heads_shut_nobody_out() -> None:
    async with desk_runtime(Desk()) as runtime, listening(runtime, max_connections=60) as port:
        async with asyncio.timeout(60), hostile.silent_connections(port, 66, OPEN_HEAD) as held:
            for _ in range(10):
                async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as client:
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


@pytest.mark.parametrize(("at_once", "each_second"), UNFINISHED.values(), ids=UNFINISHED)
@in_virtual_time
async def test_a_connection_without_a_request_is_closed(at_once: bytes, each_second: bytes) -> None:
    loop = asyncio.get_running_loop()
    async with desk_runtime(Desk()) as runtime, listening(runtime, head_s=7) as port:
        began = loop.time()
        await hostile.drip(port, at_once, each_second)
        assert 7 <= loop.time() - began < 9


async def test_requests_that_go_on_leave_places_to_others_and_to_refusals() -> None:
    """By hanging calls, which no newer connection closes."""
    desk = Desk()
    limits: dict[str, Any] = {"max_connections": 24, "max_connections_per_peer": 3, "max_calls": 100}
    async with (
        desk_runtime(desk) as runtime,
        listening(runtime, verify=verify, **limits) as port,
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as client,
    ):
        url = f"http://127.0.0.1:{port}/mcp"
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
    desk = Desk()
    async with (
        desk_runtime(desk) as runtime,
        listening(runtime, max_connections=4) as port,
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as client,
    ):
        url = f"http://127.0.0.1:{port}/mcp"
        hanging = {asyncio.create_task(client.post(url, **modern_call("hang"))) for _ in range(4)}
        async with asyncio.timeout(60):
            [refused], hanging = await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED)
        answer = refused.result()
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.text == "the server has too many requests; try again later"
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
