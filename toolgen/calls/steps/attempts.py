"""The state of a call whose executor is called again: each attempt begins with what the hooks left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..context import ToolContext
    from ..state import StateChanges


def mark_state(context: ToolContext) -> None:
    """Keep the changes that hooks have made, when an attempt is dropped."""
    for state in _states(context):
        state.mark()


def restart_state(context: ToolContext) -> None:
    """Drop the changes of a failed attempt."""
    for state in _states(context):
        state.restart()


def _states(context: ToolContext) -> Iterator[StateChanges]:
    from ..state import StateChanges  # few calls have one

    yield from (opened for opened in (context._opened or {}).values() if isinstance(opened, StateChanges))
