"""How long a run takes beside one that makes 20,000 calls at once: `python -m benchmarks.beside`.

The small run plans four times and makes three calls, as often as it can until the large one ends. What counts
are the ratios to the small run alone, in the time of the thread of the event loop, so that other processes
count for less; in a file, what SQLite's thread takes is not in it.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from toolgen.agents import (
    AgentClient,
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    RunPolicy,
    ScriptedPlanner,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, StaticToolset
from toolgen.runtime.functions import func_tool

CALLS: Final = 20_000
SMALL: Final = 3
ALONE: Final = 20
"""Small runs that are measured by themselves."""


async def count(upto: int) -> int:
    """Count.

    Args:
        upto: The last number.
    """
    return upto


TOOL: Final = func_tool(count)
TOOLSET: Final = StaticToolset(name="local.functions", bound=(TOOL,))


def main() -> None:
    """Print what a small run takes beside a large one, as times of what it takes alone."""
    with TemporaryDirectory() as folder:
        for name, path in (("memory", None), ("a file, FULL", Path(folder) / "runs.db")):
            asyncio.run(_compare(name, InProcessEngine(path)))


async def _compare(name: str, engine: InProcessEngine) -> None:
    runtime = Runtime(engine=engine)
    agents = Agents(runtime)
    batch = CallTools(calls=tuple(PlannedCall.of("count", {"upto": n}) for n in range(CALLS)))
    _register(agents, "bench.large", ScriptedPlanner([batch, "done"]), RunPolicy(max_tool_calls=CALLS))
    one = CallTools(calls=(PlannedCall.of("count", {"upto": 1}),))
    _register(agents, "bench.small", ScriptedPlanner([*[one] * SMALL, "done"]))
    async with runtime:
        small = agents.client("bench.small")
        alone = median([await _seconds(small) for _ in range(ALONE)])
        started = time.thread_time()
        large = asyncio.create_task(agents.client("bench.large").one_shot("count"))
        beside: list[float] = []
        while not large.done():
            beside.append(await _seconds(small))
        assert (await large).text == "done"
        whole = time.thread_time() - started
    print(f"in {name}: {CALLS:,} calls took {whole / alone:,.0f} times what a small run takes alone")
    print(
        f"  beside them {len(beside)} small runs took {median(beside) / alone:.0f} times that, "
        f"and the longest {max(beside) / alone:.0f} times"
    )


def _register(agents: Agents, id_: str, planner: ScriptedPlanner, policy: RunPolicy | None = None) -> None:
    tools = (AgentTool(id=TOOL.spec.id, name="count"),)
    spec = AgentSpec(id=id_, description="Counts.", tools=tools, policy=policy or RunPolicy())
    agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(TOOLSET,)))


async def _seconds(client: AgentClient) -> float:
    """Return the seconds of the thread that pass during one run."""
    started = time.thread_time()
    assert (await client.one_shot("count")).text == "done"
    return time.thread_time() - started


if __name__ == "__main__":
    main()
