"""What runs of agents cost on Temporal: `python -m benchmarks.temporal_runs [RUNS]`.

The agent of the run is given two calls and their results of 200 and 2,000 bytes, then it answers; another
one waits for an approval in between. A run that waits is looked at after 5 calls and after 500. The server
is the development server, in memory; sessions are in PostgreSQL. The figures are those of one worker and one
client in this process, and of a busy machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from statistics import median
from typing import Final

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory

from examples.servers.postgres import find_binaries, running_server
from examples.servers.temporal import TemporalServer, find_cli
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
)
from toolgen.engines.temporal import TemporalEngine
from toolgen.engines.temporal.documents import LOG
from toolgen.engines.temporal.payloads import data_converter
from toolgen.runtime import ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset

AT_ONCE: Final = 20
CALLS: Final = (5, 500)
"""Of a run whose status is asked for, five in a round."""
LOOKS: Final = 20
_BILLED: Final = (
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EventType.EVENT_TYPE_TIMER_STARTED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
)
"""Events that Temporal Cloud counts as actions."""


def short(name: str) -> str:
    """Return a result of 200 bytes."""
    return name.ljust(200, ".")


def long(name: str) -> str:
    """Return a result of 2,000 bytes."""
    return name.ljust(2_000, ".")


def paid(name: str) -> str:
    """Return a result of 200 bytes, once a person has agreed."""
    return name.ljust(200, ".")


def _agents(runtime: Runtime, sessions: PostgresSessionStore) -> Agents:
    agents = Agents(runtime, sessions=sessions)
    calls = CallTools(calls=tuple(PlannedCall.of(name, {"name": "a"}) for name in ("short", "long")))
    asks = CallTools(calls=(PlannedCall.of("paid", {"name": "a"}),))
    round_ = CallTools(calls=(PlannedCall.of("short", {"name": "a"}),) * 5)
    looked = {f"Ask after {count}.": [*[round_] * (count // 5), asks] for count in CALLS}
    for id_, step in (("bench.plain", calls), ("bench.asks", asks)):
        name = f"{id_}.tools"
        tools = tuple(AgentTool(id=f"{name}.{tool}", name=tool) for tool in ("short", "long", "paid"))
        spec = AgentSpec(id=id_, description="Measured.", tools=tools)
        planner = ScriptedPlanner(by_message={"Go.": [step, "Done."], **looked})
        plain = [func_tool(function, toolset=name) for function in (short, long)]
        toolset = function_toolset(name, [*plain, func_tool(paid, toolset=name, confirm=ConfirmSpec())])
        agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))
    return agents


async def _run(agents: Agents, runtime: Runtime, id_: str, number: int) -> str:
    handle = await agents.client(id_).start("Go.", session_id=f"{id_}-{number}")
    while (output := await handle.settled()).status == "waiting":
        await handle.answer(output.awaiting[0], {"approved": True})
    assert output.status == "completed", output
    return handle.run_id


async def _measure(address: str, conninfo: str, runs: int) -> None:
    client = await Client.connect(address, data_converter=data_converter(None))
    async with Postgres(conninfo) as database:
        engine = TemporalEngine(address)
        runtime = Runtime(engine=engine, secret=b"0123456789abcdef" * 2)
        agents = _agents(runtime, PostgresSessionStore(database))
        async with runtime:
            for id_ in ("bench.plain", "bench.asks"):
                run_id = await _run(agents, runtime, id_, -1)
                began = time.monotonic()
                await _run(agents, runtime, id_, -2)
                alone = time.monotonic() - began
                gate = asyncio.Semaphore(AT_ONCE)

                async def one(number: int, id_: str = id_, gate: asyncio.Semaphore = gate) -> None:
                    async with gate:
                        await _run(agents, runtime, id_, number)

                began = time.monotonic()
                await asyncio.gather(*map(one, range(runs)))
                rate = runs / (time.monotonic() - began)
                _print(id_, await client.get_workflow_handle(run_id).fetch_history(), alone, rate)
            await _look(agents, engine)


async def _look(agents: Agents, engine: TemporalEngine) -> None:
    """Print how long the status of a run takes that waits, by how many calls it has made."""
    took: dict[int, list[float]] = {}
    for count in CALLS:
        output = await agents.client("bench.asks").run(f"Ask after {count}.", session_id=f"looked-{count}")
        assert output.status == "waiting", output
        for _ in range(LOOKS):
            began = time.monotonic()
            await engine.status(output.run_id)
            took.setdefault(count, []).append(time.monotonic() - began)
    few, many = (median(took[count]) * 1e3 for count in CALLS)
    print(f"status after {CALLS[0]} calls: {few:.1f} ms, after {CALLS[1]} {many / few:.1f} times as long")


def _print(id_: str, history: WorkflowHistory, alone: float, rate: float) -> None:
    kinds = Counter(event.event_type for event in history.events)
    size = sum(event.ByteSize() for event in history.events)
    billed = sum(kinds[kind] for kind in _BILLED)
    activities = kinds[EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED]
    scheduled = [event.activity_task_scheduled_event_attributes for event in history.events]
    log = [one.input.ByteSize() for one in scheduled if one.activity_type.name == LOG]
    print(
        f"{id_}: {len(history.events)} events, {size / 1e3:.1f} kB of history, {activities} activities "
        f"({len(log)} with {sum(log) / 1e3:.1f} kB of its log), "
        f"{billed} actions; alone {alone * 1e3:.0f} ms, {AT_ONCE} at once {rate:.1f} runs a second"
    )


def main() -> None:
    """Print the figures of both agents."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    cli, binaries = find_cli(), find_binaries()
    assert cli is not None, "the command temporal is needed"
    assert binaries is not None, "PostgreSQL is needed"
    server = TemporalServer(cli)
    server.start()
    try:
        with running_server(binaries) as postgres:
            asyncio.run(_measure(server.address, postgres.new_database(), runs))
    finally:
        server.kill()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
