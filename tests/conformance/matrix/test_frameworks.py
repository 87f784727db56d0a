"""The cells of the matrix whose doors are agent frameworks, in real time: some use threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.matrix.cells import FRAMEWORKS, Cell, DoorName
from tests.matrix.checking import check
from tests.matrix.doors.door import Opening
from tests.matrix.impossible import possible
from tests.matrix.world import World
from tests.selection import volume

from .with_adk import adk
from .with_fastmcp import fastmcp
from .with_langchain import langchain
from .with_openai_agents import openai_agents
from .with_pydantic_ai import pydantic_ai

DOORS: Final[Mapping[DoorName, Opening]] = {
    "pydantic-ai": pydantic_ai,
    "LangChain": langchain,
    "OpenAI Agents": openai_agents,
    "ADK": adk,
    "FastMCP": fastmcp,
}


CELLS: Final = [*possible(DOORS, "memory"), *possible(DOORS, "SQLite")[:: volume(3, lab=1)]]
"""With runs in a file, in `make lab` all; else each third, which is each door, kind and outcome."""


@pytest.mark.volume
@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("cell", CELLS, ids=str)
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), DOORS[cell.door])


def test_all_frameworks_are_tried() -> None:
    assert tuple(DOORS) == FRAMEWORKS
    kept = [cell for cell in CELLS if cell.store == "SQLite"]
    every = possible(DOORS, "SQLite")
    assert {(cell.door, cell.outcome) for cell in kept} == {(cell.door, cell.outcome) for cell in every}
    assert {(cell.door, cell.kind) for cell in kept} == {(cell.door, cell.kind) for cell in every}
