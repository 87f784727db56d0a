"""The first hour of a newcomer, recorded: from an empty folder to a killed worker, with times."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uv
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from .test_init_projects import API

pytestmark = pytest.mark.costly

ROOT = Path(__file__).parents[2]
TOOL = """\
    d.Tool(
        "count_notes",
        "Count the notes.",
        d.Return(d.Attribute("count", d.Int, "How many.", required=True)),
        d.Annotations(read_only=True),
    ),
"""


class Model(BaseHTTPRequestHandler):
    """A model by a script: it counts the notes, and then says how many there are."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message: dict[str, Any] = {"role": "assistant", "content": "There is one note."}
        if request["messages"][-1]["role"] != "tool":
            call = {"id": "c1", "type": "function", "function": {"name": "count_notes", "arguments": "{}"}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        }
        data = json.dumps(answer).encode()
        if request.get("stream"):
            data = b"".join(_chunks(answer, message, reason))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _chunks(answer: dict[str, Any], message: dict[str, Any], reason: str) -> Iterator[bytes]:
    calls = [{"index": 0, **call} for call in message.get("tool_calls", [])]
    delta = {"role": "assistant", "content": message["content"], **({"tool_calls": calls} if calls else {})}
    head = {**answer, "object": "chat.completion.chunk"}
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
        yield f"data: {json.dumps({**head, 'choices': [{'index': 0, **choice}]})}\n\n".encode()
    yield b"data: [DONE]\n\n"


@dataclass(slots=True)
class Hour:
    """A person at a terminal, and what each step took."""

    folder: Path
    bin: Path
    took: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.took[name] = time.perf_counter() - began

    def environment(self) -> dict[str, str]:
        """Return variables with which the installed toolgen finds what it needs in this environment."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = f"{self.bin}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return ours | {"PATH": path, "PYTHONPATH": sysconfig.get_path("purelib")}

    def run(self, *command: str, typed: str = "", code: int = 0) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(), input=typed, capture_output=True, text=True
        )
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), "utf-8")


def waiting_call(said: str) -> str:
    return said.split("toolgen approve ")[1].split()[0]


def test_the_first_hour(tmp_path: Path) -> None:
    hour = Hour(tmp_path, tmp_path / "venv/bin")
    with hour.step("install the wheel"):
        build = "build --quiet --wheel --no-build-isolation --out-dir".split()
        subprocess.run([uv.find_uv_bin(), *build, tmp_path, "--python", sys.executable], cwd=ROOT, check=True)
        (wheel,) = tmp_path.glob("*.whl")
        hour.run(sys.executable, "-m", "venv", "--without-pip", "venv")
        python = str(hour.bin / "python")
        hour.run(uv.find_uv_bin(), "--quiet", "pip", "install", "--no-deps", "--python", python, str(wheel))
    toolgen = str(hour.bin / "toolgen")

    with hour.step("init with an agent"):
        hour.run(toolgen, "init", "notes", "--agent")
        hour.folder /= "notes"
    with hour.step("chat offline"):
        said = hour.run(toolgen, "chat", "clerk", "--session", "first", typed="List the notes.\n/quit\n")
        assert "→ list_notes" in said
        assert "Welcome" in said

    design = hour.folder / "notes/design.py"
    with hour.step("a mistake, and its repair"):
        edit(design, "\n)\n\nclerk = ", f"\n{TOOL.replace('required=True', 'requierd=True')})\n\nclerk = ")
        assert "hint: did you mean 'required'?" in hour.run(toolgen, "gen", code=2)
        edit(design, "requierd", "required")
    with hour.step("a tool of one's own"):
        assert "added: Notes.count_notes is not implemented" in hour.run(toolgen, "gen")
        file = hour.folder / "notes/executors/notebook/notes.py"
        head, _, _ = file.read_text("utf-8").partition("        raise NotImplementedError")
        query = 'self._database.execute("select count(*) from note").fetchone()'
        returned = f"        (count,) = {query}\n        return notes.CountNotesResult(count=count)\n"
        file.write_text(head + returned, "utf-8")
        assert hour.run(toolgen, "call", "count_notes").startswith('{"count":1}')

    with hour.step("a model by its URL"), serving() as url:
        said = hour.run(toolgen, "run", "clerk", "How many?", "--model", f"scripted@{url}/v1")
        assert "There is one note." in said
        assert "← count_notes: ok" in said

    add = 'add_note {"title": "Milk", "text": "Two litres."}'
    with hour.step("an approval"):
        call = waiting_call(hour.run(toolgen, "run", "clerk", add, code=3))
        assert '{"id":2}' in hour.run(toolgen, "approve", call, "--yes")
    with hour.step("a worker that is killed, and the run goes on"):
        worker = subprocess.Popen(
            [toolgen, "worker"],
            cwd=hour.folder,
            env=hour.environment(),
            stderr=subprocess.PIPE,
        )
        assert worker.stderr is not None
        assert any(b"worker: ready" in line for line in worker.stderr)
        call = waiting_call(hour.run(toolgen, "run", "clerk", add, code=3))
        worker.kill()
        worker.communicate()
        assert "waiting" in hour.run(toolgen, "runs", "list", "--status", "waiting")
        assert '{"id":3}' in hour.run(toolgen, "approve", call, "--yes")
    with hour.step("a desktop client by MCP"):
        settings = json.loads(hour.run(toolgen, "mcp", "serve", "--session", "s-1", "--print-config"))
        (server,) = settings["mcpServers"].values()
        assert "count_notes" in asyncio.run(listed_tools(server, hour.environment()))
    with hour.step("an API imported"):
        (hour.folder / "library.json").write_text(json.dumps(API), "utf-8")
        hour.run(toolgen, "init", "library", "--from", "openapi", "library.json")
        hour.folder /= "library"
        assert "find_books" in hour.run(toolgen, "tools", "list")
    shutil.rmtree(tmp_path / "venv")
    print("\n".join(f"{seconds:6.1f} s  {name}" for name, seconds in hour.took.items()))


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def listed_tools(server: dict[str, Any], environment: dict[str, str]) -> list[str]:
    """Return the tools that a desktop client finds, which starts the server by its settings."""
    started = StdioServerParameters(command=server["command"], args=server["args"], env=environment)
    async with stdio_client(started) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return [tool.name for tool in (await session.list_tools()).tools]
