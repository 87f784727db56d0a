"""Long-term memory: messages of people and assistants in earlier conversations, searched by text.

The owner of the memory is derived from the facts of a call, and never from an argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import CallScope
from toolgen.calls.memory import Memory, MemoryEntry, SyncMemory
from toolgen.calls.steps.bridge import Wait
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.calls.toolsets.dynamic import StaticToolset

_WORD: Final = re.compile(r"\w+")


@frozen_record
class MemoryOwner:
    """Owner of a memory; only equal owners share entries."""

    person: str
    tenant: str = ""


class MemoryStore(Protocol):
    """Store of messages by owner and run. Each method can be called concurrently."""

    async def add(self, owner: MemoryOwner, run_id: str, entries: Sequence[MemoryEntry]) -> None:
        """Store the messages of an ended run, replacing those that were stored for it before.

        It is called at least once for each run, and again if a process stops in the meantime.
        """
        ...

    async def search(self, owner: MemoryOwner, query: str, limit: int) -> Sequence[MemoryEntry]:
        """Return at most `limit` entries of the owner that match a query, best first."""
        ...

    async def forget(self, *, owner: MemoryOwner | None = None, session_id: str = "") -> int:
        """Delete the entries of an owner, of a session, or of an owner in a session; return their number.

        `Agents.erase` passes only the session; a host passes the owner to delete all entries of a person.

        Raises:
            ValueError: Neither is passed.
        """
        ...


def owner_by_labels(meta: CallMeta) -> MemoryOwner | None:
    """Return the owner that the labels `user` and `tenant` name; None without a user."""
    user = meta.labels.get("user", "")
    return MemoryOwner(person=user, tenant=meta.labels.get("tenant", "")) if user else None


class MemoryCapability:
    """Provides `ctx.memory`, the tool `load_memory`, and preloaded entries; stores conversations."""

    name = "memory"

    def __init__(
        self,
        store: MemoryStore,
        *,
        owner: Callable[[CallMeta], MemoryOwner | None] = owner_by_labels,
        preload_tokens: int = 0,
    ) -> None:
        """Create the capability on a store.

        Args:
            store: Store of the entries.
            owner: Returns the owner of the memory that a call can use; None for no memory. By default the
                labels `user` and `tenant` determine it.
            preload_tokens: Estimated tokens of the entries that each run of an agent gets with its first
                message; 0 preloads none.
        """
        self.store = store
        self.owner = owner
        self.preload_tokens = preload_tokens

    def open(self, call: CallScope) -> Memory:
        async def search(query: str, limit: int) -> Sequence[MemoryEntry]:
            owner = self.owner(call.meta)
            if owner is None:
                raise RuntimeError("the CallMeta of this call does not name the person whose memory it uses")
            return (await self.store.search(owner, query, limit))[:limit]

        return Memory(search)

    def for_thread(self, opened: Memory, wait: Wait) -> SyncMemory:
        return SyncMemory(opened, wait)

    async def close(self, opened: Sequence[tuple[Memory, bool]]) -> None:
        """Do nothing: a search changes nothing."""

    def toolset(self) -> StaticToolset:
        """Return the toolset with `load_memory`, with which a model searches the memory itself."""
        from .load_memory import load_memory_toolset  # only hosts that offer it import function tools

        return load_memory_toolset(self.owner)


class InMemoryMemoryStore:
    """Stores entries in memory, and finds those that share words with a query; for tests and trials."""

    shared_instead: ClassVar[str] = "a MemoryStore on a server"

    def __init__(self) -> None:
        self._runs: dict[tuple[MemoryOwner, str], tuple[MemoryEntry, ...]] = {}

    async def add(self, owner: MemoryOwner, run_id: str, entries: Sequence[MemoryEntry]) -> None:
        self._runs[owner, run_id] = tuple(entries)

    async def search(self, owner: MemoryOwner, query: str, limit: int) -> Sequence[MemoryEntry]:
        words = _words(query)
        own = [entry for (of, _), entries in self._runs.items() if of == owner for entry in entries]
        scored = [(len(words & _words(entry.text)), entry) for entry in reversed(own)]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [entry for _, entry in best[:limit]]

    async def forget(self, *, owner: MemoryOwner | None = None, session_id: str = "") -> int:
        if owner is None and not session_id:
            raise ValueError("pass owner=… or session_id=… to say which memory to delete")
        before = sum(map(len, self._runs.values()))
        for key, entries in tuple(self._runs.items()):
            if owner in (None, key[0]):
                self._runs[key] = tuple([each for each in entries if session_id not in ("", each.session_id)])
        self._runs = {key: entries for key, entries in self._runs.items() if entries}
        return before - sum(map(len, self._runs.values()))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
