"""`toolgen mcp serve` by stdio, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from mcp import Client, types

from tests.adapters.mcp.serving.desk import ERAS
from tests.adapters.mcp.serving.people import Person, accept
from tests.adapters.mcp.serving.project import by_stdio, environment, serve, write_project

pytestmark = pytest.mark.costly

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_uses_astdio_process(era: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    head = {"format": 3, "design": "parcel_desk", "version": "2.1.0"}
    (tmp_path / "gen").mkdir()
    (tmp_path / "gen/tool_schemas.json").write_text(json.dumps({"catalog": head, "tools": []}))
    mira = Person(accept(approved=True))
    command = by_stdio(
        tmp_path, "--session", "s-mira", "--requested-by", "mira", "--approvals", "elicitation"
    )
    async with asyncio.timeout(60):
        async with Client(command, mode=era, elicitation_callback=mira) as client:
            assert client.server_info is not None
            named = client.server_info
            assert (named.name, named.title, named.version) == ("parcel_desk", "Parcel desk", "2.1.0")
            assert "weigh" in {tool.name for tool in (await client.list_tools()).tools}
            weighed = await client.call_tool("weigh", {"id": "p1"})
            assert weighed.structured_content == {"id": "p1", "weight": 1.5}
            person = await client.call_tool("requester", {})
            loud = await client.call_tool("shout", {})
            burned = await client.call_tool("burn", {"id": "p1"})
    for result, text in ((person, '"mira"'), (loud, '"said"'), (burned, '"p1 is ash"')):
        assert isinstance(result.content[0], types.TextContent)
        assert result.content[0].text == text
    assert len(mira.asked) == 1


def test_stdout_holds_nothing_but_the_protocol(tmp_path: Path) -> None:
    write_project(tmp_path)
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "shout", "arguments": {}}},
    ]
    process = stdio_process(tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, said = process.communicate(timeout=60)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert rest == ""
    assert process.returncode == 0
    printed = ("imported", "imported, past Python", "made", "printed", "printed, past Python")
    for text in (*printed, "printed by a child"):
        assert text in said.splitlines()


def test_a_signal_ends_it_while_its_client_is_silent(tmp_path: Path) -> None:
    write_project(tmp_path)
    with stdio_process(tmp_path) as process:
        open_session(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def stdio_process(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        serve(folder),
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def open_session(process: subprocess.Popen[str]) -> None:
    """Open the session of a client."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n"
    )
    process.stdin.flush()
    opened = json.loads(process.stdout.readline())
    named = {"name": "toolgen", "title": "Toolgen", "version": version("toolgen")}
    assert (opened["id"], opened["result"]["serverInfo"]) == (1, named)  # no catalog was generated
