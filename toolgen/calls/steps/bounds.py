"""Bounds of the results of a turn, which the host's policy sees at later calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..call import SeenBounds
from ..context import Key, Values

if TYPE_CHECKING:
    from ..results import ToolResult

_SEEN: Final[Key[list[SeenBounds]]] = Key("bounds of the turn")


def remember(result: ToolResult, values: Values) -> None:
    """Store the bounds of a result for the policy, which sees them at later calls of the same turn."""
    if result.bounds is not None:
        seen = values.get(_SEEN, [])
        values[_SEEN] = seen
        seen.append(SeenBounds(tool=result.tool, bounds=result.bounds))


def seen_bounds(values: Values) -> tuple[SeenBounds, ...]:
    """Return the bounds of the results of the same turn so far, oldest first."""
    seen: list[SeenBounds] = values.get(_SEEN, [])
    return tuple(seen)
