"""A project whose runtime is a desk, for servers in processes of their own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from mcp.client.stdio import StdioServerParameters

ROOT: Final = Path(__file__).parents[4]
TOOLGEN: Final = str(Path(sys.executable).with_name("toolgen"))
_APP: Final = '''
import os
import subprocess

from tests.adapters.mcp.serving.desk import MIRA, Desk, desk_runtime
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ToolContext
from toolgen.calls.functions.tools import function_toolset

print("imported")
os.write(1, b"imported, past Python\\n")


def shout() -> str:
    """Print."""
    print("printed")
    os.write(1, b"printed, past Python\\n")
    subprocess.run(["echo", "printed by a child"], check=True)
    return "said"


async def requester(ctx: ToolContext) -> str:
    """Say for whom the call is."""
    return ctx.meta.requested_by


def runtime():
    print("made")
    made = desk_runtime(Desk(), engine=InProcessEngine(os.environ["DESK_RUNS"]))
    made.tools.register(function_toolset("desk.loud", [shout, requester]))
    return made


def verify(token):
    return CallMeta(session_id=f"of-{token}") if token in ("mira", "jonas") else None
'''


def write_project(folder: Path) -> None:
    """Write the project into a folder."""
    settings = '[tool.toolgen]\ndesign = "nothing"\nruntime = "desk_app:runtime"\n'
    (folder / "pyproject.toml").write_text(settings)
    (folder / "desk_app.py").write_text(_APP)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of its commands."""
    return {"PYTHONPATH": str(ROOT), "DESK_RUNS": str(folder / "runs.db"), "PATH": "/usr/bin:/bin"}


def serve(folder: Path, *options: str) -> list[str]:
    """Return the command that serves the project."""
    return [TOOLGEN, "mcp", "serve", "--config", str(folder / "pyproject.toml"), *options]


def by_stdio(folder: Path, *options: str) -> StdioServerParameters:
    """Return how a client starts the server."""
    command, *args = serve(folder, *options)
    return StdioServerParameters(command=command, args=args, env=environment(folder))


@asynccontextmanager
async def http_process(folder: Path, *options: str) -> AsyncIterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server in a process of its own, and yield its URL."""
    write_project(folder)
    command = serve(folder, "--http", "127.0.0.1:0", *options)
    made = subprocess.Popen(  # noqa: ASYNC220  # its pipe is read in a thread
        command, env=environment(folder), stderr=subprocess.PIPE, text=True
    )
    assert made.stderr is not None
    try:
        line = ""
        while not line.startswith("serving "):
            line = await asyncio.to_thread(made.stderr.readline)
            assert line, "the server has ended"
        yield line.split()[1], made
    finally:
        made.kill()
        made.communicate()
