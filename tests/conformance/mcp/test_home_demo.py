"""The demo of the example, `make demo-mcp`: a server by stdio, and what its client sees."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from examples.home import mcp_demo

ROOT = Path(__file__).parents[3]


async def test_the_demo_shows_a_server_and_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    async with asyncio.timeout(120):
        lines = [line async for line in mcp_demo.story(tmp_path / "home.db")]
    text = "\n".join(lines)
    assert "$.site_id is required and was left out" in text
    assert "read: 168 readings" in text
    assert "Mira is asked: Reset h09 to factory settings? Its settings are lost." in text
    assert 'result: {"minutes":4}' in text
    assert "the server says that its tools have changed" in text
    assert lines[-2:] == ["tools: …, rename_room", "the server has ended"]
