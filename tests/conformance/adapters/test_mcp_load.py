"""Servers of MCP under load, with malformed requests, and with the client of FastMCP."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from pathlib import Path
from typing import Any

import fastmcp
import httpx2
import pytest
from fastmcp.client.elicitation import ElicitResult
from mcp import types

from tests.adapters.mcp.serving.desk import Desk, desk_runtime
from tests.adapters.mcp.serving.project import http_process
from tests.adapters.mcp.serving.web import URL, hello, modern_call, web
from tests.selection import volume

pytestmark = pytest.mark.costly

SESSIONS = volume(100, lab=500)
CALLS = 200


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.volume
async def test_sessions_leave_nothing_behind() -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, session_idle_s=600) as client:
        await one_session(client)
        await settled()
        tasks, files = len(asyncio.all_tasks()), descriptors()
        for _ in range(SESSIONS // 20):
            await asyncio.gather(*(one_session(client) for _ in range(20)))
        await settled()
        assert len(asyncio.all_tasks()) <= tasks
        assert descriptors() <= files


async def settled() -> None:
    """Let the tasks of sessions that have ended see it."""
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()


async def one_session(client: httpx2.AsyncClient) -> None:
    """Open a session of 2025-11-25, list the tools, make a call, and close the session."""
    opened = await client.post(URL, json=hello())
    headers = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post(URL, json=ready, headers=headers)).status_code == 202
    for id_, method, params in (
        (2, "tools/list", {}),
        (3, "tools/call", {"name": "weigh", "arguments": {"id": "p1"}}),
    ):
        body = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        assert (await client.post(URL, json=body, headers=headers)).status_code == 200
    assert (await client.delete(URL, headers=headers)).status_code == 200


async def test_calls_at_once_each_get_their_result() -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, max_calls=CALLS) as client:
        calls = [modern_call("weigh", id=f"p{n}") for n in range(CALLS)]
        answers = await asyncio.gather(*(client.post(URL, **call) for call in calls))
    results = [answer.json()["result"]["structuredContent"]["id"] for answer in answers]
    assert results == [f"p{n}" for n in range(CALLS)]


MALFORMED = (
    b"",
    b"\x00",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"[" * 5_000,
    b'{"a":' * 5_000,
    b'{"jsonrpc":"2.0","id":1e400,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weigh","arguments":[1]}}',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}'.encode(
        errors="surrogatepass"
    ),
)


@pytest.mark.parametrize("era", [{}, {"mcp-protocol-version": "2026-07-28"}, {"mcp-protocol-version": "9"}])
async def test_malformed_bodies_are_refused_and_the_server_goes_on(era: dict[str, str]) -> None:
    async with desk_runtime(Desk()) as runtime, web(runtime, max_sessions=3, max_calls=2) as client:
        for body in MALFORMED:
            answer = await client.post(URL, content=body, headers=era)
            assert 400 <= answer.status_code < 500, (body[:60], answer.status_code, answer.text)
        assert (await client.post(URL, **modern_call("count"))).status_code == 200
        assert (await client.post(URL, json=hello())).status_code == 200


async def test_the_client_of_fastmcp_lists_calls_and_asks(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:
        asked.append(message)
        values = {"city": "Kiel", "floor": 2} if "go" in message else {"answer": "Monday"}
        return ElicitResult(action="accept", content=response_type(**values))

    async with (
        asyncio.timeout(60),
        http_process(tmp_path, "--session", "s-mira") as (url, _),
        fastmcp.Client(url, elicitation_handler=answer) as client,
    ):
        assert "weigh" in {tool.name for tool in await client.list_tools()}
        weighed = await client.call_tool("weigh", {"id": "p1"})
        assert weighed.structured_content == {"id": "p1", "weight": 1.5}
        counted = await client.call_tool("count", {})
        assert counted.data == 3
        sent = await client.call_tool("send", {"id": "p1"})
        assert sent.data == "p1: Kiel, floor 2, on Monday"
        refused = await client.call_tool("weigh", {}, raise_on_error=False)
        assert refused.is_error
        assert isinstance(refused.content[0], types.TextContent)
        assert json.loads(refused.content[0].text)["issues"][0]["path"] == "$.id"
    assert asked == ["Where does it go?", "On which day?"]
