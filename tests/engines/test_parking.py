"""A run in this process counts as waiting when no part of its loop goes on, and not some moments later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolgen.engines import ActivityInfo, InProcessEngine, RunContext

from .conftest import Make


class Slow:
    """A loop one part of which waits, while others tell each other of their ends for long."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.begun = list[str]()
        self.states = list[str]()

    async def work(self, info: ActivityInfo, argument: Any) -> str:
        self.begun.append(info.op)
        await asyncio.sleep(1)
        return info.op

    async def nested(self, ctx: RunContext, given: Any) -> Any:
        """Gather within gather: each end takes some turns of the event loop."""

        async def wait() -> Any:
            signal = await ctx.wait("w", "go")
            return None if signal is None else signal.payload

        async def deep(depth: int) -> Any:
            if depth:
                return await ctx.gather(deep(depth - 1))
            return await ctx.start("first", "work", None)

        async def work() -> Any:
            await deep(self.depth)
            return await ctx.start("second", "work", None)

        return await ctx.gather(wait(), work())

    async def one_by_one(self, ctx: RunContext, given: Any) -> Any:
        """Let many parts in one after the other, of which each waits then."""
        turn = ctx.one_by_one()

        async def part(number: int) -> Any:
            async with turn:
                for again in range(2):
                    await ctx.start(f"work:{number}:{again}", "work", None)
            signal = await ctx.wait(f"w:{number}", "go")
            return None if signal is None else signal.payload

        return await ctx.gather(*(part(number) for number in range(self.depth)))


@pytest.fixture
def engine(make_engine: Make) -> InProcessEngine:
    return make_engine()


@pytest.mark.parametrize(("loop", "begun"), [("nested", 2), ("one_by_one", 40)])
async def test_a_run_waits_when_nothing_of_it_goes_on(engine: InProcessEngine, loop: str, begun: int) -> None:
    """However long its parts take to tell each other."""
    slow = Slow(20)
    engine.register(loops={loop: getattr(slow, loop)}, activities={"work": slow.work})
    await engine.start()
    await engine.start_run(loop, None, run_id="r")
    status = await engine.settled("r")
    assert (status.state, len(slow.begun)) == ("waiting", begun)
    await asyncio.sleep(60)
    assert len(slow.begun) == begun
    for number in range(20):
        await engine.signal("r", "go", number, signal_id=str(number))
    assert (await engine.result("r")).state == "completed"
    await engine.close()
