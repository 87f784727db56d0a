"""Two stores for the memory of conversations: SQLite full-text search, and any store of LangGraph."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
import zlib
from collections.abc import Sequence
from datetime import datetime

from langgraph.store.base import BaseStore

from toolgen.capabilities import MemoryEntry, MemoryOwner

_CONDITION = (
    "(:tenant IS NULL OR (tenant, person) = (:tenant, :person)) AND (:session = '' OR session = :session)"
)


class FullTextMemory:
    """Stores entries in a SQLite file and searches them by words."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._lock = asyncio.Lock()
        self._db.executescript(
            "PRAGMA secure_delete = ON;"
            "CREATE VIRTUAL TABLE IF NOT EXISTS memory USING fts5(text, tenant UNINDEXED, person UNINDEXED,"
            " run UNINDEXED, session UNINDEXED, author UNINDEXED, said_at UNINDEXED);"
        )

    async def add(self, owner: MemoryOwner, run_id: str, entries: Sequence[MemoryEntry]) -> None:
        rows = [
            (
                each.text,
                owner.tenant,
                owner.person,
                run_id,
                each.session_id,
                each.author,
                each.said_at.isoformat() if each.said_at else "",
            )
            for each in entries
        ]
        async with self._lock:
            await asyncio.to_thread(self._replace, run_id, rows)

    def _replace(self, run_id: str, rows: Sequence[tuple[str, ...]]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:  # commits, or rolls back
            self._db.execute("DELETE FROM memory WHERE run = ?", (run_id,))
            self._db.executemany("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    async def search(self, owner: MemoryOwner, query: str, limit: int) -> Sequence[MemoryEntry]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not words:
            return []
        text = (
            "SELECT text, author, said_at, session FROM memory"
            " WHERE memory MATCH ? AND tenant = ? AND person = ? ORDER BY rank LIMIT ?"
        )
        async with self._lock:
            arguments = (words, owner.tenant, owner.person, limit)
            matches = await asyncio.to_thread(lambda: self._db.execute(text, arguments).fetchall())
        return [
            MemoryEntry(
                text=text,
                author=author,
                said_at=datetime.fromisoformat(said_at) if said_at else None,
                session_id=session,
            )
            for text, author, said_at, session in matches
        ]

    async def forget(self, *, owner: MemoryOwner | None = None, session_id: str = "") -> int:
        if owner is None and not session_id:
            raise ValueError("pass owner=… or session_id=… to say which memory to delete")
        tenant, person = (None, None) if owner is None else (owner.tenant, owner.person)
        names = {"tenant": tenant, "person": person, "session": session_id}
        async with self._lock:
            return await asyncio.to_thread(self._delete, names)

    def _delete(self, names: dict[str, str | None]) -> int:
        deleted = self._db.execute(f"DELETE FROM memory WHERE {_CONDITION}", names)
        self._db.execute("INSERT INTO memory(memory) VALUES ('optimize')")
        return deleted.rowcount


class LangGraphMemory:
    """Stores entries in any LangGraph store."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    async def add(self, owner: MemoryOwner, run_id: str, entries: Sequence[MemoryEntry]) -> None:
        for number, entry in enumerate(entries):
            said_at = entry.said_at.isoformat() if entry.said_at else ""
            value = {
                "text": entry.text,
                "author": entry.author,
                "said_at": said_at,
                "session": entry.session_id,
            }
            await self._store.aput(_namespace(owner), f"{run_id}:{number}", value, index=["text"])

    async def search(self, owner: MemoryOwner, query: str, limit: int) -> Sequence[MemoryEntry]:
        items = await self._store.asearch(_namespace(owner), query=query, limit=limit)
        return [
            MemoryEntry(
                text=item.value["text"],
                author=item.value["author"],
                said_at=datetime.fromisoformat(item.value["said_at"]) if item.value["said_at"] else None,
                session_id=item.value["session"],
            )
            for item in items
        ]

    async def forget(self, *, owner: MemoryOwner | None = None, session_id: str = "") -> int:
        if owner is None and not session_id:
            raise ValueError("pass owner=… or session_id=… to say which memory to delete")
        prefix = ("memory",) if owner is None else _namespace(owner)
        condition, count = {"session": session_id} if session_id else None, 0
        while items := await self._store.asearch(prefix, filter=condition, limit=100):
            for item in items:
                await self._store.adelete(item.namespace, item.key)
            count += len(items)
        return count


def _namespace(owner: MemoryOwner) -> tuple[str, str]:
    """Return the namespace of an owner, hashed because a namespace label must not contain a dot."""
    return "memory", hashlib.sha256(f"{len(owner.tenant)}:{owner.tenant}{owner.person}".encode()).hexdigest()


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector for each text that counts its words."""
    vectors = [[0.0] * 64 for _ in texts]
    for vector, text in zip(vectors, texts, strict=True):
        for word in re.findall(r"\w+", text.casefold()):
            vector[zlib.crc32(word.encode()) % 64] += 1.0
    return vectors
