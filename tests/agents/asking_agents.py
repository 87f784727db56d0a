"""Agents whose tools ask people, log in or start work, and direct calls that such an agent answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.agents.tools import TOOLS, agent, answers, exported, running
from toolgen.agents import FinalResult, PlanInput
from toolgen.agents.planner.planner import Planner
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.results import Pending
from toolgen.contract.json_value import Json
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, ToolContext, ToolOutcome, ToolResult, Unfinished
from toolgen.runtime.functions import LongRunningSpec

YES: Json = {"approved": True}
NO: Json = {"approved": False, "message": "no"}
META = CallMeta(session_id="s", tool_call_id="c", requested_by="mira", labels={"tier": "gold"})


async def burn(id: str) -> str:
    """Burn a parcel."""
    return f"{id} is ash"


async def sign_in(ctx: ToolContext) -> str | Unfinished:
    """Read what is behind a login."""
    return "inside" if ctx.answer else ToolOutcome.need_credential({"scheme": "oauth2"}, "Sign in")


async def update() -> str | Pending[None]:
    """Update."""
    return ToolOutcome.pending("job-1")


async def order() -> str | Pending[str]:
    """Order."""
    return ToolOutcome.pending("job-2", "ordered")


ASKING = function_toolset(
    "x.asking",
    [
        func_tool(burn, toolset="x.asking", confirm=ConfirmSpec(hint="Burn {id}?")),
        func_tool(sign_in, toolset="x.asking"),
        func_tool(update, toolset="x.asking", long_running=LongRunningSpec()),
        func_tool(order, toolset="x.asking", long_running=LongRunningSpec(ack=TypeCodec(str, "str"))),
    ],
)


def result_of(given: PlanInput) -> FinalResult:
    return FinalResult(result=" | ".join(answers(given)))


@asynccontextmanager
async def desk(planner: Planner, **options: Any) -> AsyncIterator[Runtime]:
    """Give a runtime with the tool `look`, which an agent with this planner answers."""
    async with running(agent("x.low", planner, TOOLS, ASKING), **options) as (runtime, _):
        runtime.tools.register(exported("x.lows", "x.low"))
        yield runtime


async def call(runtime: Runtime, meta: CallMeta = META) -> ToolResult:
    """Return the result of a call of `look`, which never takes long."""
    async with asyncio.timeout(60):
        return await runtime.call("look", {}, meta)


async def answered(runtime: Runtime, result: ToolResult, answer: Json, **options: Any) -> ToolResult:
    """Answer the first question of a call, and return what the call has then."""
    assert result.status == "suspended", result
    assert result.suspension is not None
    assert result.suspension is result.suspensions[0]
    async with asyncio.timeout(60):
        return await runtime.suspensions.answer(result.suspension.token, answer, session_id="s", **options)
