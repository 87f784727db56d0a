"""The peers that attack: they speak the protocol where they are asked to behave."""

from __future__ import annotations

from tests.adapters.mcp.client.conftest import hostile, served
from tests.adapters.mcp.serving.desk import Desk, desk_runtime
from tests.adapters.mcp.serving.web import URL, web
from tests.peers.hostile_client import call, opening


async def test_the_hostile_server_answers_an_honest_call() -> None:
    async with served(hostile()) as (_, snapshot):
        assert (await snapshot.call("echo", {})).status == "ok"


async def test_the_hostile_client_opens_a_session_and_calls() -> None:
    hello, initialized = opening()
    async with desk_runtime(Desk()) as runtime, web(runtime) as client:
        opened = await client.post(URL, content=hello)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert (await client.post(URL, content=initialized, headers=session)).status_code == 202
        answer = await client.post(URL, content=call(2, "count"), headers=session)
    assert '"structuredContent":{"result":3}' in answer.text
