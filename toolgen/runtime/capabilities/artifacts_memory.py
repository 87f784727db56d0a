"""Artifacts in the memory of the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import ClassVar

from toolgen.contract.json_value import Json

from .artifacts import ArtifactInfo, StoredArtifact, is_of, too_many_bytes


class MemoryArtifactStore:
    """Keeps versions in a dict."""

    shared_instead: ClassVar = "PostgresArtifactStore(database)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], list[StoredArtifact]] = {}
        self._saved_at: dict[str, float] = {}
        """By owner, in seconds since 1970."""

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        mine = [one for (of, _), kept in self._kept.items() if of == owner for one in kept]
        if sum(len(one.data) for one in mine) + len(data) > most:
            raise too_many_bytes(most)
        self._saved_at[owner] = self._clock()
        versions = self._kept.setdefault((owner, name), [])
        info = ArtifactInfo(
            name=name,
            version=len(versions) + 1,
            media_type=media_type,
            size=len(data),
            metadata=dict(metadata),
        )
        versions.append(StoredArtifact(info=info, data=bytes(data)))
        return info.version

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        versions = self._kept.get((owner, name), [])
        if version is None:
            return versions[-1] if versions else None
        return versions[version - 1] if 0 < version <= len(versions) else None

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        if name is not None:
            return tuple(one.info for one in self._kept.get((owner, name), ()))
        newest = [versions[-1].info for (of, _), versions in self._kept.items() if of == owner]
        return tuple(sorted(newest, key=lambda info: info.name))

    async def forget(self, owner: str, before: float | None = None) -> int:
        gone = {
            one for one, at in self._saved_at.items() if is_of(one, owner) and (before is None or at < before)
        }
        if not gone:
            return 0
        for one in gone:
            del self._saved_at[one]
        dropped = [self._kept.pop(key) for key in list(self._kept) if key[0] in gone]
        return sum(map(len, dropped))
