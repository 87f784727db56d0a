"""The cells that cannot be, by door, kinds of tools, outcomes and stores, with the reason."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from .cells import ASKING, CELLS, Cell, DoorName, Kind, Outcome, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Cells that cannot be."""

    why: str
    door: DoorName
    kinds: frozenset[Kind] = frozenset({"static", "dynamic", "function", "agent's tool"})
    outcomes: frozenset[Outcome] = frozenset(
        {"ok", "error", "confirm", "ask", "credential", "pending", "unknown"}
    )
    stores: frozenset[Store] = frozenset({"memory", "SQLite"})
    told: str = ""
    """What the caller is told in the place of a result; "" where there is no such call."""

    def has(self, cell: Cell) -> bool:
        """Return whether a cell is one of them."""
        return (
            cell.door == self.door
            and cell.kind in self.kinds
            and cell.outcome in self.outcomes
            and cell.store in self.stores
        )


OF_TOOLS: Final = frozenset[Kind]({"static", "dynamic", "function"})
OF_CALLS: Final = frozenset[Kind]({*OF_TOOLS, "agent's tool"})
IMPOSSIBLE: Final = (
    Impossible(
        why="pending work ends by the result that somebody delivers: no executor of ours is at work",
        door="detached work",
        outcomes=frozenset({"unknown"}),
    ),
    Impossible(
        why="all detached work is pending: its cell `ok` is the same",
        door="detached work",
        outcomes=frozenset({"pending"}),
    ),
    Impossible(
        why="an MCP client is not asked for a credential, and what waits in memory cannot wait for others",
        door="MCP",
        kinds=OF_TOOLS,
        outcomes=frozenset({"credential"}),
        stores=frozenset({"memory"}),
        told="does not store calls for later",
    ),
    Impossible(
        why="an engine in memory ends with the process of the command, so no other command can answer",
        door="command line",
        kinds=OF_CALLS,
        outcomes=ASKING,
        stores=frozenset({"memory"}),
        told="it cannot be answered",
    ),
    Impossible(
        why="an engine in memory ends with the process of the command, and the work of its run with it",
        door="command line",
        kinds=OF_CALLS,
        outcomes=frozenset({"pending"}),
        stores=frozenset({"memory"}),
        told="it cannot be answered",
    ),
)


def why_impossible(cell: Cell) -> str:
    """Return why a cell cannot be; "" where it can."""
    return next((one.why for one in IMPOSSIBLE if one.has(cell)), "")


def possible(doors: Container[DoorName], store: Store) -> list[Cell]:
    """Return the cells of doors that can be, with runs in a store."""
    return [cell for cell in CELLS if cell.door in doors and cell.store == store and not why_impossible(cell)]
