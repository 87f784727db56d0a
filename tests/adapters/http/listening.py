"""A surface that listens on a port of loopback, and readers of its streams."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from toolgen.adapters.http import Caller, HTTPSurface, SurfaceOptions
from toolgen.adapters.http.serving import StartToken, drained, serve_surface, served_app
from toolgen.runtime import Runtime


@asynccontextmanager
async def listening(
    runtime: Runtime, options: SurfaceOptions | None = None, **facts: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Serve on a port, and yield a client with the token; the process is asked to end by a signal."""
    options = options or SurfaceOptions()
    token = StartToken(Caller(id="ann", **facts))
    surface = HTTPSurface(runtime, caller=token, options=options)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_surface(
            served_app(surface, options),
            "127.0.0.1",
            0,
            options,
            close=lambda: drained(surface, 10.0),
            on_ready=ready.set_result,
        )
    )
    async with asyncio.timeout(60):
        url = await ready
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    headers = {"authorization": f"Bearer {token.value}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client:
        assert (await client.get("/catalog")).status_code == 200  # it has begun, and handles signals
        try:
            yield client
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await serving


class Reader:
    """Reads one stream; `async with` opens it."""

    def __init__(self, client: httpx.AsyncClient, path: str, last: str = "") -> None:
        headers = {"last-event-id": last} if last else {}
        self._opened = client.stream("GET", path, headers=headers)
        self.last = last
        """The id of the newest event that has one."""

    async def __aenter__(self) -> Reader:
        self.answer = await self._opened.__aenter__()
        assert self.answer.status_code == 200, await self.answer.aread()
        self._lines = self.answer.aiter_lines()
        assert await anext(self._lines) == "retry: 1000"  # it has begun to listen
        if (line := await anext(self._lines)).startswith("id: "):
            self.last = line.removeprefix("id: ")
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._opened.__aexit__(*error)

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> tuple[str, dict[str, Any]]:
        """Return the id, or "", and the document of the next event."""
        id_ = ""
        async for line in self._lines:
            name, _, value = line.partition(": ")
            if name == "id":
                id_ = self.last = value
            elif name == "data":
                return id_, json.loads(value)
        raise StopAsyncIteration

    async def take(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        """Return so many events."""
        return [await anext(self) for _ in range(count)]
