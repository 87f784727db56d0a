"""What one operation walks through: `python -m benchmarks.walks`.

Counted and not timed, so that two versions compare: the files, functions and calls of toolgen that the
interpreter enters in the second of two equal operations (by `sys.setprofile`, in the thread of the caller),
and the lines of these files, which somebody reads who wants to follow it. Only the import of a document is
the first of its process, for a command has no second: bodies of modules count there.
`benchmarks/sizes.txt` has the size of each package.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

import toolgen
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    Runtime,
    Scheduling,
    ToolCall,
    ToolContext,
    Verdict,
)
from toolgen.runtime.functions import func_tool, function_toolset

ROOT: Final = Path(toolgen.__file__).parent
ARGUMENTS: Final = b'{"a":1,"b":2}'
DOCUMENT: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1.0.0"},
    "servers": [{"url": "https://pets.example"}],
    "paths": {
        "/pets/{id}": {
            "get": {
                "operationId": "get_pet",
                "summary": "Get a pet.",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {
                    "200": {
                        "description": "The pet.",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
                                    "required": ["id", "name"],
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What was entered."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often, by file and function."""

    def line(self, name: str) -> str:
        """Return the row of an operation: files, functions, calls, and lines of these files."""
        files = {file for file, _ in self.calls}
        lines = sum(len((ROOT / file).read_text("utf-8").splitlines()) for file in files)
        return f"{name:40}{len(files):7}{len(self.calls):11}{self.calls.total():9,}{lines:9,}"


@contextlib.contextmanager
def walking() -> Iterator[Walk]:
    """Count what is entered, in this thread and in those that begin meanwhile."""
    walk, prefix = Walk(), f"{ROOT}/"

    def enter(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(prefix):
            walk.calls[code.co_filename.removeprefix(prefix), code.co_qualname] += 1

    gc.collect()  # what an earlier operation has left ends before this one, and not in it
    gc.disable()
    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        gc.enable()


async def second(operation: Callable[[], Awaitable[object]]) -> Walk:
    """Return what an operation walks through when it is not the first of its kind."""
    await operation()
    with walking() as walk:
        await operation()
    return walk


async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Passing(Hook):
    """Lets every call go on."""

    async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
        return Continue()


async def call(**host: Any) -> Walk:
    """Walk through one call."""
    runtime = Runtime(**host)
    runtime.tools.register(function_toolset("local.functions", [add]))
    return await second(lambda: runtime.call("add", ARGUMENTS))


async def function_tool() -> Walk:
    """Walk through the making of a tool of a typed function, of types that another one had."""

    async def operation() -> BoundTool:
        return func_tool(add)

    return await second(operation)


async def waiting_call(path: Path | None) -> Walk:
    """Walk through one call that waits for a person, and the answer."""
    runtime = Runtime(engine=InProcessEngine(path, synchronous="NORMAL"))
    runtime.tools.register(function_toolset("local.functions", [func_tool(add, confirm=ConfirmSpec())]))

    async def operation() -> None:
        asked = await runtime.call("add", ARGUMENTS, CallMeta(session_id="s"))
        assert asked.suspension is not None
        result = await runtime.suspensions.answer(asked.suspension.token, {"approved": True})
        assert result.status == "ok"

    async with runtime:
        return await second(operation)


async def agent_run(path: Path | None) -> Walk:
    """Walk through one run of an agent that calls a tool and answers."""
    runtime = Runtime(engine=InProcessEngine(path, synchronous="NORMAL"))
    agents = Agents(runtime)
    spec = AgentSpec(
        id="bench.agent", description="Adds.", tools=(AgentTool(id="local.functions.add", name="add"),)
    )
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("add", {"a": 1, "b": 2}),)), "3"])
    toolset = function_toolset("local.functions", [add])
    agents.register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))

    numbers = count()

    async def operation() -> None:
        handle = await agents.client(spec.id).start("Add.", session_id=f"s{next(numbers)}")
        assert (await handle.result()).text == "3"

    async with runtime:
        return await second(operation)


async def served_call() -> Walk:
    """Walk through one call of an MCP client, its server in the same process; the SDK does not count."""
    from mcp import Client

    from toolgen.adapters.mcp import server

    runtime = Runtime()
    runtime.tools.register(function_toolset("local.functions", [add]))
    async with runtime, Client(server(runtime).sdk) as client:
        await client.list_tools()
        return await second(lambda: client.call_tool("add", {"a": 1, "b": 2}))


def first_import() -> Walk:
    """Walk through the import of an OpenAPI document of one operation by its command."""
    from toolgen.cli.app import run

    with TemporaryDirectory() as folder:
        document = Path(folder, "api.json")
        document.write_text(json.dumps(DOCUMENT), "utf-8")
        out = Path(folder, "imported")
        out.mkdir()
        with contextlib.redirect_stdout(sys.stderr), walking() as walk:
            code = run(["import", "openapi", str(document), "--out", str(out)])
        assert code == 0
    return walk


def main() -> None:
    """Print a row for each operation."""
    if sys.argv[1:] == ["import"]:
        print(first_import().line("an import, OpenAPI, one operation"))
        return
    print(f"{'':40}{'files':>7}{'functions':>11}{'calls':>9}{'lines':>9}")
    print(asyncio.run(function_tool()).line("a tool of a function"))
    print(asyncio.run(call()).line("a call"))
    limited = call(scheduling=Scheduling(tool_timeout_s=5), hooks=[Passing()])
    print(asyncio.run(limited).line("a call with a hook and a time limit"))
    with TemporaryDirectory() as folder:
        for name, path in (("memory", None), ("SQLite", Path(folder, "runs.db"))):
            print(asyncio.run(waiting_call(path)).line(f"a call that waits, {name}"))
        for name, path in (("memory", None), ("SQLite", Path(folder, "agents.db"))):
            print(asyncio.run(agent_run(path)).line(f"a run with a tool, {name}"))
    print(asyncio.run(served_call()).line("a call by MCP, served in memory"), flush=True)
    command = [sys.executable, "-m", "benchmarks.walks", "import"]
    print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout, end="")


if __name__ == "__main__":
    main()
