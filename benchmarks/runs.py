"""What the run of an agent costs: `python -m benchmarks.runs`.

A run plans three times with three calls each, and once more to answer; twenty run at once. Beside it, in the
same process, the same nine calls without an agent, and the same steps on the engine alone: activities that
return at once, three calls and one event a round (the loop of the engine's prototype). Each is measured with
the runs in memory and in a file, in turns, since one machine is not the same from minute to minute.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    RunContext,
    ScriptedPlanner,
    agents_of,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, StaticToolset, ToolCall
from toolgen.runtime.toolsets.functions import func_tool

ROUNDS: Final = 3
CALLS: Final = 3
AT_ONCE: Final = 20
RUNS: Final = 400
KINDS: Final = ("memory", "NORMAL", "FULL")
"""Where the runs are, and what those in a file survive."""


async def count(upto: int) -> int:
    """Count.

    Args:
        upto: The last number.
    """
    return upto


TOOL: Final = func_tool(count)
TOOLSET: Final = StaticToolset(name="local.functions", bound=(TOOL,))


def main() -> None:
    """Print runs a second, and what they are of each other."""
    whole, alone = dict.fromkeys(KINDS, 0.0), dict.fromkeys(KINDS, 0.0)
    with TemporaryDirectory() as folder:
        for number, kind in product(range(ROUNDS), KINDS):
            path = Path(folder) / f"{number}{kind}"
            whole[kind] = max(whole[kind], asyncio.run(_agents(_new(kind, path.with_suffix(".whole")))))
            alone[kind] = max(alone[kind], asyncio.run(_engine(_new(kind, path.with_suffix(".alone")))))
    calls = asyncio.run(_calls())
    for kind in KINDS:
        share = whole[kind] / whole["memory"], alone[kind] / alone["memory"]
        print(f"whole runs of an agent, {kind:7}{whole[kind]:8.0f} /s   {share[0]:.2f} of those in memory")
        print(f"the engine alone, {kind:13}{alone[kind]:8.0f} /s   {share[1]:.2f} of those in memory")
    print(f"its nine calls alone           {calls:8.0f} /s   a whole run costs {calls / whole['memory']:.1f}")


def _new(kind: str, path: Path) -> InProcessEngine:
    match kind:
        case "memory":
            return InProcessEngine()
        case "NORMAL":
            return InProcessEngine(path, synchronous="NORMAL")
        case _:
            return InProcessEngine(path, synchronous="FULL")


async def _agents(engine: InProcessEngine) -> float:
    step = CallTools(calls=tuple(PlannedCall.of("count", {"upto": n}) for n in range(CALLS)))
    runtime = Runtime(engine=engine)
    spec = AgentSpec(
        id="bench.agent", description="Counts.", tools=(AgentTool(id=TOOL.spec.id, name="count"),)
    )
    planner = ScriptedPlanner([*[step] * ROUNDS, "done"])
    agents_of(runtime).register(AgentRegistration(spec=spec, planner=planner, toolsets=(TOOLSET,), format=1))
    async with runtime:
        client = agents_of(runtime).client(spec.id)

        async def run() -> None:
            assert (await client.one_shot("count")).text == "done"

        return await _rate(run)


async def _calls() -> float:
    runtime = Runtime()
    runtime.register(TOOLSET)
    calls = [
        ToolCall(tool=TOOL.spec.id, payload_json=b'{"upto":1}', meta=CallMeta(tool_call_id=str(n)))
        for n in range(CALLS)
    ]

    async def run() -> None:
        for _ in range(ROUNDS):
            assert all(result.status == "ok" for result in await runtime.call_all(calls))

    return await _rate(run)


async def _engine(engine: InProcessEngine) -> float:
    async def loop(ctx: RunContext, given: Any) -> Any:
        for number in range(ROUNDS):
            await ctx.start(f"plan:{number}", "plan", {})
            await ctx.gather(*(ctx.start(f"tool:{number}:{n}", "tool", {"n": n}) for n in range(CALLS)))
            await ctx.publish(f"round:{number}", {"type": "round"})
        return given

    async def activity(info: Any, given: Any) -> Any:
        return given

    engine.register(loops={"bench": loop}, activities={"plan": activity, "tool": activity})
    await engine.start()
    number = 0

    async def run() -> None:
        nonlocal number
        number += 1
        run_id = f"run-{number}"
        await engine.start_run("bench", {}, run_id=run_id)
        await engine.result(run_id)

    rate = await _rate(run)
    await engine.close()
    return rate


async def _rate(run: Callable[[], Awaitable[None]]) -> float:
    """Return runs a second, the best of three measurements after one to warm up."""

    async def several(count: int) -> None:
        for _ in range(count):
            await run()

    best = 0.0
    for _ in range(4):
        started = time.perf_counter()
        await asyncio.gather(*(several(RUNS // AT_ONCE) for _ in range(AT_ONCE)))
        best = max(best, RUNS / (time.perf_counter() - started))
    return best


if __name__ == "__main__":
    main()
