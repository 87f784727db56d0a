"""Runs leave nothing that only a look for garbage finds, which would walk all that lives besides."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from tests.agents.tools import agent, calling, first_answer, running
from toolgen.agents import CallTools, FinalResponse, PlanInput, agents_of

ADD = calling(("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 1}))


class Calling:
    """Calls tools, then answers; keeps nothing of what it is asked."""

    async def plan_start(self, plan_input: PlanInput) -> CallTools | FinalResponse:
        return FinalResponse(text=first_answer(plan_input)) if plan_input.step else ADD

    plan_resume = plan_start


@pytest.mark.parametrize("session", ["", "s"], ids=["alone", "turn"])
async def test_a_run_leaves_no_cycle(session: str) -> None:
    async with running(agent("x.agent", Calling())) as (runtime, _):
        client = agents_of(runtime).client("x.agent")

        async def run() -> None:
            output = await (client.run("go", session_id=session) if session else client.one_shot("go"))
            assert output.text == "2"

        for _ in range(3):
            await run()
        assert await kinds_left(run) == []


async def kinds_left(run: Callable[[], Awaitable[None]]) -> list[str]:
    """Return the classes of the objects of toolgen that each of ten runs leaves in cycles."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(10):
            await run()
        gc.collect()
        kinds = Counter(type(each) for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    of_each = [kind for kind, count in kinds.items() if count >= 10]  # tests before may leave some
    return [kind.__qualname__ for kind in of_each if kind.__module__.partition(".")[0] == "toolgen"]
