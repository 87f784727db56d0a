"""A call that an agent answers, in whose run a tool waits for a person."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import Client, MCPError, types
from mcp.client._memory import InMemoryTransport

from tests.agents.tools import agent, calling, exported, first_answer, running
from tests.virtual_time import in_virtual_time, now
from toolgen.adapters.mcp import server
from toolgen.agents import FinalResult, PlanInput, ScriptedPlanner
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.runtime.engine import EngineError, RunWait
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.errors import NotAllowedAnswerError
from toolgen.runtime.waiting.options import WaitOptions, requester_may_not_approve

from .desk import ERAS, MIRA
from .web import URL, modern_call, web

pytestmark = pytest.mark.parametrize("era", ERAS)


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
        runtime.register(exported("x.lows", "x.low"))
        made = server(runtime, session_id=MIRA, pending_s=60.0)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client, asyncio.timeout(100):
            begun = asyncio.get_running_loop().time()
            result = await client.call_tool("look", {})
            took = asyncio.get_running_loop().time() - begun
            (asked,) = await runtime.suspended(MIRA)
            await runtime.deliver(asked.token, {"approved": True}, session_id=MIRA)
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
        runtime.register(exported("x.lows", "x.low"))
        made = server(runtime, session_id=MIRA, pending_s=60.0)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client, asyncio.timeout(100):
            call = asyncio.create_task(client.call_tool("look", {}))
            await asyncio.sleep(30)
            (asked,) = await runtime.suspended(MIRA)
            call.cancel()
            assert (await engine.result(asked.run_id)).state == "canceled"
            assert await runtime.suspended(MIRA) == ()


class Forgetful(InProcessEngine):
    """An engine that cannot read what waits."""

    async def open_waits(self, *, session: str | None = None, limit: int = 100) -> tuple[RunWait, ...]:
        raise EngineError("the secret disk cannot be read")


@in_virtual_time
async def test_a_call_ends_with_its_request_when_the_engine_cannot_say_what_waits(era: str) -> None:
    has_ended = asyncio.Event()

    async def guard() -> str:
        """Guard the parcels."""
        try:
            await asyncio.Event().wait()
        finally:
            has_ended.set()
        return ""

    low = agent("x.low", ScriptedPlanner([calling("guard")]), function_toolset("x.guards", [guard]))
    async with running(low, engine=Forgetful(clock=now)) as (runtime, engine):
        runtime.register(exported("x.lows", "x.low"))
        made = server(runtime, session_id=MIRA, pending_s=60.0)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client, asyncio.timeout(100):
            with pytest.raises(MCPError, match=r"\(reference \w+\); the call was cancelled") as told:
                await client.call_tool("look", {})
            await has_ended.wait()
            (run,) = await engine.list_runs()
            assert (await engine.result(run.run_id)).state == "canceled"
    assert "secret" not in str(told.value)


@in_virtual_time
@pytest.mark.parametrize("by", ["hook", "token"])
async def test_who_called_may_not_approve_what_the_agent_asks(era: str, by: str) -> None:
    """The rule of four eyes holds for a call of an agent's tool: the run knows whose token it was."""
    ann = CallMeta(session_id=MIRA, requested_by="ann")
    tool = func_tool(burn_all, toolset="x.fires", confirm=ConfirmSpec(hint="Burn all?"))
    planner = ScriptedPlanner([calling("burn_all"), FinalResult(result="ash")])
    low = agent("x.low", planner, function_toolset("x.fires", [tool]))
    strict = WaitOptions(rule=requester_may_not_approve, clock=now)
    async with running(low, waiting=strict) as (runtime, _), asyncio.timeout(100):
        runtime.register(exported("x.lows", "x.low"))
        call = asyncio.create_task(_look_for_ann(runtime, ann, by, era))
        while not (found := await runtime.suspended(MIRA)):  # noqa: ASYNC110  # in virtual time
            await asyncio.sleep(0.1)
        (asked,) = found
        with pytest.raises(NotAllowedAnswerError):
            await runtime.deliver(asked.token, {"approved": True}, by="ann")
        await runtime.deliver(asked.token, {"approved": True}, by="bob")
        await call
    assert asked.requested_by == "ann"


async def _look_for_ann(runtime: Runtime, ann: CallMeta, by: str, era: str) -> None:
    """Call the agent's tool as a client whose facts are those of a hook of the host, or of its token."""
    if by == "hook":
        made = server(runtime, meta=lambda ctx: ann)
        async with Client(InMemoryTransport(made.sdk), mode=era) as client:
            await client.call_tool("look", {})
        return
    async with web(runtime, verify={"t-ann": ann}.get) as client:
        request = modern_call("look")
        request["headers"]["authorization"] = "Bearer t-ann"
        (await client.post(URL, **request)).raise_for_status()


async def burn_all() -> str:
    """Burn all."""
    return "ash"
