"""The cells that fail now, each with the fault; a cell that passes again may not stay here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from .cells import Cell, DoorName, Kind, Outcome

HANGING: Final[frozenset[DoorName]] = frozenset()
"""Doors whose failing cells hang in real time."""
FAULTS: Final[Mapping[tuple[DoorName, Kind, Outcome], str]] = {}
"""What is wrong, by door, kind of tool and outcome."""


def fault_of(cell: Cell) -> str:
    """Return what is wrong with a cell; "" where nothing is."""
    return FAULTS.get((cell.door, cell.kind, cell.outcome), "")


def marked(cells: list[Cell]) -> list[Any]:
    """Return the cells for a test, those with a fault marked as such."""
    return [pytest.param(cell, id=str(cell), marks=_marks(cell)) for cell in cells]


def _marks(cell: Cell) -> list[pytest.MarkDecorator]:
    if not (fault := fault_of(cell)):
        return []
    return [pytest.mark.xfail(reason=fault, strict=True, run=cell.door not in HANGING)]
