"""State of a run that the server shows without its history: a memo and a search attribute.

The memo has the open waits and the children, each under its own key, so that a change sends only itself.
Entries that do not fit are left out, and the memo records that; readers then use the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from temporalio import workflow

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from ..in_process.journal import encode
from .documents import MEMO, NOTHING, Mark, kind_of
from .settings import WAITS_KEY

_MOST_BYTES: Final = 16_000
"""Maximum size of the JSON in the memo of a run in bytes; the server returns it for each run of a list
page."""
_OF_CHILD: Final = 100
"""Maximum size of the JSON of a child in the memo, in bytes; a child with a longer key is left out."""
_MOST_KINDS: Final = 15
"""Maximum number of wait kinds in the search attribute; there are four, and the kinds of planners."""
_IS_PARTIAL: Final = f"{MEMO}partial"


@frozen_record
class _Entry:
    """Entry that uses a key of the memo."""

    key: str
    counted: int
    """Size that was counted when the entry was first sent, in bytes. It decides in which workflow tasks the
    server receives changes, which must be the same in a replay."""
    size: int
    """Size of the entry in the memo, in bytes; 0 if it is not there."""


class RunProjection:
    """Sends the waits and children of one run to the server, once per workflow task."""

    def __init__(self) -> None:
        """Construct the projection of a run without waits."""
        self._numbers = count()
        self._changes: dict[str, Json] = {}
        self._entries: dict[str, _Entry] = {}
        """Entries of the open waits, by operation."""
        self._free: list[str] = []
        """Keys of ended waits, which are reused because the server never removes a key."""
        self._countable_left = self._bytes_left = _MOST_BYTES
        self._kinds: dict[str, str] = {}
        self._sent = [NOTHING]

    def begin_wait(self, op: str, names: tuple[str, ...], about: Json, size: int) -> None:
        """Add a wait of this many bytes."""
        if about is not None:
            self._kinds[op] = kind_of(about)
        mark: Mark = {"number": next(self._numbers), "op": op, "names": list(names), "about": about}
        if (entry := self._put(mark, size)) is not None:
            self._entries[op] = entry

    def end_wait(self, op: str) -> None:
        """Remove a wait, if it is in the memo."""
        self._kinds.pop(op, None)
        entry = self._entries.pop(op, None)
        if entry is not None:
            self._changes |= {entry.key: None} if entry.size else {_IS_PARTIAL: True}
            self._free.append(entry.key)
            self._countable_left += entry.counted
            self._bytes_left += entry.size

    def add_child(self, op: str) -> None:
        """Add a child run."""
        self._put({"number": next(self._numbers), "op": op}, _OF_CHILD)

    async def run(self) -> None:
        """Send each change to the server, until this is canceled."""
        while True:
            await workflow.wait_condition(lambda: bool(self._changes) or self._kinds_now() != self._sent)
            if self._changes:
                changes, self._changes = self._changes, {}
                workflow.upsert_memo(changes)
            if (kinds := self._kinds_now()) != self._sent:
                self._sent = kinds
                workflow.upsert_search_attributes([WAITS_KEY.value_set(kinds)])

    def _kinds_now(self) -> list[str]:
        """Return the kinds of the open waits; without any, the value for none."""
        return sorted(set(self._kinds.values()))[:_MOST_KINDS] or [NOTHING]

    def _put(self, mark: Mark, counted: int) -> _Entry | None:
        """Add a value to the memo if it has room, and return the entry of its key."""
        if counted > self._countable_left:
            self._changes[_IS_PARTIAL] = True
            return None
        key = self._free.pop() if self._free else f"{MEMO}{mark['number']}"
        text, copy = encode(mark, "a part of a memo")
        size = len(text) if len(text) <= self._bytes_left else 0
        self._changes |= {key: copy} if size else {_IS_PARTIAL: True}
        self._countable_left -= counted
        self._bytes_left -= size
        return _Entry(key=key, counted=counted, size=size)


def marks_of(memo: Mapping[str, Any]) -> list[Mark] | None:
    """Return the entries of a memo in order; None if it is incomplete."""
    if memo.get(_IS_PARTIAL):
        return None
    return sorted(filter(None, memo.values()), key=lambda mark: int(mark["number"]))
