"""The cells that fail now, each with the fault; a cell that passes again may not stay here."""

from __future__ import annotations

from typing import Any, Final

import pytest

from .cells import ASKING, Cell, DoorName

HANGING: Final[frozenset[DoorName]] = frozenset({"command line"})
"""Doors whose failing cells hang in real time."""
_WAITS_FOR_RUN: Final[frozenset[DoorName]] = frozenset({"direct", "call_all", "command line"})


def fault_of(cell: Cell) -> str:
    """Return what is wrong with a cell; "" where nothing is."""
    if cell.door in _WAITS_FOR_RUN and cell.kind == "agent's tool" and cell.outcome in ASKING:
        return "a direct call of an agent's tool waits for its run, and tells nobody what that asks"
    return ""


def marked(cells: list[Cell]) -> list[Any]:
    """Return the cells for a test, those with a fault marked as such."""
    return [pytest.param(cell, id=str(cell), marks=_marks(cell)) for cell in cells]


def _marks(cell: Cell) -> list[pytest.MarkDecorator]:
    if not (fault := fault_of(cell)):
        return []
    return [pytest.mark.xfail(reason=fault, strict=True, run=cell.door not in HANGING)]
