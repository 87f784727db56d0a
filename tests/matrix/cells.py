"""The cells of the matrix: a door, a kind of tool, an outcome, and where runs are kept."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, get_args

DoorName = Literal[
    "direct",
    "call_all",
    "run",
    "child run",
    "hand-over",
    "detached work",
    "MCP",
    "HTTP",
    "command line",
]
Kind = Literal["static", "dynamic", "function", "agent's tool"]
Outcome = Literal["ok", "error", "confirm", "ask", "credential", "pending", "unknown"]
Store = Literal["memory", "SQLite"]

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
ASKING: Final[frozenset[Outcome]] = frozenset({"confirm", "ask", "credential"})
"""Outcomes of which a person is asked before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell."""

    door: DoorName
    kind: Kind
    outcome: Outcome
    store: Store

    def __str__(self) -> str:
        return f"{self.door}, {self.kind}, {self.outcome}, {self.store}"


CELLS: Final = tuple(
    Cell(door=door, kind=kind, outcome=outcome, store=store)
    for door, kind, outcome, store in product(get_args(DoorName), get_args(Kind), OUTCOMES, get_args(Store))
)


def facts(cell: Cell) -> tuple[Hashable, ...]:
    """Return what of a cell is always tried once: each outcome at each door, and each kind at each."""
    return (cell.door, cell.outcome), (cell.door, cell.kind)
