"""What a turn, a round of a run and a look at a run cost by their number: `python -m benchmarks.turns`.

The agent has the devices of the example. A turn of a session plans, calls a tool once and answers, under
`History(keep_turns=10)`; a round of a run is a planning and one call; a look is the status of a run that
waits, after few calls and after many. All are measured in one process, in CPU time, with the runs and
their conversations in memory and in files that are synced as `NORMAL` and `FULL` say: what counts are the
ratios.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Final, Literal

from gen.assistant.toolsets import devices
from gen.types import Device
from toolgen.agents import (
    AgentClient,
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    Await,
    CallTools,
    FinalResponse,
    History,
    PlanInput,
    PlannedCall,
    PlanResult,
    RunPolicy,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolsetRegistration
from toolgen.runtime.testing import RecordingExecutor

MODES: Final[tuple[Literal["NORMAL", "FULL"], ...]] = ("NORMAL", "FULL")
TURNS: Final = (10, 100, 1000)
ROUNDS: Final = (10, 100, 999)
CALLS: Final = (5, 500)
"""Of a run whose status is asked for."""
EARLIER: Final = 300
"""Turns before the one of a conversation that has no window."""
WINDOW: Final = 30
"""Turns of each session, and looks at each run, whose median is taken."""
CALL: Final = CallTools(calls=(PlannedCall.of("list_devices", {"site_id": "harbour"}),))
FOUND: Final = [
    Device(
        id=f"h{number}",
        name=f"Ceiling lamp {number}",
        kind="light",
        room="Living room",
        manual="lumen-a19",
        status="online",
        last_seen=dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
    )
    for number in range(5)
]
Costs = dict[int, float]
"""Milliseconds of CPU, by number."""


class Rounds:
    """Calls a tool in each of its rounds; then it answers, or asks."""

    def __init__(self) -> None:
        self.rounds = 1
        self.asks = False

    async def plan_start(self, given: PlanInput) -> PlanResult:
        if given.step < self.rounds:
            return CALL
        return Await(kind="clarification", question="Which one?") if self.asks else FinalResponse(text="done")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        return await self.plan_start(given)


def main() -> None:
    """Print the costs in memory and in files, and what the last are of the first."""
    with tempfile.TemporaryDirectory() as folder:
        costs = {name: asyncio.run(_costs(engine)) for name, engine in _engines(Path(folder)).items()}
    for what, found in costs["memory"].items():
        for name in costs:
            _show(f"{what}, {name}", costs[name][what])
        for name in MODES:
            shares = (f"{found[number] / cost:.2f}" for number, cost in costs[name][what].items())
            print(f"  the rate of a file, {name}, is {', '.join(shares)} of memory's")


def _engines(folder: Path) -> dict[str, InProcessEngine]:
    engines = {"memory": InProcessEngine()}
    for mode in MODES:
        engines[mode] = InProcessEngine(folder / f"{mode}.db", synchronous=mode)
    return engines


def without_window() -> dict[str, float]:
    """Return the milliseconds of a turn after 300 others, all of which its planner gets."""
    with tempfile.TemporaryDirectory() as folder:
        engines = _engines(Path(folder))
        return {name: round(asyncio.run(_late_turn(engine)), 2) for name, engine in engines.items()}


async def _late_turn(engine: InProcessEngine) -> float:
    async with _served(engine, None) as (client, _):
        costs = [await _cost(client, "long") for _ in range(EARLIER + WINDOW)]
    return median(costs[-WINDOW:])


def _show(what: str, costs: Costs) -> None:
    found = "  ".join(f"{number}: {cost:7.3f} ms" for number, cost in costs.items())
    print(f"{what:24}  {found}   last is {costs[max(costs)] / costs[min(costs)]:.2f} of the first")


async def _costs(engine: InProcessEngine) -> dict[str, Costs]:
    async with _served(engine, History(keep_turns=10)) as (client, planner):
        return {
            "a turn": await _turns(client),
            "a round": await _rounds(client, planner),
            "a status": await _statuses(client, planner, engine),
        }


@asynccontextmanager
async def _served(
    engine: InProcessEngine, history: History | None
) -> AsyncIterator[tuple[AgentClient, Rounds]]:
    """Yield the client of an agent that is given so much of its conversations, and its planner."""
    runtime = Runtime(engine=engine)
    executor = RecordingExecutor(
        {"list_devices": devices.ListDevicesResult(devices=FOUND, returned=5, truncated=False)}
    )
    toolset = ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=executor)
    spec = AgentSpec(
        id="bench.agent",
        description="Answers questions about devices.",
        tools=tuple(AgentTool(id=one.id, name=one.name) for one in devices.SPECS),
        policy=RunPolicy(history=history),
    )
    planner = Rounds()
    agents = Agents(runtime)
    agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))
    async with runtime:
        yield agents.client(spec.id), planner


async def _turns(client: AgentClient) -> Costs:
    """Return the costs of a turn, by how many came before it.

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


async def _rounds(client: AgentClient, planner: Rounds) -> Costs:
    """Return the costs of each round of a run, by their number."""
    found = {}
    for rounds in ROUNDS:
        planner.rounds = rounds
        costs = [await _cost(client, f"rounds-{rounds}-{number}") for number in range(3)]
        found[rounds] = min(costs) / rounds
    return found


async def _statuses(client: AgentClient, planner: Rounds, engine: InProcessEngine) -> Costs:
    """Return the costs of the status of a run that waits, by how many calls it has made."""
    planner.asks, runs = True, {}
    for calls in CALLS:
        planner.rounds = calls
        output = await client.run("Count.", session_id=f"status-{calls}")
        assert output.status == "waiting"
        runs[calls] = output.run_id
    costs: dict[int, list[float]] = {calls: [] for calls in CALLS}
    for _ in range(WINDOW):
        for calls, run_id in runs.items():
            began = time.process_time()
            await engine.status(run_id)
            costs[calls].append((time.process_time() - began) * 1000)
    return {calls: median(found) for calls, found in costs.items()}


async def _cost(client: AgentClient, session_id: str) -> float:
    began = time.process_time()
    assert (await client.run("Which lights are on?", session_id=session_id)).text == "done"
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
