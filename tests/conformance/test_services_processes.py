"""Processes of a project without a runtime: a server of MCP, and a worker that executes what was approved."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.conftest import ProjectFolder, surroundings
from tests.service_projects import FUNCTIONS, ROOMS, SETTINGS, generate


async def test_a_server_of_mcp_needs_no_runtime(project: ProjectFolder) -> None:
    project.write("app/rooms.py", ROOMS)
    generate(project, FUNCTIONS)
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolgen", "mcp", "serve"],
        env=surroundings(),
        cwd=project.path,
    )
    async with asyncio.timeout(60):
        async with Client(command) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["book"]
            booked = await client.call_tool("book", {"room": "blue"})
    assert booked.structured_content == {"number": "blue-1"}


def test_a_worker_needs_no_runtime(project: ProjectFolder) -> None:
    project.write("app/rooms.py", ROOMS.replace("def book_room", "import os\n\n\ndef book_room"))
    rooms = project.path / "app/rooms.py"
    rooms.write_text(rooms.read_text().replace('f"{room}-1"', 'f"{room}-{os.getpid()}"'))
    confirmed = FUNCTIONS.replace("Args(ROOM),", "Args(ROOM), Confirm(),")
    generate(project, confirmed.replace("Args, ", "Args, Confirm, ", 1))
    project.write("pyproject.toml", f'{SETTINGS}runs = "runs.db"\n')
    assert project.run("call", "book", '{"room": "blue"}').code == 3
    waiting = project.run("approve").out.split()[0]
    worker = subprocess.Popen(
        [sys.executable, "-m", "toolgen", "worker"],
        cwd=project.path,
        env=surroundings(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stderr is not None
        for line in worker.stderr:
            if line.endswith("the worker: ready\n"):
                break
        done = project.run("approve", waiting, "--yes")
        assert (done.code, json.loads(done.out)) == (0, {"number": f"blue-{worker.pid}"}), done.err
    finally:
        worker.terminate()
        worker.communicate()
    assert worker.returncode == 0
