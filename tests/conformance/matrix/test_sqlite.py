"""The cells of the matrix whose doors are toolgen's own, with runs and sessions in files of SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.cells import Cell, facts
from tests.matrix.checking import check
from tests.matrix.doors import COMMANDS, OWN
from tests.matrix.impossible import possible
from tests.matrix.world import World
from tests.selection import covering


@pytest.mark.parametrize("cell", covering(possible(OWN, "SQLite"), facts), ids=str)
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), OWN[cell.door])


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("cell", covering(possible(COMMANDS, "SQLite"), facts), ids=str)
async def test_cell_of_a_command(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), COMMANDS[cell.door])
