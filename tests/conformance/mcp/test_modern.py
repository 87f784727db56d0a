"""Servers of MCP 2026-07-28, over both transports: questions with a state, lists that change, tokens."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.adapters.mcp.client.conftest import heard, served
from tests.peers import PEERS
from toolgen.adapters.mcp import HttpServer, MCPToolset, StdioServer
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Snapshot

MODERN = (sys.executable, str(PEERS / "modern.py"))


@contextmanager
def web_server(port: str = "0") -> Iterator[str]:
    """Yield the port of a server in a process of its own."""
    with subprocess.Popen([*MODERN, "http", port], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    with web_server() as found:
        yield found


@pytest.fixture(params=["stdio", "http"])
def toolset(request: pytest.FixtureRequest) -> MCPToolset:
    if request.param == "stdio":
        return MCPToolset("modern", StdioServer(MODERN[0], (MODERN[1], "stdio")), prefix="")
    port = request.getfixturevalue("port")
    return MCPToolset("modern", HttpServer(f"http://127.0.0.1:{port}/mcp"), prefix="")


async def test_a_server_asks_a_person_and_goes_on_with_its_state(toolset: MCPToolset) -> None:
    async with served(toolset, engine=InProcessEngine()) as (runtime, snapshot):
        first = (await snapshot.call("book", {})).suspension
        assert first is not None
        assert (first.question, first.answer_schema["required"]) == ("Who travels?", ["name"])
        second = (await runtime.suspensions.answer(first.token, {"name": "Jo"})).suspension
        assert second is not None
        assert second.question == "How many seats?"
        booked = await runtime.suspensions.answer(second.token, {"seats": 2})
        assert booked.result == '["1", {"seats": {"seats": 2}, "who": {"name": "Jo"}}]'
        ways = (await snapshot.call("choose", {})).suspension
        assert ways is not None
        assert list(ways.answer_schema["properties"]) == ["one", "several"]
        chosen = await runtime.suspensions.answer(ways.token, {"several": ["s", "a"]})
        assert chosen.result == '{"several": ["s", "a"]}'
        page = (await snapshot.call("sign_in", {})).suspension
        assert page is not None
        assert (page.kind, page.request) == ("credential", {"url": "https://example.com/sign-in"})
        assert (await runtime.suspensions.answer(page.token, {"available": True})).result == "2 accept"
        assert (await snapshot.call("patience", {})).result == "once more"
        sample = await snapshot.call("sample", {})
        assert str(sample.error) == "sample asks for sampling/createMessage, which is declined"
        script = await snapshot.call("sign_in_by_script", {})
        assert str(script.error) == (
            "sign_in_by_script asks a person to open an address that is not a web page"
        )
        flood = await snapshot.call("flood", {})
        assert str(flood.error) == "flood asks 11 questions at once; 10 are allowed"


async def test_a_list_is_good_until_the_server_says_that_it_changed(toolset: MCPToolset) -> None:
    async with served(toolset) as (runtime, snapshot):
        assert len(snapshot.specs) == len((await runtime.tools.snapshot()).specs)
        async with heard("changed its list of tools"):
            await snapshot.call("grow", {})
        assert len((await runtime.tools.snapshot()).specs) == len(snapshot.specs) + 1


async def called(snapshot: Snapshot, session: str) -> str:
    result = await snapshot.call("whoami", {}, CallMeta(session_id=session))
    return str(result.result)


async def test_each_user_has_a_token_and_a_session(port: str) -> None:
    async def token(meta: CallMeta) -> str:
        return f"of-{meta.session_id}"

    server = HttpServer(f"http://127.0.0.1:{port}/mcp", bearer=token)
    async with served(MCPToolset("modern", server, prefix="")) as (_, snapshot):
        both = await called(snapshot, "jo"), await called(snapshot, "al")
    assert both == ("Bearer of-jo", "Bearer of-al")
    assert "of-jo" not in repr(server)


async def test_calls_go_on_when_a_web_server_is_there_again() -> None:
    pauses: list[float] = []
    back: list[object] = []

    async def sleep(seconds: float) -> None:
        if seconds > 100:
            await asyncio.Event().wait()
        pauses.append(seconds)
        if seconds == 1.0:  # the second pause
            context = web_server(found)
            back.append(context)
            context.__enter__()

    with web_server() as found:
        toolset = MCPToolset("modern", HttpServer(f"http://127.0.0.1:{found}/mcp"), prefix="", sleep=sleep)
        async with served(toolset) as (_, snapshot):
            left = await snapshot.call("leave", {})  # it says that it reads, so it is made again
            assert left.status == "unknown"
            assert (await called(snapshot, "jo")) == "nobody"
    for context in back:
        context.__exit__(None, None, None)  # type: ignore[attr-defined]  # it is a context manager
