"""Whoever stops waiting for a call that has begun and may not run twice says that its outcome is unknown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event
from typing import Any

import pytest

from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, Listing, nothing, runtime, spec
from tests.selection import diagonal
from toolgen.calls.functions.tools import func_tool
from toolgen.events.hub import Events
from toolgen.runtime import (
    Hook,
    OutcomeUnknownError,
    RetryHint,
    Runtime,
    Scheduling,
    StaticToolset,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolSpec,
    Verdict,
)

TOOL = "assistant.devices.list_devices"
CALL = ToolCall(tool=TOOL, payload_json=SITE, meta=META)
MAY_HAVE_RUN = b'{"unknown":"list_devices did not respond within 3600 seconds; it may have run"}'
HINTS = [{}, {"idempotent": True}, {"read_only": True}]


def acting(**facts: Any) -> ToolSpec[Any, Any]:
    """Return the spec of a tool that has an effect each time it runs."""
    return spec(annotations={}, **facts)


class Endless:
    """An executor that does not end by itself, asynchronous."""

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        self.began.set()
        await asyncio.Event().wait()


class Blocking:
    """An executor that holds its thread until it is let go."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.runs = 0
        self._loop = asyncio.get_running_loop()
        self._gate = Event()

    def list_devices(self, payload: Any, ctx: Any) -> Any:
        self.runs += 1
        self._loop.call_soon_threadsafe(self.began.set)
        self._gate.wait()
        return nothing()

    def let_go(self) -> None:
        self._gate.set()


@asynccontextmanager
async def blocking() -> AsyncIterator[Blocking]:
    one = Blocking()
    try:
        yield one
    finally:
        one.let_go()


async def late(executor: Endless | Blocking, tool: ToolSpec[Any, Any], *, by: str) -> ToolResult:
    """Return the result of a call whose time ends after it has begun."""
    made = runtime(executor, tool)
    async with LoopClock() as clock:
        running = asyncio.create_task(_called(made, by))
        await executor.began.wait()
        await clock.advance(HOUR)
        return await running


async def _called(made: Runtime, by: str) -> ToolResult:
    if by == "call":
        return await made.call(TOOL, SITE, META)
    (result,) = await made.call_all([CALL])
    return result


@pytest.mark.parametrize("by", ["call", "call_all"])
@pytest.mark.parametrize("annotations", HINTS)
async def test_a_late_call_that_may_not_run_twice_is_unknown(annotations: dict[str, bool], by: str) -> None:
    """Others are told as a timeout, with a hint that they may be made again."""
    tool = spec(annotations=annotations, timeout=HOUR)
    async with blocking() as blocks:
        for executor in (Endless(), blocks):
            result = await late(executor, tool, by=by)
            if annotations:
                assert result.retry_hint is not None
                assert (result.status, result.retry_hint.reason) == ("error", "timeout")
            else:
                assert (result.status, result.json, result.retry_hint) == ("unknown", MAY_HAVE_RUN, None)


async def test_a_call_that_got_no_thread_in_time_was_not_run() -> None:
    """Of two threads one is stuck and not replaced, so that a call that was admitted waits for the other."""
    async with blocking() as stuck, blocking() as blocks:

        def hang() -> None:
            stuck.list_devices(None, None)

        def hold() -> None:
            blocks.list_devices(None, None)

        def act() -> None:
            blocks.runs += 1

        made = Runtime(scheduling=Scheduling(max_threads=2, max_stuck_threads=0))
        hangs = func_tool(hang, toolset="x.acts", timeout=HOUR)
        bound = (hangs, func_tool(hold, toolset="x.acts"), func_tool(act, toolset="x.acts", timeout=HOUR))
        made.tools.register(StaticToolset(name="x.acts", bound=bound))
        async with LoopClock() as clock:
            late = asyncio.create_task(made.call("hang", {}))
            await stuck.began.wait()
            await clock.advance(HOUR)
            await late
            holds = asyncio.create_task(made.call("hold", {}))
            await blocks.began.wait()
            waits = asyncio.create_task(made.call("act", {}))
            for _ in range(5):
                await asyncio.sleep(0)
            await clock.advance(HOUR)
            result = await waits
        blocks.let_go()
        stuck.let_go()
        assert ((await holds).status, result.status, blocks.runs) == ("ok", "error", 1)
    assert b"act was not run" in result.json
    assert result.retry_hint is not None


async def test_an_unknown_outcome_hints_at_no_retry() -> None:
    async def lost(payload: Any, ctx: Any) -> Any:
        raise OutcomeUnknownError("lost", retry_hint=RetryHint(reason="timeout", tool=TOOL))

    result = await runtime(Listing(lost), acting()).call(TOOL, SITE, META)
    assert (result.status, result.retry_hint) == ("unknown", None)


@pytest.mark.parametrize("annotations", HINTS)
async def test_the_event_of_a_call_whose_caller_is_cancelled(annotations: dict[str, bool]) -> None:
    events, executor = Events(), Endless()
    async with events.subscribe(types=["tool_end"]) as subscription:
        made = runtime(executor, spec(annotations=annotations), events=events)
        running = asyncio.create_task(made.call(TOOL, SITE, META))
        await executor.began.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        end: Any = await anext(subscription)
    assert end.status == ("error" if annotations else "unknown")


@pytest.mark.parametrize(
    ("result", "annotations"), diagonal([None, "", 5, {"devices": "\ud800"}, ToolOutcome(result=None)], HINTS)
)
async def test_a_call_whose_result_cannot_be_read_has_run(
    annotations: dict[str, bool], result: object
) -> None:
    """Only where it may run twice is there a hint to make it again."""

    async def acts(payload: Any, ctx: Any) -> Any:
        return result

    told = await runtime(Listing(acts), spec(annotations=annotations)).call(TOOL, SITE, META)
    assert told.status == "error"
    assert told.json.startswith(b'{"error":"list_devices ran; its result could not be read (reference ')
    assert (told.retry_hint and told.retry_hint.reason) == ("malformed_response" if annotations else None)


@pytest.mark.parametrize("fails", [OutcomeUnknownError("lost"), None])
async def test_a_hook_that_fails_after_a_call_does_not_deny_that_it_ran(fails: Exception | None) -> None:
    class Broken(Hook):
        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: Any) -> Verdict:
            raise OSError

    async def acts(payload: Any, ctx: Any) -> Any:
        if fails is not None:
            raise fails
        return nothing()

    told = await runtime(Listing(acts), acting(), hooks=[Broken()]).call(TOOL, SITE, META)
    if fails is not None:
        assert (told.status, told.json) == ("unknown", b'{"unknown":"lost"}')
    else:
        assert told.json.startswith(b'{"error":"list_devices ran; its result could not be read (reference ')
