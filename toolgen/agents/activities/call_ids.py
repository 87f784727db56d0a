"""Ids of tool calls, unique in a session, whatever ids a planner gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Set
from typing import Final

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Ids that every provider takes back."""


class CallIds:
    """Assigns ids to the calls of one planning; the planner's own ids stay where they are new.

    The ids of a run that does not see all calls of its session hold a mark of the run: one that answers a
    call, of which more may go on at once, and one whose history policy hides turns.
    """

    def __init__(self, run_id: str, step: int, *, is_alone: bool) -> None:
        self._step = step
        self._mark = f"_{hashlib.sha256(run_id.encode()).hexdigest()[:12]}" if is_alone else ""
        self._taken: Set[str] = frozenset()
        """Ids of the calls that the session has; grows with it."""
        self._new_ids: set[str] = set()
        self._assigned: dict[str, str] = {}
        """Ids in the conversation by the planner's own id."""

    def reserve(self, ids: Set[str]) -> None:
        """Reserve the ids of earlier calls of the session, before the first id is assigned."""
        self._taken = ids

    def assign_id(self, own: str) -> str:
        """Assign an id to a call while it is still streamed, and return it."""
        if own and own not in self._assigned:
            self._assigned[own] = self._new(own, len(self._assigned))
        return self._assigned.get(own, own)

    def all(self, own: Iterable[str]) -> list[str]:
        """Return the ids of calls to which the planner gave these ids, in their order; "" means no id."""
        ids: list[str] = []
        for place, id_ in enumerate(own):
            assigned = self._assigned.pop(id_, "")  # of two calls with one id, the second needs another
            ids.append(assigned or self._new(id_, place))
        return ids

    def _new(self, own: str, place: int) -> str:
        id_, number = "" if self._mark else own, 1
        while not _ID.fullmatch(id_) or id_ in self._taken or id_ in self._new_ids:
            id_ = f"call_{self._step}_{place}{self._mark}" + (f"_{number}" if number > 1 else "")
            number += 1
        self._new_ids.add(id_)
        return id_
