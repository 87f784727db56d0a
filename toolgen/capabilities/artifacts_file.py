"""Artifacts in a folder, shared by all processes of one machine that have it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from toolgen.calls.provided import ArtifactInfo, StoredArtifact
from toolgen.contract.json_value import Json
from toolgen.stores.folder import Folder

from .artifacts import is_of, too_many_bytes

_OWNER: Final = ""
"""Name of the document that says whose a shelf is, and how large; no artifact is called so."""


class FileArtifactStore:
    """Keeps the data of each owner in files that are named by its SHA-256, equal data once."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open the folder, which is created where it is missing.

        Raises:
            StoreError: it cannot be created, or is no folder.
        """
        self._folder = Folder(path)
        self._clock = clock

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        def step() -> int:
            shelf = self._folder.bucket(owner)
            size = (shelf.document(_OWNER) or {"bytes": 0})["bytes"] + len(data)
            if size > most:
                raise too_many_bytes(most)
            versions = (shelf.document(name) or {"versions": []})["versions"]
            # First, so that what a killed process leaves here is found, and counts.
            shelf.put(_OWNER, {"owner": owner, "saved_at": self._clock(), "bytes": size})
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
            return StoredArtifact(info=_info(wanted[-1]), data=shelf.blob(wanted[-1]["digest"]))

        return await self._folder.run_shared(step)

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        def step() -> tuple[ArtifactInfo, ...]:
            shelf = self._folder.bucket(owner)
            if name is not None:
                return tuple(map(_info, (shelf.document(name) or {"versions": []})["versions"]))
            newest = [document["versions"][-1] for document in shelf.documents() if "versions" in document]
            return tuple(sorted(map(_info, newest), key=lambda info: info.name))

        return await self._folder.run_shared(step)

    async def forget(self, owner: str, before: float | None = None) -> int:
        def step() -> int:
            count = 0
            is_begin = owner.endswith("/")
            for shelf in self._folder.buckets() if is_begin else (self._folder.bucket(owner),):
                about = shelf.document(_OWNER)
                if about is None or not is_of(about["owner"], owner):
                    continue
                if before is None or about["saved_at"] < before:
                    count += sum(len(document.get("versions", ())) for document in shelf.documents())
                    self._folder.remove(shelf)
            return count

        return await self._folder.run_exclusive(step)


def _info(version: Any) -> ArtifactInfo:
    return ArtifactInfo(**{key: value for key, value in version.items() if key != "digest"})
