"""A part of the matrix as in production: the doors whose runs and calls a Temporal server orders."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import pytest

from tests.agents import tools
from tests.matrix.cells import Cell, facts
from tests.matrix.checking import check
from tests.matrix.doors import OWN
from tests.matrix.impossible import possible
from tests.matrix.world import World
from tests.selection import covering
from toolgen.engines import Engine

DOORS: Final = ("direct", "run", "child run", "detached work")
KINDS: Final = ("dynamic", "agent's tool")
CELLS: Final = [cell for cell in possible(DOORS, "memory") if cell.kind in KINDS]


class OnTemporal(World):
    """A world whose runs are on the server of the folder, and whose sessions are in its database."""

    def engine(self) -> Engine:
        return cast("Engine", tools.new_engine())


@pytest.mark.parametrize(
    "cell", covering(CELLS, facts), ids=lambda cell: f"{cell.door}, {cell.kind}, {cell.outcome}"
)
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(OnTemporal(cell, tmp_path), OWN[cell.door])
