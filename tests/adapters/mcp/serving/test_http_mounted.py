"""A server over Streamable HTTP in an application of somebody else, which runs no lifespan but its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from toolgen.adapters.mcp import http_app, server

from .desk import Desk, desk_runtime
from .web import HEADERS, hello, modern_call

URL = "http://127.0.0.1/tools/mcp"


def in_fastapi(app: Starlette) -> Starlette:
    own = FastAPI()
    own.mount("/tools", app)
    return own


def in_starlette(app: Starlette) -> Starlette:
    return Starlette(routes=[Mount("/tools", app)])


def with_its_lifespan(app: Starlette) -> Starlette:
    @asynccontextmanager
    async def lifespan(own: FastAPI) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    own = FastAPI(lifespan=lifespan)
    own.mount("/tools", app)
    return own


@pytest.mark.parametrize("mounted", [in_fastapi, in_starlette, with_its_lifespan])
async def test_a_mounted_server_answers(mounted: Callable[[Starlette], Starlette]) -> None:
    desk = Desk()
    async with desk_runtime(desk) as runtime:
        own = mounted(http_app(server(runtime)))
        async with own.router.lifespan_context(own), _client(own) as client:
            first = [client.post(URL, json=hello()), client.post(URL, **modern_call("weigh", id="p1"))]
            answers = [*await asyncio.gather(*first), await client.post(URL, json=hello())]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len(desk.log) == 1


def test_a_mounted_server_starts_again_in_another_event_loop() -> None:
    """Clients for tests have an event loop for each request."""
    desk = Desk()
    own: list[Starlette] = []

    async def called() -> int:
        async with desk_runtime(desk) as runtime:
            own.append(own[0] if own else in_fastapi(http_app(server(runtime))))
            async with _client(own[0]) as client:
                return (await client.post(URL, **modern_call("weigh", id="p1"))).status_code

    assert [asyncio.run(called()) for _ in range(2)] == [200, 200]


def _client(app: Starlette) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), verify=False, headers=HEADERS)
