"""The SQLite stores, those of artifacts, and a small file of notes, for tests and their processes."""

from __future__ import annotations

import asyncio as asyncio
import sys as sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.capabilities import (
    ArtifactStore,
    FileArtifactStore,
    MemoryArtifactStore,
    SqliteArtifactStore,
    SqliteStateStore,
)
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.sqlite_format import SqliteFormat
from toolgen.stores.transactions import Step, Transaction

STORES: dict[str, Callable[[Path], Any]] = {
    "state": SqliteStateStore,
    "artifacts": SqliteArtifactStore,
    "sessions": SqliteSessionStore,
}
Clock = Callable[[], float]
ARTIFACT_STORES: dict[str, Callable[[Path, Clock], ArtifactStore]] = {
    "memory": lambda folder, clock: MemoryArtifactStore(clock=clock),
    "file": lambda folder, clock: FileArtifactStore(folder / "artifacts", clock=clock),
    "sqlite": lambda folder, clock: SqliteArtifactStore(folder / "artifacts.db", clock=clock),
}
"""Each in a folder of its own, by a clock that gives seconds since 1970."""
NOTES = SqliteFormat(
    content="notes",
    application_id=0x7467546E,
    version=1,
    statements=("CREATE TABLE note (text TEXT NOT NULL UNIQUE) STRICT",),
)


def notes(path: Path, **options: Any) -> SqliteFile:
    return SqliteFile(path / "notes.db", NOTES, **options)


def adding(text: str) -> Step[int]:
    return lambda tx: tx.change("INSERT INTO note VALUES (?)", text)


async def texts(tx: Transaction) -> list[str]:
    return [text for (text,) in await tx.rows("SELECT text FROM note ORDER BY rowid")]
