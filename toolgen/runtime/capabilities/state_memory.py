"""State in the memory of one process, for tests and for what need not last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolgen.contract.fields import Json

from .json_values import copied
from .place import Place

if TYPE_CHECKING:
    from .state import Change


class MemoryStateStore:
    """A `StateStore` that is gone with its process."""

    def __init__(self) -> None:
        self._values: dict[Place, dict[str, Json]] = {}

    async def load(self, place: Place) -> dict[str, Json]:
        values: dict[str, Json] = copied(self._values.get(place, {}))
        return values

    async def apply(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        from .state import apply

        staged: dict[Place, dict[str, Json]] = {}
        refused: list[Change] = []
        for change in changes:
            if change.place not in staged:
                staged[change.place] = dict(self._values.get(change.place, {}))
            refused += apply(staged[change.place], (change,))
        self._values.update(staged)
        return tuple(refused)

    def forget(self, place: Place) -> None:
        """Remove everything of a place."""
        self._values.pop(place, None)
