"""Bounds of results: read from a typed result, validated, and passed to the host's policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.bounds import Bounds, bounds_fault

from ..call import SeenBounds
from ..errors import MalformedResultError
from ..values import Key, Values

if TYPE_CHECKING:
    from ..results import ToolResult
    from ..specs import ToolSpec

_SEEN: Final[Key[list[SeenBounds]]] = Key("bounds of the turn")


def bounds_of(spec: ToolSpec[Any, Any], result: Any) -> Bounds | None:
    """Return the bounds of a typed result; None for a tool whose result is not bounded.

    Raises:
        MalformedResultError: they break the contract (`toolgen.contract.bounds`).
    """
    rule = spec.bounded
    if rule is None:
        return None
    bounds: Bounds = result.result_bounds()
    items = None if rule.items is None else len(getattr(result, rule.attribute) or ())
    if fault := bounds_fault(bounds, items=items, is_paged=rule.next_cursor is not None):
        raise MalformedResultError(fault)
    return bounds


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
