"""What a turn and a round of a run cost: `python -m benchmarks.turns`.

A turn of a session plans, calls a tool once and answers, under `History(keep_turns=10)`; a round of a run is
a planning and one call. Both are measured after few and after many, in one process, in CPU time; what counts
are the ratios. Sessions are in memory, then in a SQLite file.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from toolgen.agents import (
    AgentClient,
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    History,
    PlanInput,
    PlannedCall,
    PlanResult,
    RunPolicy,
    SessionStore,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.runtime import Runtime, StaticToolset
from toolgen.runtime.toolsets.functions import func_tool

TURNS: Final = (10, 100, 1000)
ROUNDS: Final = (10, 100, 999)
WINDOW: Final = 30
"""Turns of each session whose median is taken."""
CALL: Final = CallTools(calls=(PlannedCall.of("count", {"upto": 1}),))


async def count(upto: int) -> int:
    """Count.

    Args:
        upto: The last number.
    """
    return upto


TOOL: Final = func_tool(count)
TOOLSET: Final = StaticToolset(name="local.functions", bound=(TOOL,))


class Rounds:
    """Calls a tool in each of its rounds, and then answers."""

    def __init__(self) -> None:
        self.rounds = 1

    async def plan_start(self, given: PlanInput) -> PlanResult:
        return CALL if given.step < self.rounds else FinalResponse(text="done")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return await self.plan_start(given)


def main() -> None:
    """Print the costs in milliseconds of CPU, and what the last are of the first."""
    with tempfile.TemporaryDirectory() as folder:
        stores: dict[str, SessionStore] = {
            "memory": MemorySessionStore(),
            "SQLite": SqliteSessionStore(Path(folder) / "sessions.db"),
        }
        for name, store in stores.items():
            turns, rounds = asyncio.run(_costs(store))
            _show(f"{name}: a turn", turns)
            _show(f"{name}: a round", rounds)


def _show(what: str, costs: dict[int, float]) -> None:
    found = "  ".join(f"{number}: {cost:7.2f} ms" for number, cost in costs.items())
    first, last = costs[min(costs)], costs[max(costs)]
    print(f"{what:16}  {found}   last is {last / first:.2f} of the first")


async def _costs(store: SessionStore) -> tuple[dict[int, float], dict[int, float]]:
    runtime = Runtime()
    spec = AgentSpec(
        id="bench.agent",
        description="Counts.",
        tools=(AgentTool(id=TOOL.spec.id, name="count"),),
        policy=RunPolicy(history=History(keep_turns=10)),
    )
    planner = Rounds()
    agents = Agents(runtime, sessions=store)
    agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(TOOLSET,), format=1))
    async with runtime:
        client = agents.client(spec.id)
        turns = await _turns(client)
        return turns, await _rounds(client, planner)


async def _turns(client: AgentClient) -> dict[int, float]:
    """Return milliseconds of CPU of a turn, by how many came before it.

    Sessions of these lengths take turns alternately, so that what else the machine does costs each the same.
    """
    for number in TURNS:
        for _ in range(number):
            await _cost(client, f"turns-{number}")
    costs: dict[int, list[float]] = {number: [] for number in TURNS}
    for _ in range(WINDOW):
        for number, found in costs.items():
            found.append(await _cost(client, f"turns-{number}"))
    return {number: median(found) for number, found in costs.items()}


async def _rounds(client: AgentClient, planner: Rounds) -> dict[int, float]:
    """Return milliseconds of CPU of each round of a run, by their number."""
    found = {}
    for rounds in ROUNDS:
        planner.rounds = rounds
        costs = [await _cost(client, f"rounds-{rounds}-{number}") for number in range(3)]
        found[rounds] = min(costs) / rounds
    return found


async def _cost(client: AgentClient, session_id: str) -> float:
    began = time.process_time()
    assert (await client.run("Count.", session_id=session_id)).text == "done"
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
