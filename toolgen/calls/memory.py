"""Long-term memory, as executors search it through their context; `capabilities/memory.py` provides it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from toolgen.contract.limits import portable_text
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from .steps.bridge import Wait

MOST_ENTRIES: Final = 10
"""Default maximum number of entries per search."""


@frozen_record
class MemoryEntry:
    """A message of an earlier conversation, or a summary of several that a memory store created."""

    text: str
    author: Literal["person", "assistant", ""] = ""
    """Author of the text; "" if the store does not know."""
    said_at: datetime | None = None
    """Time of the turn; None if the store does not know."""
    session_id: str = ""
    """Session of the message; "" if the store does not know."""

    def shown(self) -> dict[str, str]:
        """Return the entry as a model reads it: with the day, and without its session."""
        said_at = "" if self.said_at is None else self.said_at.date().isoformat()
        return {"text": portable_text(self.text), "author": self.author, "said_at": said_at}


class Memory:
    """The memory of the person for whom a call is made: `ctx.memory`."""

    def __init__(self, search: Callable[[str, int], Awaitable[Sequence[MemoryEntry]]]) -> None:
        self._search = search

    async def search(self, query: str, limit: int = MOST_ENTRIES) -> Sequence[MemoryEntry]:
        """Return the entries that match a query, best first.

        Raises:
            RuntimeError: the `CallMeta` of the call does not identify the owner of the memory.
        """
        return await self._search(query, limit)


class SyncMemory:
    """Memory for synchronous executors, whose thread waits for the results."""

    def __init__(self, memory: Memory, wait: Wait) -> None:
        self._memory = memory
        self._wait = wait

    def search(self, query: str, limit: int = MOST_ENTRIES) -> Sequence[MemoryEntry]:
        """Return the entries that match a query, best first; like `Memory.search`.

        Raises:
            CallEndedError: the call is over, or ends in the meantime.
        """
        return self._wait(self._memory.search, query, limit)
