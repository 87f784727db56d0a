"""What an executor keeps with its question, questions of raw executors, and outcomes that nobody knows."""

from __future__ import annotations

import json
from typing import Any

from tests.runtime.tools import META, SITE, Listing, nothing, runtime, waiting
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    OutcomeUnknownError,
    Runtime,
    Scheduling,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
    Unfinished,
)

TOOL = "assistant.devices.list_devices"


async def test_what_an_executor_keeps_comes_back_with_the_answer(engine: InProcessEngine) -> None:
    seen: list[Any] = []

    async def asks(payload: Any, ctx: ToolContext) -> Any:
        seen.append((ctx.resume_state, ctx.answer))
        if ctx.resume_state is None:
            return ToolOutcome.ask("Which floor?", resume_state={"page": "opaque"})
        if ctx.resume_state == {"page": "opaque"}:
            return ToolOutcome.need_credential({"url": "https://example.com"}, "Sign in.", resume_state=["2"])
        return nothing()

    made = runtime(Listing(asks), engine=engine)
    first = await made.call(TOOL, SITE, META)
    assert "opaque" not in repr(waiting(first))
    second = await made.suspensions.answer(waiting(first).token, "the second")
    third = await made.suspensions.answer(waiting(second).token, {"available": True})
    assert third.status == "ok"
    assert seen == [
        (None, None),
        ({"page": "opaque"}, "the second"),
        (["2"], {"available": True}),
    ]


async def test_a_raw_executor_may_ask(engine: InProcessEngine) -> None:
    async def serve(call: ToolCall, ctx: ToolContext) -> ToolResult | Unfinished:
        if ctx.answer is None:
            return ToolOutcome.ask("Which floor?")
        return ToolResult(tool=call.tool, status="ok", result=nothing())

    made = runtime(serve, engine=engine)
    asked = await made.call(TOOL, SITE, META)
    assert waiting(asked).question == "Which floor?"
    assert (await made.suspensions.answer(waiting(asked).token, "the second")).status == "ok"


async def lost(payload: Any, ctx: ToolContext) -> Any:
    raise OutcomeUnknownError("the connection ended before the answer", is_retryable=True)


async def test_a_call_whose_outcome_is_unknown_is_neither_done_nor_failed() -> None:
    listing = Listing(lost)
    result = await runtime(listing, scheduling=Scheduling(max_retries=0)).call(TOOL, SITE, META)
    assert (result.status, json.loads(result.json)) == (
        "unknown",
        {"unknown": "the connection ended before the answer"},
    )
    assert isinstance(result.error, ToolError)


async def test_a_raw_executor_passes_on_that_an_outcome_is_unknown() -> None:
    async def serve(call: ToolCall, ctx: ToolContext) -> ToolResult:
        return await inner.call(TOOL, SITE, META)

    inner: Runtime = runtime(Listing(lost), scheduling=Scheduling(max_retries=0))
    assert (await runtime(serve).call(TOOL, SITE, META)).status == "unknown"
