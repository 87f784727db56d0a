"""A call that an agent answers, in whose run a tool waits for a person."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import Client, types
from mcp.client._memory import InMemoryTransport

from tests.agents.tools import agent, calling, exported, first_answer, running
from tests.selection import first
from tests.virtual_time import in_virtual_time
from toolgen.adapters.mcp import server
from toolgen.agents import FinalResult, PlanInput, ScriptedPlanner
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import ConfirmSpec

from .desk import ERAS, MIRA

pytestmark = pytest.mark.parametrize("era", first(ERAS))


@in_virtual_time
async def test_a_client_does_not_wait_for_a_person_whom_an_agent_asks(era: str) -> None:
    burnt: list[str] = []
    is_over = asyncio.Event()

    async def burn(id: str) -> str:
        """Burn a parcel."""
        burnt.append(id)
        return f"{id} is ash"

    def end(given: PlanInput) -> FinalResult:
        is_over.set()
        return FinalResult(result=first_answer(given))

    tool = func_tool(burn, toolset="x.fires", confirm=ConfirmSpec(hint="Burn {id}?"))
    planner = ScriptedPlanner([calling(("burn", {"id": "p1"})), end])
    low = agent("x.low", planner, function_toolset("x.fires", [tool]))
    async with running(low) as (runtime, _):
        runtime.tools.register(exported("x.lows", "x.low"))
        made = server(runtime, session_id=MIRA, pending_s=60.0)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client, asyncio.timeout(100):
            begun = asyncio.get_running_loop().time()
            result = await client.call_tool("look", {})
            took = asyncio.get_running_loop().time() - begun
            (asked,) = await runtime.suspensions.list(MIRA)
            await runtime.suspensions.answer(asked.token, {"approved": True}, session_id=MIRA)
            await is_over.wait()
    assert isinstance(result.content[0], types.TextContent)
    document = json.loads(result.content[0].text)
    assert (result.is_error, document["code"], document["id"]) == (True, "pending", asked.id)
    assert f"`toolgen approve {asked.id}`" in document["error"]
    assert asked.token not in result.content[0].text
    assert took == pytest.approx(60)
    assert burnt == ["p1"]


@in_virtual_time
async def test_a_cancelled_request_cancels_the_run_of_its_agent(era: str) -> None:
    tool = func_tool(burn_all, toolset="x.fires", confirm=ConfirmSpec(hint="Burn all?"))
    low = agent("x.low", ScriptedPlanner([calling("burn_all")]), function_toolset("x.fires", [tool]))
    async with running(low) as (runtime, engine):
        runtime.tools.register(exported("x.lows", "x.low"))
        made = server(runtime, session_id=MIRA, pending_s=60.0)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client, asyncio.timeout(100):
            call = asyncio.create_task(client.call_tool("look", {}))
            await asyncio.sleep(30)
            (asked,) = await runtime.suspensions.list(MIRA)
            call.cancel()
            assert (await engine.result(asked.run_id)).state == "canceled"
            assert await runtime.suspensions.list(MIRA) == ()


async def burn_all() -> str:
    """Burn all."""
    return "ash"
