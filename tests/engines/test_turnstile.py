"""Runs beside a run that starts thousands of activities at once, and what of those has not begun."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Any, TypeVarTuple

import pytest

from tests.selection import first
from tests.virtual_time import VirtualTimeLoop, now
from toolgen.engines import (
    Activity,
    ActivityFailed,
    ActivityInfo,
    CallOptions,
    InProcessEngine,
    Loop,
    RunContext,
)
from toolgen.engines.in_process.live_run import AT_ONCE, Turnstile

from .toys import Toys, call, play

Arguments = TypeVarTuple("Arguments")

MANY = 2_000


class Turns:
    """Counts the turns of the event loop from now on."""

    def __init__(self) -> None:
        self.count = -1
        self._next()

    def _next(self) -> None:
        self.count += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def stop(self) -> None:
        self._handle.cancel()


class SlowTimersLoop(VirtualTimeLoop):
    """Setting a timer takes a moment, so that no two are set at one time."""

    def call_at(
        self,
        when: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = super().call_at(when, callback, *args, context=context)
        self.put_forward(0.01)
        return timer


async def parts(ctx: RunContext, many: int) -> Any:
    """Start one activity in each of so many parts of the loop."""

    async def part(number: int) -> Any:
        await ctx.publish(f"start:{number}", {"type": "start", "number": number})
        return await ctx.start(f"tool:{number}", "tool", number)

    return await ctx.gather(*(part(number) for number in range(many)))


async def operations(ctx: RunContext, many: int) -> Any:
    """Start so many activities in one step of the loop."""
    return await ctx.gather(*(ctx.start(f"tool:{number}", "tool", number) for number in range(many)))


@asynccontextmanager
async def started(
    tool: Activity, told: list[str] | None = None, loop: Loop = operations
) -> AsyncIterator[InProcessEngine]:
    """Yield an engine in memory with the loops above; `told` gets the types of the events of runs."""
    engine = InProcessEngine(clock=now)

    def tell(run_id: str, loop: str, seq: int, event: Any) -> None:
        if told is not None:
            told.append(event["type"])

    engine.register(
        loops={"parts": parts, "operations": operations, "loop": loop},
        activities={"tool": tool},
        on_event=tell,
    )
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("loop", first(["parts", "operations"]))
async def test_a_small_run_goes_on_beside_thousands_of_activities(loop: str) -> None:
    begun: list[tuple[int, int]] = []
    first = asyncio.Event()
    turns = Turns()

    async def tool(info: ActivityInfo, number: int) -> int:
        if info.run_id == "large":
            begun.append((turns.count, number))
            first.set()
        return number

    async with started(tool) as engine:
        await engine.start_run(loop, MANY, run_id="large")
        await first.wait()
        began, before = turns.count, len(begun)
        await engine.start_run("parts", 3, run_id="small")
        assert (await engine.result("small")).output == [0, 1, 2]
        took = turns.count - began
        assert took < 20
        assert len(begun) - before <= took + AT_ONCE
        assert (await engine.result("large")).output == list(range(MANY))
    turns.stop()
    assert [number for _, number in begun] == list(range(MANY))
    assert max(Counter(turn for turn, _ in begun).values()) == AT_ONCE


async def test_all_parts_of_a_loop_have_begun_before_an_activity_does() -> None:
    told: list[str] = []

    async def tool(info: ActivityInfo, number: int) -> int:
        told.append("activity")
        return number

    async with started(tool, told) as engine:
        await engine.start_run("parts", 100, run_id="r")
        assert (await engine.result("r")).output == list(range(100))
    assert told[:100] == ["start"] * 100
    assert told.count("activity") == 100


async def test_the_time_of_an_activity_passes_while_it_waits_to_begin() -> None:
    begun: list[int] = []

    async def loop(ctx: RunContext, many: int) -> Any:
        options = CallOptions(attempts=1, timeout=10, once=True)
        started = [ctx.start(f"tool:{number}", "tool", number, options) for number in range(many)]
        return [_kind(one) for one in await ctx.gather(*started)]

    async def tool(info: ActivityInfo, number: int) -> str:
        event_loop = asyncio.get_running_loop()
        assert isinstance(event_loop, VirtualTimeLoop)
        begun.append(number)
        if number == AT_ONCE - 1:
            event_loop.put_forward(10)  # as tools that block the loop do
        return "done"

    async with started(tool, loop=loop) as engine:
        await engine.start_run("loop", 100, run_id="r")
        output = (await engine.result("r")).output
    assert output == ["done"] * AT_ONCE + ["timeout"] * (100 - AT_ONCE)
    assert begun == list(range(AT_ONCE))


def test_what_is_started_at_one_time_ends_at_one_time() -> None:
    """Else the first that is cut off makes room for the next, which begins only to be cut off too."""
    begun: list[int] = []
    room = asyncio.Lock()

    async def loop(ctx: RunContext, many: int) -> Any:
        options = CallOptions(attempts=1, timeout=10, once=True)
        started = [ctx.start(f"tool:{number}", "tool", number, options) for number in range(many)]
        return [_kind(one) for one in await ctx.gather(*started)]

    async def tool(info: ActivityInfo, number: int) -> None:
        async with room:
            await info.begun()
            begun.append(number)
            await asyncio.Event().wait()

    async def output() -> Any:
        async with started(tool, loop=loop) as engine:
            await engine.start_run("loop", 3 * AT_ONCE, run_id="r")
            return (await engine.result("r")).output

    with asyncio.Runner(loop_factory=SlowTimersLoop) as runner:
        assert runner.run(output()) == ["outcome_unknown"] + ["timeout"] * (3 * AT_ONCE - 1)
    assert begun == [0]


async def test_what_waits_to_begin_when_its_run_is_canceled_never_begins(toys: Toys) -> None:
    engine = InProcessEngine(clock=now)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"calls": [call(f"c{number}") for number in range(100)]}], run_id="r")
    await toys.has("start", "c0")
    before = toys.counts("start")
    await engine.cancel("r")
    assert (await engine.result("r")).state == "canceled"
    for _ in range(50):
        await asyncio.sleep(0)
    assert toys.counts("start") == before
    assert before.total() < 100
    await engine.close()


async def test_what_waits_to_begin_while_its_engine_is_drained_begins_in_the_next_one(toys: Toys) -> None:
    engine = InProcessEngine(clock=now)
    engine.register(loops=toys.loops(), activities=toys.activities())
    await engine.start()
    await play(engine, [{"calls": [call(f"c{number}") for number in range(100)]}], run_id="r")
    await toys.has("start", "c0")
    assert await engine.drain(30)
    assert toys.counts("start").total() == toys.counts("end").total() < 100
    await engine.close()
    await engine.start()
    assert (await engine.result("r")).state == "completed"
    assert set(toys.counts("start").values()) == {1}
    await engine.close()


async def test_a_run_is_not_parked_before_all_parts_of_its_loop_have_begun() -> None:
    last = 50 * AT_ONCE

    async def loop(ctx: RunContext, given: Any) -> Any:
        async def part(number: int) -> None:
            if number in (0, last):
                await ctx.wait(f"wait:{number}", f"go:{number}", about={"number": number})

        return await ctx.gather(*(part(number) for number in range(last + 1)))

    engine = InProcessEngine(clock=now)
    engine.register(loops={"loop": loop}, activities={})
    await engine.start()
    await engine.start_run("loop", None, run_id="r")
    assert [wait.about for wait in (await engine.settled("r")).awaiting] == [{"number": 0}, {"number": last}]
    await engine.close()


async def test_nobody_waits_for_those_that_were_cancelled_before_they_began() -> None:
    turnstile = Turnstile()
    assert [turnstile.pass_at_once() for _ in range(AT_ONCE + 1)] == [True] * AT_ONCE + [False]
    waiting = [asyncio.ensure_future(turnstile.wait(None)) for _ in range(3 * AT_ONCE)]
    await asyncio.sleep(0)
    for task in waiting[: 2 * AT_ONCE]:
        task.cancel()
    await asyncio.wait(waiting)
    assert [task.cancelled() for task in waiting] == [True] * 2 * AT_ONCE + [False] * AT_ONCE


def _kind(got: Any) -> Any:
    return got.kind if isinstance(got, ActivityFailed) else got
