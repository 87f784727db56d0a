"""What the run of an agent costs: `python -m benchmarks.runs`.

A run plans three times with three calls each, and once more to answer; a turn is such a run in a session of
its own, so that the conversation keeps the results of calls too. Beside it, in the same process, the
same nine calls without an agent, and the same steps on the engine alone: activities that return at once,
three calls and one event a round. Each is measured with the runs in memory and in a file, in turns, since
one machine is not the same from minute to minute. What runs cost that wait is in `benchmarks.parked`, what a
turn and a round cost by their number in `benchmarks.turns`, and what peers' runs cost in `benchmarks.report`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from toolgen.agents import (
    AgentClient,
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    FinalResponse,
    MemorySessionStore,
    PlanInput,
    PlannedCall,
    PlanResult,
    SessionStore,
    SqliteSessionStore,
)
from toolgen.cli.runtime import SERVER_THRESHOLD
from toolgen.engines import InProcessEngine, RunContext
from toolgen.runtime import CallMeta, Runtime, StaticToolset, ToolCall
from toolgen.runtime.functions import func_tool

from .peers.peer import AT_ONCE, CALLS, ROUNDS, costs_of

RUNS: Final = 200
REPEATS: Final = 7
FEW: Final = 5
"""Repeats of 1,000 runs at once."""
MANY: Final = (1, 20, 200, 2000)
"""Runs at once."""
KINDS: Final = ("memory", "NORMAL", "FULL", "NORMAL, sessions in memory", "NORMAL, sessions apart")
"""Where the runs are, and what those in a file survive; the conversations are there too unless it is said."""
ALONE: Final = KINDS[:3]


async def count(upto: int) -> int:
    """Count.

    Args:
        upto: The last number.
    """
    return upto


class Planner:
    """Plans the rounds, then answers; a `ScriptedPlanner` would keep all that it was asked."""

    def __init__(self) -> None:
        self._step = CallTools(calls=tuple(PlannedCall.of("count", {"upto": n}) for n in range(CALLS)))

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        return self._step if plan_input.step < ROUNDS else FinalResponse(text="done")

    plan_resume = plan_start


_SESSIONS: Final[dict[str, Callable[[Path], SessionStore]]] = {
    "NORMAL, sessions in memory": lambda _: MemorySessionStore(),
    "NORMAL, sessions apart": lambda path: SqliteSessionStore(f"{path}.sessions", synchronous="NORMAL"),
}
TOOL: Final = func_tool(count)
TOOLSET: Final = StaticToolset(name="local.functions", bound=(TOOL,))


@dataclass(slots=True)
class Rates:
    """What was measured of one thing."""

    seconds: list[float] = field(default_factory=list)
    """Of a run, by the clock."""
    cpu: list[float] = field(default_factory=list)
    """Of a run, of all threads."""

    def line(self, what: str, memory: Rates) -> str:
        """Return what was found, and what its rate is of that in memory.

        The share is that of the medians of the processor's time, where other processes count for less.
        """
        rate, cpu = 1 / min(self.seconds), median(self.cpu)
        return f"{what:44}{rate:7.0f} /s {cpu * 1000:8.2f} ms   {median(memory.cpu) / cpu:.2f} of memory"


def main() -> None:
    """Print runs a second at their best, the processor's time for one, and what they are of each other.

    With `--json` what `benchmarks.report` reads.
    """
    if sys.argv[1:] == ["--json"]:
        print(json.dumps({**asyncio.run(beside_peers()), "many": many()}))
        return
    whole: dict[str, Rates] = {kind: Rates() for kind in KINDS}
    turns: dict[str, Rates] = {kind: Rates() for kind in KINDS}
    alone: dict[str, Rates] = {kind: Rates() for kind in ALONE}
    crowds: dict[tuple[str, int], Rates] = {pair: Rates() for pair in product(("memory", "NORMAL"), MANY)}
    calls = Rates()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for repeat in range(REPEATS):
            for kind in KINDS:
                asyncio.run(_agents(kind, folder / f"{repeat}{kind}", AT_ONCE, RUNS, whole[kind]))
                path = folder / f"{repeat}{kind}.turns"
                asyncio.run(_agents(kind, path, AT_ONCE, RUNS, turns[kind], is_turn=True))
            for kind in ALONE:
                asyncio.run(_engine(_new(kind, folder / f"{repeat}{kind}.alone"), alone[kind]))
            asyncio.run(_calls(calls))
            for kind, at_once in crowds if repeat < 2 else ():
                path = folder / f"{repeat}{kind}{at_once}"
                asyncio.run(_agents(kind, path, at_once, max(at_once, RUNS // 2), crowds[kind, at_once]))
    for kind in KINDS:
        print(whole[kind].line(f"whole runs, {kind}", whole["memory"]))
    for kind in KINDS:
        print(turns[kind].line(f"turns, {kind}", turns["memory"]))
    for kind in ALONE:
        print(alone[kind].line(f"the engine alone, {kind}", alone["memory"]))
    for kind, at_once in crowds:
        print(crowds[kind, at_once].line(f"{at_once} whole runs at once, {kind}", crowds["memory", at_once]))
    times = median(whole["memory"].cpu) / median(calls.cpu)
    print(f"a whole run in memory costs what its nine calls cost {times:.0f} times")


def _new(kind: str, path: Path) -> InProcessEngine:
    match kind:
        case "memory":
            return InProcessEngine()
        case "FULL":
            return InProcessEngine(path, synchronous="FULL")
        case _:
            return InProcessEngine(path, synchronous="NORMAL")


async def beside_peers() -> dict[str, dict[str, float]]:
    """Return what a run costs as the runs of peers are measured, by what it survives."""
    costs = {}
    with TemporaryDirectory() as folder:
        for kind in ALONE:
            async with _client(kind, Path(folder, kind)) as client:

                async def run(client: AgentClient = client) -> str:
                    return (await client.one_shot("count")).text

                costs[kind] = await costs_of(run)
    return costs


def many() -> dict[str, float]:
    """Return what a run costs in memory, of 20 at once and of 1,000, as servers look for garbage.

    The process that measures is its own.
    """
    rates = {AT_ONCE: Rates(), 1_000: Rates()}
    gc.freeze()
    gc.set_threshold(*SERVER_THRESHOLD)
    for at_once in [*rates] * FEW:
        asyncio.run(_agents("memory", Path(), at_once, max(at_once, RUNS), rates[at_once]))
        gc.collect()
    return {f"{at_once:,} at once": round(median(rate.cpu) * 1000, 3) for at_once, rate in rates.items()}


async def _agents(
    kind: str, path: Path, at_once: int, runs: int, rates: Rates, *, is_turn: bool = False
) -> None:
    async with _client(kind, path) as client:
        numbers = count_from(1)

        async def run() -> None:
            if is_turn:
                output = await client.run("count", session_id=f"s{next(numbers)}")
            else:
                output = await client.one_shot("count")
            assert output.text == "done"

        await _measure(run, at_once, runs, rates)


@asynccontextmanager
async def _client(kind: str, path: Path) -> AsyncIterator[AgentClient]:
    runtime = Runtime(engine=_new(kind, path))
    spec = AgentSpec(
        id="bench.agent", description="Counts.", tools=(AgentTool(id=TOOL.spec.id, name="count"),)
    )
    place = _SESSIONS.get(kind)
    agents = Agents(runtime, sessions=None if place is None else place(path))
    agents.register(AgentRegistration(spec=spec, planner=Planner(), toolsets=(TOOLSET,)))
    async with runtime:
        yield agents.client(spec.id)


async def _calls(rates: Rates) -> None:
    runtime = Runtime()
    runtime.tools.register(TOOLSET)
    calls = [
        ToolCall(tool=TOOL.spec.id, payload_json=b'{"upto":1}', meta=CallMeta(tool_call_id=str(n)))
        for n in range(CALLS)
    ]

    async def run() -> None:
        for _ in range(ROUNDS):
            assert all(result.status == "ok" for result in await runtime.call_all(calls))

    await _measure(run, AT_ONCE, RUNS, rates)


async def _engine(engine: InProcessEngine, rates: Rates) -> None:
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

    await _measure(run, AT_ONCE, RUNS, rates)
    await engine.close()


async def _measure(run: Callable[[], Awaitable[None]], at_once: int, runs: int, rates: Rates) -> None:
    """Add what a run takes, after some to warm up."""

    async def several(count: int) -> None:
        for _ in range(count):
            await run()

    await several(5)
    count = max(1, runs // at_once)
    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(several(count) for _ in range(at_once)))
    rates.seconds.append((time.perf_counter() - started) / (count * at_once))
    rates.cpu.append((time.process_time() - cpu) / (count * at_once))


if __name__ == "__main__":
    main()
