"""A call, a listing, a request over MCP and a run cost the same however many tools there are; counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport

from tests.agents.tools import agent, calling, running
from tests.work import work_of
from toolgen.adapters.mcp import server
from toolgen.agents import FinalResponse, PlanInput, agents_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.runtime import CallMeta, Runtime, StaticToolset

WARM_UP: Final = 5
"""What the first ones cache is no cost of each."""
MANY: Final = 300
Step = Callable[[], Awaitable[Any]]


def echoes(number: int) -> StaticToolset:
    """Return a toolset of so many tools, of which the first is called."""

    def made(name: str) -> Callable[..., Any]:
        async def echo(text: str) -> str:
            """Return the text."""
            return text

        echo.__name__ = echo.__qualname__ = name
        return echo

    return function_toolset("local.echoes", [made(f"echo_{place}") for place in range(number)])


def runtime_with(number: int) -> Runtime:
    runtime = Runtime()
    runtime.tools.register(echoes(number))
    return runtime


@asynccontextmanager
async def call(number: int) -> AsyncIterator[Step]:
    runtime, meta = runtime_with(number), CallMeta(session_id="s", tool_call_id="c")
    yield lambda: runtime.call("echo_0", b'{"text":"here"}', meta)


@asynccontextmanager
async def listing(number: int) -> AsyncIterator[Step]:
    yield runtime_with(number).tools.snapshot


@asynccontextmanager
async def mcp_call(number: int) -> AsyncIterator[Step]:
    async with Client(InMemoryTransport(server(runtime_with(number)).sdk)) as client:
        yield lambda: client.call_tool("echo_0", {"text": "here"})


@asynccontextmanager
async def mcp_call_of_a_toolset(number: int) -> AsyncIterator[Step]:
    served = server(runtime_with(number), toolset="local.echoes")
    async with Client(InMemoryTransport(served.sdk)) as client:
        yield lambda: client.call_tool("echo_0", {"text": "here"})


@asynccontextmanager
async def run(number: int) -> AsyncIterator[Step]:
    def answer(given: PlanInput) -> Any:
        return FinalResponse(text="done") if given.step else calling(("echo_0", {"text": "here"}))

    sessions = count()
    planner = _Answering(answer)
    async with running(agent("x.agent", planner, echoes(number))) as (runtime, _):

        async def one() -> None:
            client = agents_of(runtime).client("x.agent")
            handle = await client.start("Go.", session_id=f"s{next(sessions):04}")
            assert (await handle.settled()).status == "completed"

        yield one


class _Answering:
    """Plans by a function."""

    def __init__(self, answer: Callable[[PlanInput], Any]) -> None:
        self._answer = answer

    async def plan_start(self, given: PlanInput) -> Any:
        return self._answer(given)

    async def plan_resume(self, given: PlanInput) -> Any:
        return self._answer(given)


async def work(path: Callable[[int], Any], number: int) -> int:
    async with path(number) as step:
        for _ in range(WARM_UP):
            await step()
        return (await work_of(step)).total


@pytest.mark.parametrize("path", [call, listing, mcp_call, mcp_call_of_a_toolset, run])
def test_the_number_of_tools_costs_nothing(path: Callable[[int], Any]) -> None:
    few, many = (asyncio.run(work(path, number)) for number in (1, MANY))
    assert many <= few * 1.1, f"{few} instructions with one tool, {many} with {MANY}"
