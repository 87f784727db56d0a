"""The cells of the matrix whose doors are agent frameworks, in real time: some use threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.matrix.cells import FRAMEWORKS, Cell, DoorName, facts
from tests.matrix.checking import check
from tests.matrix.doors.door import Opening
from tests.matrix.impossible import possible
from tests.matrix.world import World
from tests.selection import covering

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


CELLS: Final = [
    *covering(possible(DOORS, "memory"), facts),
    *covering(possible(DOORS, "SQLite"), facts),
]


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("cell", CELLS, ids=str)
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), DOORS[cell.door])


def test_all_frameworks_are_tried() -> None:
    assert tuple(DOORS) == FRAMEWORKS
