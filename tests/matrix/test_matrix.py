"""The cells of the matrix whose doors are toolgen's own, with runs in memory; no cell is left out.

`make test` runs each outcome and each kind of tool at each door, `make conformance` a part of the rest,
and `make lab` all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.selection import covering

from .cells import CELLS, Cell, facts
from .checking import check
from .doors import COMMANDS, OWN
from .impossible import IMPOSSIBLE, Impossible, possible
from .world import World


@pytest.mark.exhaustive
@pytest.mark.parametrize("cell", covering(possible(OWN, "memory"), facts), ids=str)
async def test_cell(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), OWN[cell.door])


@pytest.mark.exhaustive
@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("cell", possible(COMMANDS, "memory"), ids=str)
async def test_cell_of_a_command(cell: Cell, tmp_path: Path) -> None:
    await check(World(cell, tmp_path), COMMANDS[cell.door])


TOLD = [(cell, one) for one in IMPOSSIBLE for cell in CELLS if one.told and one.has(cell)]


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize(
    ("cell", "row"),
    covering(TOLD, lambda one: (id(one[1]),)),
    ids=lambda one: str(one) if isinstance(one, Cell) else "",
)
async def test_who_calls_is_told_why_a_cell_cannot_be(cell: Cell, row: Impossible, tmp_path: Path) -> None:
    async with {**OWN, **COMMANDS}[cell.door](World(cell, tmp_path)) as door:
        seen = await door.call()
    assert row.told in seen.text + seen.question


def test_every_cell_is_run_or_says_why_it_is_not() -> None:
    doors = {*OWN, *COMMANDS}
    assert [str(cell) for cell in CELLS if cell.door not in doors] == []
    assert len(set(map(str, CELLS))) == len(CELLS) == 9 * 4 * 7 * 2


def test_every_reason_is_of_some_cell_and_every_cell_has_one_at_most() -> None:
    assert [one.why for one in IMPOSSIBLE if not any(map(one.has, CELLS))] == []
    assert [str(cell) for cell in CELLS if sum(one.has(cell) for one in IMPOSSIBLE) > 1] == []
