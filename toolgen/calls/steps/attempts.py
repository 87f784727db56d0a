"""State of a call whose executor is retried: each attempt starts with the state that the hooks left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..context import ToolContext
    from ..state import StateChanges


def mark_state(context: ToolContext) -> None:
    """Mark the changes of hooks, so that they survive a failed attempt."""
    for state in _states(context):
        state.mark()


def restart_state(context: ToolContext) -> None:
    """Drop the changes of a failed attempt."""
    for state in _states(context):
        state.restart()


def _states(context: ToolContext) -> Iterator[StateChanges]:
    from ..state import StateChanges  # few calls have state

    yield from (opened for opened in (context._opened or {}).values() if isinstance(opened, StateChanges))
