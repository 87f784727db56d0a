"""A project whose agent keeps its runs in a file, for tests of commands, and the other processes of it."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from toolgen.engines import Engine
from toolgen.runtime import Runtime

from .agents.tools import engine_of
from .conftest import Done, ProjectFolder, forget
from .forked import run_forked, start_forked
from .process_output import PATIENCE_S, Output

_TIMES: Final = re.compile(r"  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, [\d.:]+ (?:s|min|h)(?: so far)?")
MAIN = '''\
"""An agent that calls the tools which it is told to."""

import asyncio
import os
from pathlib import Path

from toolgen.agents import (
    AgentRegistration, Agents, AgentSpec, AgentTool, CallTools, FinalResponse, PlannedCall, PlannerError,
    RunPolicy, agents_of,
)
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, ToolContext, ToolOutcome, ToolsetRegistration, Unfinished
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.calls.functions.tools import func_tool, function_toolset


def tell(line: str) -> None:
    with open("did", "a") as log:
        log.write(f"{line}\\n")
    say(line)


def say(line: str) -> None:
    """Write to stderr itself, for those who read it of this process."""
    os.write(2, f"{line}\\n".encode())


async def work(name: str) -> str:
    """Work until the gate of the name is open."""
    tell(f"begin {name}")
    while not Path(f"{name}.gate").exists():
        await asyncio.sleep(0.005)
    tell(f"end {name}")
    return f"{name} is done"


async def ask(name: str, ctx: ToolContext) -> str | Unfinished:
    """Ask who it is."""
    if not ctx.answer:
        return ToolOutcome.ask(f"Who is {name}?")
    tell(f"heard {ctx.answer} of {name}")
    return f"{name} is {ctx.answer}"


async def wipe(name: str) -> str:
    """Wipe a disk, once the gate of the name is open."""
    Path("wiper").write_text(str(os.getpid()))
    say(f"begin to wipe {name}")
    while not Path(f"{name}.gate").exists():
        await asyncio.sleep(0.005)
    tell(f"wiped {name}")
    return f"{name} is empty"


def obey(order: str) -> str:
    """Have the agent do something."""
    return order


class Obeying:
    """Calls `work a`, and answers when it has the result."""

    async def plan_start(self, given):
        tool, name = given.messages[-1].text.split(" ", 1)
        if tool == "fail":
            raise PlannerError(f"I cannot {name}")
        return CallTools(calls=(PlannedCall.of(tool, {"name": name}, id=f"call_{tool}"),))

    async def plan_resume(self, given):
        return FinalResponse(text=given.messages[-1].answers[0].text)


def engine():
    return InProcessEngine("runs.db")


def runtime() -> Runtime:
    made = Runtime(engine=engine())
    bound = [
        func_tool(work, toolset="x.tools", annotations={"idempotent": True}),
        func_tool(ask, toolset="x.tools"),
        func_tool(wipe, toolset="x.tools", confirm=ConfirmSpec(hint="Wipe {name}?")),
    ]
    tools = function_toolset("x.tools", bound)
    spec = AgentSpec(
        id="x.agent",
        description="The agent.",
        policy=RunPolicy(interrupts_allowed=True),
        tools=tuple(AgentTool(id=one.spec.id, name=one.spec.name) for one in bound),
    )
    agents = Agents(made, sessions=SqliteSessionStore("sessions.db"))
    agents.register(AgentRegistration(spec=spec, planner=Obeying(), toolsets=(tools,)))
    route = AgentRoute(agent="x.agent", prompts={"x.desk.obey": "{order}"})
    obeyed = func_tool(obey, toolset="x.desk").spec
    made.tools.register(ToolsetRegistration(name="x.desk", specs=[obeyed], executor=route))
    return made
'''
START = """\
import asyncio
import os
import sys
from pathlib import Path

from app.main import agents_of, runtime


async def start(*runs: str) -> None:
    made = runtime()
    await made.__aenter__()
    for run in runs:
        run_id, session, message = run.split(":")
        client = agents_of(made).client("x.agent")
        await client.start(message, run_id=run_id, session_id=session)
        while (await made.engine.status(run_id)).state == "running":
            if f"begin {message[5:]}" in Path("did").read_text().splitlines():
                break
            await asyncio.sleep(0.005)
    os._exit(0)


asyncio.run(start(*sys.argv[1:]))
"""
PAUSE = """\
import asyncio
import sys

from app.main import agents_of, runtime


async def pause(run_id: str, session: str) -> None:
    made = runtime()
    made.runs.run_as_client()
    async with made:
        await agents_of(made).client("x.agent").handle(run_id, session_id=session).pause()


asyncio.run(pause(*sys.argv[1:]))
"""
SERVE = """\
import asyncio

from app.main import runtime, say


async def serve() -> None:
    async with runtime():
        say("ready")
        await asyncio.Event().wait()


asyncio.run(serve())
"""


def write_runs(project: ProjectFolder) -> None:
    """Write an agent, what starts its runs and what serves them into the project."""
    project.write("app/main.py", MAIN)
    project.write("start.py", START)
    project.write("pause.py", PAUSE)
    project.write("serve.py", SERVE)
    project.write("did", "")


def start(project: ProjectFolder, *runs: str) -> None:
    """Start runs, `run:session:message` each, in a process that is killed once they wait or work."""
    assert Path.cwd() == project.path
    run_forked("start.py", *runs)


@asynccontextmanager
async def client_of(project: ProjectFolder) -> AsyncIterator[Runtime]:
    """Yield the runtime of the project, newly imported in this process, which executes none of its runs."""
    forget()
    if str(project.path) not in sys.path:
        sys.path.insert(0, str(project.path))
    made: Runtime = importlib.import_module("app.main").runtime()
    made.runs.run_as_client()
    async with made:
        yield made


def wait_until_over(project: ProjectFolder, *runs: str) -> None:
    """Return once runs are over that another process executes."""
    asyncio.run(_wait(project, lambda engine, run: engine.result(run), runs))


def wait_until_settled(project: ProjectFolder, *runs: str) -> None:
    """Return once runs are over, or wait for an answer, that another process executes."""
    asyncio.run(_wait(project, lambda engine, run: engine.settled(run), runs))


async def _wait(
    project: ProjectFolder, until: Callable[[Engine, str], Awaitable[object]], runs: Sequence[str]
) -> None:
    async with client_of(project) as made, asyncio.timeout(PATIENCE_S):
        for run in runs:
            await until(engine_of(made), run)


def listed_runs(project: ProjectFolder, *options: str) -> Done:
    """Return what `toolgen runs list` prints, without when the runs began and how long they took."""
    done = project.run("runs", "list", *options)
    return replace(done, out=_TIMES.sub("", done.out))


def did(project: ProjectFolder) -> list[str]:
    """Return what the tools have done, in whatever process."""
    return (project.path / "did").read_text("utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class Serving:
    """A process that executes the runs of a project."""

    process: BaseProcess
    output: Output


@contextmanager
def serving(project: ProjectFolder) -> Iterator[Serving]:
    """Have a process that executes the runs of the project, and kill it at last."""
    assert Path.cwd() == project.path
    pipe = project.path / "serve.out"
    os.mkfifo(pipe)
    process = start_forked(str(pipe), "serve.py")
    try:
        with pipe.open() as stream:
            output = Output(stream)
            output.has("ready")
            yield Serving(process, output)
            process.kill()
            output.to_its_end()
    finally:
        process.kill()
        process.join()
        pipe.unlink()
