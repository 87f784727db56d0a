"""Questions to clients of 2025-11-25 over HTTP: they hold no slot of a call, and end with their client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from toolgen.adapters.mcp import MCPServer, server
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .desk import MIRA, Desk, desk_runtime
from .web import HEADERS, hello, listening, modern_call


class Asked:
    """A client whose calls are asked about, on a socket."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self.client = client
        self.url = url
        self._session: dict[str, str] = {}

    async def open(self) -> None:
        answer = await self.client.post(self.url, json=hello(elicitation={"form": {}}))
        self._session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        await self.post(method="notifications/initialized")

    async def post(self, **message: Any) -> httpx2.Response:
        return await self.client.post(self.url, json={"jsonrpc": "2.0", **message}, headers=self._session)

    @asynccontextmanager
    async def asked(self, id: int, **meta: Any) -> AsyncIterator[tuple[Any, AsyncIterator[str]]]:
        """Make a call that asks; yield the id of the question, and what comes after it."""
        params = {"name": "send", "arguments": {"id": f"p{id}"}, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        async with self.client.stream("POST", self.url, json=body, headers=self._session) as answer:
            lines = answer.aiter_lines()
            async for line in lines:
                if "elicitation/create" in line:
                    yield json.loads(line.removeprefix("data: "))["id"], lines
                    return
            raise AssertionError("nothing was asked")

    async def status_of_other(self) -> int:
        """Return what a call of somebody else is answered with."""
        return (await self.client.post(self.url, **modern_call("count"))).status_code

    async def end(self) -> None:
        await self.client.delete(self.url, headers=self._session)


@asynccontextmanager
async def asking(runtime: Runtime, served: MCPServer, **options: Any) -> AsyncIterator[Asked]:
    async with (
        asyncio.timeout(60),
        runtime,
        listening(runtime, served=served, **options) as port,
        httpx2.AsyncClient(verify=False, headers=HEADERS, timeout=60) as client,
    ):
        made = Asked(client, f"http://127.0.0.1:{port}/mcp")
        await made.open()
        yield made


async def test_questions_that_nobody_answers_hold_no_slot() -> None:
    """100 calls that asked had every other client refused with 429."""
    desk = Desk()
    runtime = desk_runtime(desk)
    async with asking(runtime, server(runtime), max_calls=1) as mira, AsyncExitStack() as stack:
        for id in range(5):
            await stack.enter_async_context(mira.asked(id))
            assert await mira.status_of_other() == 200
        assert desk.log == []


@pytest.mark.parametrize("is_durable", [False, True])
async def test_a_question_ends_with_its_client_and_what_a_file_keeps_waits_on(
    tmp_path: Path, is_durable: bool
) -> None:
    desk = Desk()
    runtime = desk_runtime(desk, engine=InProcessEngine(tmp_path / "runs.db" if is_durable else None))
    served = server(runtime, session_id=MIRA)
    async with asking(runtime, served) as mira:
        async with mira.asked(1):
            [asked] = await runtime.suspensions.list()
        await served.executing.ended()
        assert await runtime.suspensions.list() == ((asked,) if is_durable else ())
        assert served.executing.count == 0
        if is_durable:
            answered = await runtime.suspensions.answer(asked.token, {"city": "Kiel"})
            assert [one.question for one in answered.suspensions] == ["On which day?"]


async def test_what_its_client_may_call_again_waits_on() -> None:
    desk = Desk()
    runtime = desk_runtime(desk)
    served = server(runtime, session_id=MIRA)
    async with asking(runtime, served) as mira:
        async with mira.asked(1, **{"dev.toolgen/call-id": "c1"}):
            pass
        await served.executing.ended()
        assert len(await runtime.suspensions.list()) == 1
        async with mira.asked(1, **{"dev.toolgen/call-id": "c1"}):
            pass
        await served.executing.ended()


async def test_a_session_that_ends_ends_its_questions() -> None:
    desk = Desk()
    runtime = desk_runtime(desk)
    served = server(runtime, session_id=MIRA)
    async with asking(runtime, served) as mira:
        async with mira.asked(1):
            await mira.end()
            await served.executing.ended()
        assert await runtime.suspensions.list() == ()


async def test_a_session_whose_client_is_asked_makes_room_for_another() -> None:
    """As many as there may be with a question each refused every further client for ever."""
    desk = Desk()
    runtime = desk_runtime(desk)
    served = server(runtime, session_id=MIRA)
    async with asking(runtime, served, max_sessions=1) as mira, mira.asked(1):
        assert (await mira.client.post(mira.url, json=hello())).status_code == 200
        await served.executing.ended()
        assert await runtime.suspensions.list() == ()
        assert (await mira.post(id=2, method="ping")).status_code == 404


async def test_a_call_that_is_answered_waits_for_a_slot() -> None:
    """Else one client has as many calls executed as it has questions open."""
    desk = Desk()
    runtime = desk_runtime(desk)
    served = server(runtime, session_id=MIRA)
    async with asking(runtime, served, max_calls=1) as mira, mira.asked(1) as (question, lines):
        hanging = asyncio.create_task(mira.client.post(mira.url, **modern_call("hang")))
        await desk.has_begun.wait()
        content = {"action": "accept", "content": {"city": "Kiel"}}
        assert (await mira.post(id=question, result=content)).status_code == 202
        assert await mira.status_of_other() == 429
        [asked] = await runtime.suspensions.list()
        assert asked.question == "Where does it go?", "it goes on when a call has ended"
        hanging.cancel()
        async for line in lines:
            if "On which day?" in line:
                break
        assert desk.was_cancelled.is_set()
