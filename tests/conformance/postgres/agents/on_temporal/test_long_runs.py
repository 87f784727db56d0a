"""A run whose history grows long comes to its end by itself, before the server terminates it."""

from __future__ import annotations

from typing import cast

import pytest

from tests.agents import tools
from tests.agents.tools import agent, calling, running
from toolgen.agents import CallTools, PlanInput, ScriptedPlanner, agents_of
from toolgen.engines.temporal import TemporalEngine, context

SUM = ("add", {"a": 1, "b": 2})


def plan(given: PlanInput) -> CallTools | str:
    return given.closing or calling(SUM, SUM)


@pytest.mark.parametrize(("limit", "value"), [("_MANY_EVENTS", 100), ("_MANY_BYTES", 40_000)])
async def test_it_ends_at_half_of_what_the_server_keeps(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(context, limit, value)
    engine = cast("TemporalEngine", tools.new_engine())  # of the folder
    async with running(agent("x.agent", ScriptedPlanner([plan] * 100)), engine=engine) as (runtime, _):  # type: ignore[arg-type]
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        output = await handle.result()
        assert (output.status, output.stop, output.text) == ("completed", "step_cap", "step_cap")
        assert 2 < output.tool_calls < 40
        await engine.replay(handle.run_id)
