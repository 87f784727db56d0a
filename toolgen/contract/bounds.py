"""The contract of a bounded result: the design checks examples with it, the runtime checks every result.

As in Goa-AI, the bounds state how much of the data is shown, and how to get the rest if something is left
out.
"""

from __future__ import annotations

from .record import record


@record
class Bounds:
    """How much of the data a bounded result shows."""

    returned: int
    """Number of items in the result."""
    truncated: bool
    """Whether there are more items."""
    total: int | None = None
    """Number of all items; None if unknown."""
    refinement_hint: str | None = None
    """How the model can get other items, for example with a filter."""
    next_cursor: str | None = None
    """Cursor of the next page."""


def bounds_fault(bounds: Bounds, *, items: int | None, is_paged: bool) -> str | None:
    """Return the contradiction in the bounds; None if there is none.

    `items` is the number of items in the result's only list; None if the result has several lists or none, so
    that only the service knows what `returned` counts. `is_paged` tells whether the tool has cursors, whose
    pages may be empty.
    """
    returned, total = bounds.returned, bounds.total
    if returned < 0:
        return f"returned is {returned}; it must be at least 0"
    if items is not None and returned != items:
        return f"returned is {returned}, but the result has {items} {'item' if items == 1 else 'items'}"
    if total is not None and total < returned:
        return f"total is {total}; it must be at least returned ({returned})"
    if returned == 0 and not is_paged and (bounds.truncated or total):
        return "nothing was returned, so total must be 0 or unknown and truncated false"
    if bounds.truncated and not bounds.next_cursor and not (bounds.refinement_hint or "").strip():
        silent = (
            "neither next_cursor nor refinement_hint is set" if is_paged else "refinement_hint is not set"
        )
        return f"truncated is true, but {silent}, so the model cannot get the rest"
    return None
