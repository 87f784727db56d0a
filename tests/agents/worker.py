"""A process that executes one run in a session: `python -m tests.agents.worker FOLDER TOOL`.

The run calls the tool; the process prints where it settles and how it ends.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolgen.agents import Agents, ScriptedPlanner
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .tools import agent, calling, first_answer


async def work(folder: Path, tool: str) -> None:
    """Execute the run until it is over."""
    runtime = Runtime(engine=InProcessEngine(folder / "runs.db"))
    agents = Agents(runtime, sessions=SqliteSessionStore(folder / "sessions.db"))
    agents.register(agent("x.agent", ScriptedPlanner([calling(tool), first_answer])))
    async with runtime:
        handle = await agents.client("x.agent").start("Go.", session_id="s", run_id="r")
        async for event in handle.events():
            if event.type == "tool_start":
                print("working", flush=True)
        output = await handle.result()
        print(output.status, output.error, flush=True)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
