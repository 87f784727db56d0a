"""The cells of the matrix whose doors are toolgen's own, with runs in memory; no cell is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cells import CELLS, FRAMEWORKS, Cell
from .checking import check
from .doors import COMMANDS, OWN
from .faults import marked
from .impossible import IMPOSSIBLE, possible
from .world import World


@pytest.mark.parametrize("cell", marked(possible(OWN, "memory")))
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), OWN[cell.door])


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("cell", marked(possible(COMMANDS, "memory")))
async def test_cell_of_a_command(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), COMMANDS[cell.door])


def test_every_cell_is_run_or_says_why_it_is_not() -> None:
    doors = {*OWN, *COMMANDS, *FRAMEWORKS}
    assert [str(cell) for cell in CELLS if cell.door not in doors] == []
    assert len(set(map(str, CELLS))) == len(CELLS) == 13 * 4 * 7 * 2


def test_every_reason_is_of_some_cell() -> None:
    assert [one.why for one in IMPOSSIBLE if not any(map(one.has, CELLS))] == []
