"""Artifacts in tables of a store database, and in a folder that processes of one machine share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from toolgen.calls.provided import ArtifactInfo, StoredArtifact
from toolgen.contract.json_value import Json
from toolgen.stores.folder import Folder
from toolgen.stores.sqlite_file import FileStore, SqliteFile, SqliteMemory
from toolgen.stores.sqlite_format import SqliteFormat
from toolgen.stores.transactions import Database, Transaction

from .artifacts import is_of, too_many_bytes

ARTIFACTS: Final = SqliteFormat(
    content="artifacts",
    application_id=0x74674172,  # "tgAr"
    version=2,
    statements=(
        """
        CREATE TABLE artifact (
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            media_type TEXT NOT NULL,
            metadata TEXT NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (owner, name, version)
        ) STRICT
        """,
        "CREATE TABLE artifact_owner (owner TEXT NOT NULL PRIMARY KEY, saved_at REAL NOT NULL) STRICT",
    ),
)
_INFO: Final = "SELECT name, version, media_type, length(data), metadata"
_OWNER: Final = """
    INSERT INTO artifact_owner VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET saved_at = excluded.saved_at
"""
_SIZE: Final = "SELECT coalesce(sum(length(data)), 0) FROM artifact WHERE owner = ?"
_VERSION: Final = "SELECT coalesce(max(version), 0) + 1 FROM artifact WHERE owner = ? AND name = ?"
_ADD: Final = "INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?)"
_NEWEST: Final = "(name, version) IN (SELECT name, max(version) FROM artifact WHERE owner = ? GROUP BY name)"
_OWNER_DOCUMENT: Final = ""
"""Name of the document with the owner and the size of a shelf; artifacts cannot have this name."""


class TableArtifactStore:
    """Stores each version in one row; writers of the same owner wait for each other."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        """Create a store; the clock returns seconds since 1970."""
        self.database = database
        self._clock = clock

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        facts, now = json.dumps(dict(metadata)), self._clock()

        async def step(tx: Transaction) -> int:
            await tx.change(_OWNER, owner, now)  # locks the owner
            ((size,),) = await tx.rows(_SIZE, owner)
            if size + len(data) > most:
                raise too_many_bytes(most)
            ((version,),) = await tx.rows(_VERSION, owner, name)
            await tx.change(_ADD, owner, name, version, media_type, facts, bytes(data))
            return int(version)

        return await self.database.write(step)

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        which, values = ("", ()) if version is None else ("AND version = ?", (version,))
        query = (
            f"{_INFO}, data FROM artifact WHERE owner = ? AND name = ? {which} ORDER BY version DESC LIMIT 1"
        )
        for *info, data in await self.database.read(lambda tx: tx.rows(query, owner, name, *values)):
            return StoredArtifact(info=_info(info), data=data)
        return None

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        which, value = (_NEWEST, owner) if name is None else ("name = ?", name)
        query = f"{_INFO} FROM artifact WHERE owner = ? AND {which} ORDER BY name, version"
        return tuple(map(_info, await self.database.read(lambda tx: tx.rows(query, owner, value))))

    async def forget(self, owner: str, before: float | None = None) -> int:
        values: tuple[object, ...]
        which, values = "owner = ?", (owner,)
        if owner.endswith("/"):  # "0" is the character after "/"
            which, values = "owner >= ? AND owner < ?", (owner, f"{owner[:-1]}0")
        if before is not None:
            which, values = f"{which} AND saved_at < ?", (*values, before)

        async def step(tx: Transaction) -> int:
            owners = f"SELECT owner FROM artifact_owner WHERE {which}"
            count = await tx.change(f"DELETE FROM artifact WHERE owner IN ({owners})", *values)
            await tx.change(f"DELETE FROM artifact_owner WHERE {which}", *values)
            return count

        return await self.database.write(step, may_repeat=True, is_snapshot=True)


class MemoryArtifactStore(TableArtifactStore):
    """Stores artifacts in the memory of the process."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Create a store; the clock returns seconds since 1970."""
        super().__init__(SqliteMemory(ARTIFACTS), clock=clock)


class SqliteArtifactStore(FileStore, TableArtifactStore):
    """Stores artifacts in a SQLite file, which several processes can share."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open the file, or create it.

        Raises:
            StoreError: The file cannot be opened, or it is not an artifact file.
        """
        self._file = SqliteFile(path, ARTIFACTS)
        super().__init__(self._file, clock=clock)


def _info(row: Any) -> ArtifactInfo:
    name, version, media_type, size, metadata = row
    return ArtifactInfo(
        name=name, version=version, media_type=media_type, size=size, metadata=json.loads(metadata)
    )


class FileArtifactStore:
    """Stores the data of each owner in a folder, in files named by SHA-256, equal data once. On Windows, for
    one process."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open the folder, or create it.

        Raises:
            StoreError: The folder cannot be created, or the path is not a folder.
        """
        self._folder = Folder(path)
        self._clock = clock

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        def step() -> int:
            shelf = self._folder.bucket(owner)
            size = (shelf.document(_OWNER_DOCUMENT) or {"bytes": 0})["bytes"] + len(data)
            if size > most:
                raise too_many_bytes(most)
            versions = (shelf.document(name) or {"versions": []})["versions"]
            # Written first, so that data left by a killed process is found, and counts.
            shelf.put(_OWNER_DOCUMENT, {"owner": owner, "saved_at": self._clock(), "bytes": size})
            version = {
                "name": name,
                "version": len(versions) + 1,
                "media_type": media_type,
                "size": len(data),
                "metadata": dict(metadata),
                "digest": shelf.add_blob(data),
            }
            shelf.put(name, {"versions": [*versions, version]})
            return len(versions) + 1

        return await self._folder.run_exclusive(step)

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        def step() -> StoredArtifact | None:
            shelf = self._folder.bucket(owner)
            versions = (shelf.document(name) or {"versions": []})["versions"]
            wanted = [stored for stored in versions if version is None or stored["version"] == version]
            if not wanted:
                return None
            return StoredArtifact(info=_info_of(wanted[-1]), data=shelf.blob(wanted[-1]["digest"]))

        return await self._folder.run_shared(step)

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        def step() -> tuple[ArtifactInfo, ...]:
            shelf = self._folder.bucket(owner)
            if name is not None:
                return tuple(map(_info_of, (shelf.document(name) or {"versions": []})["versions"]))
            newest = [document["versions"][-1] for document in shelf.documents() if "versions" in document]
            return tuple(sorted(map(_info_of, newest), key=lambda info: info.name))

        return await self._folder.run_shared(step)

    async def forget(self, owner: str, before: float | None = None) -> int:
        def step() -> int:
            count = 0
            is_begin = owner.endswith("/")
            for shelf in self._folder.buckets() if is_begin else (self._folder.bucket(owner),):
                about = shelf.document(_OWNER_DOCUMENT)
                if about is None or not is_of(about["owner"], owner):
                    continue
                if before is None or about["saved_at"] < before:
                    count += sum(len(document.get("versions", ())) for document in shelf.documents())
                    self._folder.remove(shelf)
            return count

        return await self._folder.run_exclusive(step)


def _info_of(version: Any) -> ArtifactInfo:
    return ArtifactInfo(**{key: value for key, value in version.items() if key != "digest"})
