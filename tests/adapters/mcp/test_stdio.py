"""`toolgen mcp serve` by stdio, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from mcp import Client, types

from .desk import ERAS
from .people import Person, accept
from .project import by_stdio, environment, serve, write_project


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_uses_a_process(era: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    mira = Person(accept(approved=True))
    command = by_stdio(tmp_path, "--session", "s-mira", "--approvals", "elicitation")
    async with asyncio.timeout(60):
        async with Client(command, mode=era, elicitation_callback=mira) as client:
            assert "weigh" in {tool.name for tool in (await client.list_tools()).tools}
            weighed = await client.call_tool("weigh", {"id": "p1"})
            assert weighed.structured_content == {"id": "p1", "weight": 1.5}
            loud = await client.call_tool("shout", {})
            burned = await client.call_tool("burn", {"id": "p1"})
    for result, text in ((loud, '"said"'), (burned, '"p1 is ash"')):
        assert isinstance(result.content[0], types.TextContent)
        assert result.content[0].text == text
    assert len(mira.asked) == 1


def test_stdout_holds_nothing_but_the_protocol(tmp_path: Path) -> None:
    write_project(tmp_path)
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "shout", "arguments": {}}},
    ]
    process = subprocess.Popen(
        serve(tmp_path),
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
