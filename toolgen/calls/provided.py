"""Artifacts, as executors use them through their context; `capabilities/artifacts.py` provides them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from .results import Artifact
    from .steps.bridge import Wait


@frozen_record
class ArtifactInfo:
    """One version of an artifact, without its data."""

    name: str
    version: int
    """The version, from 1, counted per name."""
    media_type: str
    size: int
    """Size in bytes."""
    uri: str = ""
    """URI for results, for example `artifact:session/s-9/plan.png?version=1`."""
    metadata: Mapping[str, Json] = field(default_factory=dict)


@frozen_record
class StoredArtifact:
    """One version of an artifact with its data."""

    info: ArtifactInfo
    data: bytes


class Artifacts(Protocol):
    """The artifacts that one call can use: `ctx.artifacts`. A name with the prefix `user:` is the user's."""

    async def save(
        self,
        name: str,
        data: bytes,
        media_type: str = "application/octet-stream",
        metadata: Mapping[str, Json] | None = None,
    ) -> ArtifactInfo:
        """Store a new version.

        Raises:
            ValueError: the name or the media type is invalid.
            ToolError: the data exceeds the host's limit.
        """
        ...

    async def load(self, name: str, version: int | None = None) -> StoredArtifact:
        """Return a version, by default the newest.

        Raises:
            ToolError: there is no such version.
        """
        ...

    async def list(self, scope: str = "session") -> tuple[ArtifactInfo, ...]:
        """Return the newest version of each artifact of the session, or of the user, by name."""
        ...

    async def versions(self, name: str) -> tuple[ArtifactInfo, ...]:
        """Return all versions of an artifact, oldest first."""
        ...

    async def save_overflow(self, document: bytes) -> str:
        """Store a result that is too large for the model, and return its URI."""
        ...


class SyncArtifacts:
    """Artifacts for synchronous executors, whose thread waits in each method.

    All methods raise `CallEndedError` if the call is over, or ends in the meantime.
    """

    def __init__(self, artifacts: Artifacts, wait: Wait) -> None:
        self._artifacts = artifacts
        self._wait = wait

    def save(
        self,
        name: str,
        data: bytes,
        media_type: str = "application/octet-stream",
        metadata: Mapping[str, Json] | None = None,
    ) -> ArtifactInfo:
        """Store a new version; as `Artifacts.save`."""
        return self._wait(self._artifacts.save, name, data, media_type, metadata)

    def load(self, name: str, version: int | None = None) -> StoredArtifact:
        """Return a version, by default the newest; as `Artifacts.load`."""
        return self._wait(self._artifacts.load, name, version)

    def list(self, scope: str = "session") -> tuple[ArtifactInfo, ...]:
        """Return the newest version of each artifact of the session, or of the user, by name."""
        return self._wait(self._artifacts.list, scope)

    def versions(self, name: str) -> tuple[ArtifactInfo, ...]:
        """Return all versions of an artifact, oldest first."""
        return self._wait(self._artifacts.versions, name)


class ArtifactKeeper(Protocol):
    """Stores the artifacts of results: the `ArtifactsCapability` of a host."""

    @property
    def store(self) -> object: ...

    async def keep(self, session_id: str, run_id: str, artifact: Artifact, digest: str) -> str:
        """Store an artifact of a result for a run and return its URI; equal data in a run is stored once.

        Raises:
            ToolError: the host's limit is reached.
        """
        ...

    async def upload(self, session_id: str, run_id: str, name: str, data: bytes, media_type: str) -> str:
        """Store a file of a person for a session, or for a run without a session, and return its URI.

        If the newest version already has this data, no new version is stored.

        Raises:
            ToolError: the host's limit is reached, or the name or media type is invalid.
        """
        ...

    async def read(self, uri: str, session_id: str | None = None, run_id: str = "") -> StoredArtifact | None:
        """Return the data of a URI; None if it does not exist or belongs to another session.

        If the session is "", `run_id` is the run that it must belong to.
        """
        ...

    async def drop(self, session_id: str, run_id: str) -> int:
        """Delete the artifacts of one run, but not those of its children; return the number of versions."""
        ...

    async def forget(self, session_id: str, *, run_id: str = "", before: float | None = None) -> int:
        """Drop the files of a session and the artifacts of its runs; return the number of versions."""
        ...
