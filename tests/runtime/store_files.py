"""The SQLite stores, those of artifacts, and a small file of notes, for tests and their processes."""

from __future__ import annotations

import asyncio as asyncio
import sqlite3
import sys as sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.runtime.capabilities import (
    ArtifactStore,
    FileArtifactStore,
    MemoryArtifactStore,
    SqliteArtifactStore,
    SqliteStateStore,
)
from toolgen.runtime.stores.sqlite_file import SqliteFile
from toolgen.runtime.stores.sqlite_format import SqliteFormat

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
    tables=("CREATE TABLE note (text TEXT NOT NULL UNIQUE) STRICT",),
)


def notes(path: Path, **options: Any) -> SqliteFile:
    return SqliteFile(path / "notes.db", NOTES, **options)


def adding(text: str) -> Callable[[sqlite3.Connection], None]:
    def step(database: sqlite3.Connection) -> None:
        database.execute("INSERT INTO note VALUES (?)", (text,))

    return step


def texts(database: sqlite3.Connection) -> list[str]:
    return [text for (text,) in database.execute("SELECT text FROM note ORDER BY rowid").fetchall()]
