"""Processes of a project of functions without a design: progress is there while a generator still works."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.conftest import surroundings

MODULE = '''\
"""Exports of a household."""

from collections.abc import AsyncIterator, Generator
from pathlib import Path


def export(months: int, gate: str = "") -> Generator[str | float, None, dict[str, int]]:
    """Export months.

    Args:
        months: How many.
        gate: A pipe that is read in the middle.
    """
    for month in range(months):
        yield f"month {month + 1}"
        if gate:
            Path(gate).read_text()
    yield 1.0
    return {"months": months}


async def rows(to: int) -> AsyncIterator[int]:
    """Yield rows."""
    for number in range(to):
        yield number
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exports.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text('[tool.toolgen]\nfunctions = ["exports"]\n')
    return tmp_path


async def test_clients_of_mcp_are_told_of_progress(folder: Path) -> None:
    told: list[tuple[float | None, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((total, message))

    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolgen", "mcp", "serve"], env=surroundings(), cwd=folder
    )
    async with asyncio.timeout(60), Client(command) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(listed) == ["export", "rows"]
        assert listed["export"].input_schema["properties"]["months"]["description"] == "How many."
        exported = await client.call_tool("export", {"months": 2}, progress_callback=tell)
        counted = await client.call_tool("rows", {"to": 3})
    assert exported.structured_content == {"months": 2}
    assert counted.structured_content == [0, 1, 2]
    assert told == [(None, "month 1"), (None, "month 2"), (1.0, None)]


def test_progress_is_printed_while_the_call_lasts(folder: Path) -> None:
    gate = folder / "gate"
    os.mkfifo(gate)
    call = subprocess.Popen(
        [sys.executable, "-m", "toolgen", "call", "export", f'{{"months": 1, "gate": "{gate}"}}'],
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert call.stderr is not None
        assert call.stderr.readline() == "export: month 1\n"
        gate.write_text("go on")
        assert call.communicate() == ('{"months":1}\n', "export: 100%\n")
    finally:
        call.kill()
        call.communicate()
    assert call.returncode == 0
