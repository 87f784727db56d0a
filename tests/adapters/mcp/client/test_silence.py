"""How long a call of a server's tool lasts: by its silence, and as a whole. The tests move the clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.adapters.mcp.client.conftest import bare, served
from tests.clients.clock import by_clock, put_forward
from toolgen.runtime import RegistrationError, Snapshot, ToolResult


@asynccontextmanager
async def working(**options: Any) -> AsyncIterator[tuple[Snapshot, asyncio.Task[ToolResult]]]:
    """Yield the tools of a server, and a call of its tool that works until "finish"."""
    passing: asyncio.Task[None] | None = None
    async with served(bare("good", **options)) as (_, snapshot):
        try:
            call = asyncio.create_task(snapshot.call("work", {}))
            await snapshot.call("echo", {"n": 1})  # the server has both
            yield snapshot, call
        finally:
            passing = asyncio.create_task(time_passes())
    passing.cancel()


async def time_passes() -> None:
    """Let time pass by itself: the end of a process is looked for now and then."""
    while True:
        put_forward(0.001)
        await asyncio.sleep(0)


async def pass_steps(snapshot: Snapshot, number: int, seconds: float) -> None:
    """Let time pass before each of so many steps that the server reports."""
    for _ in range(number):
        put_forward(seconds)
        assert (await snapshot.call("step", {})).status == "ok"


@by_clock
async def test_a_call_that_reports_progress_has_more_time() -> None:
    async with working() as (snapshot, call):
        await pass_steps(snapshot, 5, 50)
        await snapshot.call("finish", {})
        result = await call
    assert (result.status, result.result) == ("ok", "worked")


@by_clock
async def test_a_call_that_falls_silent_has_no_more() -> None:
    async with working() as (snapshot, call):
        await pass_steps(snapshot, 2, 50)
        put_forward(61)
        result = await call
    assert (result.status, str(result.error)) == (
        "unknown",
        "work did not respond for 60 seconds after its last progress; it may have run",
    )


@by_clock
async def test_a_call_without_progress_is_silent_from_its_beginning() -> None:
    async with working() as (snapshot, call):
        put_forward(59)
        await snapshot.call("echo", {"n": 1})
        assert not call.done()
        put_forward(2)
        result = await call
    assert str(result.error) == "work did not respond within 60 seconds; it may have run"


@by_clock
async def test_progress_does_not_extend_a_call_beyond_its_whole_time() -> None:
    async with working(total_s=120) as (snapshot, call):
        await pass_steps(snapshot, 2, 50)
        put_forward(21)
        result = await call
    assert str(result.error) == "work did not respond within 120 seconds; it may have run"


@by_clock
async def test_the_silence_of_one_call_is_not_that_of_another_one() -> None:
    async with working() as (snapshot, call):
        other = asyncio.create_task(snapshot.call("hang", {}))
        await snapshot.call("echo", {"n": 1})
        await pass_steps(snapshot, 2, 40)
        assert str((await other).error) == "hang did not respond within 60 seconds; it may have run"
        assert not call.done()
        await snapshot.call("finish", {})
        assert (await call).status == "ok"


@by_clock
async def test_a_call_has_no_limit_of_silence_without_call_s() -> None:
    async with working(call_s=None, total_s=None) as (snapshot, call):
        put_forward(100_000)
        await snapshot.call("finish", {})
        assert (await call).status == "ok"


def test_the_whole_time_is_no_less_than_the_time_of_silence() -> None:
    with pytest.raises(RegistrationError, match="call_s is 900, and total_s is 600"):
        bare("good", call_s=900)
    bare("good", call_s=900, total_s=None)
