"""The sessions of clients of 2025-11-25 over HTTP: how many there are, and which one makes room."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from tests.virtual_time import in_virtual_time

from .desk import Desk, desk_runtime
from .test_http import verify
from .web import URL, hello, over_sockets, web


async def opened(client: httpx2.AsyncClient, who: str = "", url: str = URL) -> dict[str, str]:
    """Return the headers of requests of a new session."""
    headers = {"authorization": f"Bearer {who}"} if who else {}
    answer = await client.post(url, json=hello(), headers=headers)
    assert answer.status_code == 200
    return {**headers, "mcp-session-id": answer.headers["mcp-session-id"]}


async def status(client: httpx2.AsyncClient, session: dict[str, str], url: str = URL) -> int:
    """Return what a request in a session is answered with."""
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return (await client.post(url, json=ping, headers=session)).status_code


async def hanging(
    client: httpx2.AsyncClient, desk: Desk, session: dict[str, str], url: str = URL
) -> asyncio.Task[Any]:
    """Return the request of a call that does not end, once it has begun."""
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "hang"}}
    request = asyncio.create_task(client.post(url, json=body, headers=session))
    async with asyncio.timeout(30):
        await desk.has_begun.wait()
    return request


@pytest.mark.exhaustive
async def test_a_flood_of_initialize_takes_no_session_in_use() -> None:
    """1,000 filled all sessions for half an hour."""
    async with desk_runtime(Desk()) as runtime, web(runtime, max_sessions=20) as client:
        used = await opened(client)
        assert await status(client, used) == 200
        flood = [await opened(client) for _ in range(50)]
        assert await status(client, used) == 200
        late = await opened(client)
        assert [await status(client, one) for one in (late, used, flood[0], flood[-1])] == [
            200,
            200,
            404,
            200,
        ]


@in_virtual_time
async def test_of_used_sessions_the_one_that_is_idle_for_the_longest_goes() -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, max_sessions=2) as client:
        first, second = await opened(client), await opened(client)
        for one in (first, second, first):
            assert await status(client, one) == 200
            await asyncio.sleep(1)
        third = await opened(client)
        assert [await status(client, one) for one in (first, second, third)] == [200, 404, 200]


async def test_a_session_with_a_request_stays_and_a_further_one_is_refused() -> None:
    desk = Desk()
    async with desk_runtime(desk) as runtime, web(runtime, max_sessions=1) as client:
        busy = await opened(client)
        request = await hanging(client, desk, busy)
        refused = await client.post(URL, json=hello())
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert await status(client, busy) == 200
        assert (await client.delete(URL, headers=busy)).status_code == 200
        await request
        assert await status(client, await opened(client)) == 200


async def listens(client: httpx2.AsyncClient, url: str, session: dict[str, str]) -> asyncio.Task[bytes]:
    """Return the stream by which the client of a session listens, once it is open."""
    is_open = asyncio.Event()

    async def listen() -> bytes:
        async with client.stream("GET", url, headers=session) as answer:
            assert answer.status_code == 200
            is_open.set()
            return await answer.aread()

    stream = asyncio.create_task(listen())
    async with asyncio.timeout(30):
        await is_open.wait()
    return stream


async def test_a_session_whose_client_only_listens_makes_room_for_another() -> None:
    """As many as there may be with a stream each refused every further client for ever."""
    async with over_sockets(Desk(), max_sessions=3) as (client, url):
        sessions = [await opened(client, url=url) for _ in range(3)]
        assert await status(client, sessions[0], url) == 200
        streams = [await listens(client, url, session) for session in sessions]
        further = [await opened(client, url=url) for _ in range(2)]
        async with asyncio.timeout(30):
            assert [await streams[1], await streams[2]] == [b"", b""]
        assert not streams[0].done()
        codes = [await status(client, one, url) for one in (*sessions, *further)]
        assert codes == [200, 404, 404, 200, 200]
        streams[0].cancel()
        await asyncio.wait(streams)


async def test_a_session_whose_client_listens_during_a_request_stays() -> None:
    desk = Desk()
    async with over_sockets(desk, max_sessions=1) as (client, url):
        busy = await opened(client, url=url)
        stream = await listens(client, url, busy)
        request = await hanging(client, desk, busy, url)
        assert (await client.post(url, json=hello())).status_code == 503
        assert (await client.delete(url, headers=busy)).status_code == 200
        await asyncio.wait((stream, request))


async def test_an_identity_closes_its_own_sessions_alone() -> None:
    desk = Desk()
    limits: dict[str, Any] = {"max_sessions_per_owner": 1}
    async with desk_runtime(desk) as runtime, web(runtime, verify=verify, **limits) as client:
        jonas, mira = await opened(client, "jonas"), await opened(client, "mira")
        again = await opened(client, "mira")
        assert [await status(client, one) for one in (jonas, mira, again)] == [200, 404, 200]
        request = await hanging(client, desk, again)
        refused = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert await status(client, jonas) == 200
        assert (await client.delete(URL, headers=again)).status_code == 200
        await request
