"""Direct calls of agents whose ends cannot be read for a moment: each has the result that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.asking_agents import META
from tests.agents.tools import agent, exported
from toolgen.agents import Agents, FinalResult, ScriptedPlanner
from toolgen.engines import InProcessEngine, RunStatus
from toolgen.runtime import Runtime
from toolgen.stores import StoreDiskError

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


class Away(InProcessEngine):
    """An engine whose disk fails when a call asks for its end for the first time."""

    is_away = True

    async def settled(self, run_id: str) -> RunStatus:
        status = await super().settled(run_id)
        if run_id.startswith("call_") and self.is_away:
            self.is_away = False
            raise StoreDiskError("cannot be read", path=Path("/host/runs.db"), hint="wait")
        return status


async def test_a_call_whose_end_cannot_be_read_for_a_moment_has_its_result() -> None:
    """It was told that its outcome is unknown, and the result was there."""
    engine = Away()
    runtime = Runtime(engine=engine)
    Agents(runtime).register(agent("x.low", ScriptedPlanner([FinalResult(result="done")])))
    runtime.tools.register(exported("x.lows", "x.low"))
    async with runtime:
        result = await runtime.call("look", {}, META)
    assert (result.status, result.json, engine.is_away) == ("ok", b'"done"', False)
