"""Servers of MCP in processes of their own: over HTTP, how they end, and what is refused."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from tests.adapters.mcp.serving.desk import ERAS
from tests.adapters.mcp.serving.people import Person, accept
from tests.adapters.mcp.serving.project import (
    TOOLGEN,
    by_stdio,
    environment,
    http_process,
    serve,
    write_project,
)
from tests.conformance.mcp.test_stdio import open_session, stdio_process
from tests.conftest import ProjectFolder
from tests.peers.hostile_client import MESSAGES

pytestmark = pytest.mark.costly


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_uses_a_process_and_the_process_ends(era: str, tmp_path: Path) -> None:
    mira = Person(accept(approved=True))
    async with asyncio.timeout(60), http_process(tmp_path, "--approvals", "elicitation") as (url, server):
        async with Client(url, mode=era, elicitation_callback=mira) as client:
            assert (await client.call_tool("count", {})).content == [types.TextContent(type="text", text="3")]
            told: list[float] = []

            async def keep(progress: float, total: float | None, message: str | None) -> None:
                told.append(progress)

            await client.call_tool("walk", {}, progress_callback=keep)
            assert told == [0.25, 0.250001, 1.0]
            burned = await client.call_tool("burn", {"id": "p1"})
            assert not burned.is_error
        server.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.wait) == 0


async def test_a_call_ends_before_the_process_does(tmp_path: Path) -> None:
    """A person answers after the process was asked to end; the stream that listens is ended."""
    has_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def hesitate(context: Any, params: Any) -> types.ElicitResult:
        has_asked.set()
        await may_answer.wait()
        return accept(approved=True)

    async with (
        asyncio.timeout(60),
        http_process(tmp_path, "--approvals", "elicitation") as (url, server),
        Client(url, mode="legacy", elicitation_callback=hesitate) as client,
    ):
        await client.list_tools()  # else it lists them after the result, from a server that has ended
        call = asyncio.create_task(client.call_tool("burn", {"id": "p1"}))
        await has_asked.wait()
        server.send_signal(signal.SIGTERM)
        is_refused = False
        while not is_refused:  # the signal is on its way
            try:
                await client.call_tool("count", {})
            except MCPError:
                is_refused = True
        may_answer.set()
        assert not (await call).is_error
        assert await asyncio.to_thread(server.wait) == 0


async def test_the_client_of_the_sdk_sends_its_token(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(60),
        http_process(tmp_path, "--verify", "desk_app:verify") as (url, _),
        httpx2.AsyncClient(headers={"authorization": "Bearer mira"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        assert not (await client.call_tool("count", {})).is_error


@pytest.mark.parametrize(
    ("options", "problem", "hint"),
    [
        (["--toolset", "desk.x"], "toolset 'desk.x' is not registered", "registered are desk.parcels"),
        (["--agent", "desk.x"], "agent 'desk.x' is not registered", "registered agents: none"),
        (
            ["--agent", "a.b", "--toolset", "desk.parcels"],
            "both a toolset and an agent are set",
            "one of them",
        ),
        (["--verify", "desk_app:verify"], "--verify and --host need --http", "Usage"),
        (["--http", "desk"], "--http 'desk' is not HOST:PORT", "write --http 127.0.0.1:8000"),
        (["--http", "0.0.0.0:0"], "0.0.0.0 is reachable from other machines", "--verify MODULE:FUNCTION"),
        (
            ["--http", "0.0.0.0:0", "--verify", "desk_app:verify"],
            "no host name is set under which clients reach 0.0.0.0",
            "--host tools.example.com",
        ),
        (["--http", "127.0.0.1:0", "--verify", "desk_app:no"], "is not a function", "module:function"),
    ],
)
def test_what_cannot_be_served_is_refused(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch, options: list[str], problem: str, hint: str
) -> None:
    write_project(project.path)
    monkeypatch.setenv("DESK_RUNS", environment(project.path)["DESK_RUNS"])
    done = project.run(*serve(project.path, *options)[1:])
    assert (done.code, done.out) == (2, "")
    assert problem in done.err
    assert hint in done.err


def test_a_session_that_tools_need_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.toolgen]\ndesign = "nothing"\nruntime = "home_app:runtime"\n'
    )
    app = "from pathlib import Path\nfrom examples.home import app\n\n\ndef runtime():\n"
    (tmp_path / "home_app.py").write_text(
        f"{app}    return app.runtime(Path({str(tmp_path / 'home.db')!r}))\n"
    )
    done = refused(tmp_path)
    assert "list_devices needs 'session_id', which no option sets\n  hint: add --session ID" in done.stderr


def test_without_its_extra_it_says_what_to_install(tmp_path: Path) -> None:
    write_project(tmp_path)
    code = "import sys; sys.modules['mcp'] = None; from toolgen.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *serve(tmp_path)[1:]]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "hint: pip install 'toolgen[mcp]'" in done.stderr


def refused(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a server that does not begin."""
    done = subprocess.run(
        serve(folder, *options),
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done


async def test_a_person_approves_beside_the_server(tmp_path: Path) -> None:
    """The server keeps the call in the file of its engine, and `toolgen approve` runs it."""
    write_project(tmp_path)
    command = by_stdio(tmp_path, "--session", "s-mira")
    async with asyncio.timeout(60), Client(command, mode="legacy") as client:
        asked = (await client.call_tool("burn", {"id": "p1"})).content[0]
        assert isinstance(asked, types.TextContent)
        waiting = json.loads(asked.text)["id"]
        config = ["--config", str(tmp_path / "pyproject.toml")]
        approve = [TOOLGEN, "approve", waiting, "--yes", "--by", "jo", *config]
        done = await asyncio.to_thread(
            subprocess.run, approve, env=environment(tmp_path), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == '"p1 is ash"'
        assert not (await client.call_tool("count", {})).is_error


def test_ctrl_c_ends_it_while_its_client_is_silent(tmp_path: Path) -> None:
    write_project(tmp_path)
    with stdio_process(tmp_path) as process:
        open_session(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_it_ends_when_its_client_no_longer_reads(tmp_path: Path) -> None:
    write_project(tmp_path)
    with stdio_process(tmp_path) as process:
        open_session(process)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}) + "\n")
        process.stdin.flush()
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()


def test_lines_that_are_no_requests_stop_nothing(tmp_path: Path) -> None:
    write_project(tmp_path)
    lines = ("garbage", "", "[]", "null", "{" * 3_000, '{"jsonrpc":"2.0","id":9,"method":5}', "x" * 300_000)
    with stdio_process(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(f"{line}\n" for line in lines)
        open_session(process)
        process.stdin.writelines(f"{line}\n" for line in lines)
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        process.communicate(timeout=60)


def test_what_a_hostile_client_sends_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    write_project(tmp_path)
    with stdio_process(tmp_path) as process:
        open_session(process)
        assert isinstance(process.stdin, TextIOWrapper)
        assert process.stdout is not None
        wire = process.stdin.buffer
        for attack in ("braces", "long_line", "depth"):
            wire.writelines([*MESSAGES[attack](), b"\n"])
        wire.writelines(message + b"\n" for message in islice(MESSAGES["calls_at_once"](), 101))
        wire.writelines([*MESSAGES["ping"](), b"\n"])
        wire.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(5)]
        process.kill()
    reasons = [answer["error"]["message"].partition(";")[0] for answer in answers if "error" in answer]
    assert reasons == [
        "the message has more than 11000 keys and items in all",
        "the message has more than 4194304 bytes of JSON",
        "the message has more than 72 arrays and objects inside one another",
        "too many concurrent calls (100 running)",
    ]
    assert {"jsonrpc": "2.0", "id": 1, "result": {}} in answers
