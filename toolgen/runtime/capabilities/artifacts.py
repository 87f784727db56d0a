"""Files that tools leave behind: versioned, by name, of a session or of a user.

A version is there as soon as it is saved, whatever becomes of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import quote

from toolgen.contract.json_value import Json

from ..call.bridge import Wait
from ..calls import CallMeta
from ..errors import ToolError
from .capability import CallScope, Conflict

_NAME: Final = re.compile(r"[^/\\\x00-\x1f\ud800-\udfff]{1,255}")
_MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")
"""Type and subtype (RFC 6838, section 4.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactInfo:
    """One version of an artifact, without its data."""

    name: str
    version: int
    """From 1, by name."""
    media_type: str
    size: int
    """Bytes."""
    uri: str = ""
    """`artifact:session/s-9/plan.png?version=1`; names it in results."""
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArtifact:
    info: ArtifactInfo
    data: bytes


class ArtifactStore(Protocol):
    """Keeps versions by owner and name. Each method is one atomic step, over all processes."""

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        """Keep a new version and return its number.

        Raises:
            ToolError: the owner would have more than `most` bytes.
        """
        ...

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        """Return a version, the newest by default; None when there is none."""
        ...

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        """Return the versions of one name, oldest first; without a name the newest of each, by name."""
        ...

    async def forget(self, owner: str, before: float | None = None) -> int:
        """Drop all versions of an owner, and of the owners `<owner>/…` below it; return how many.

        With `before`, in seconds since 1970, only those of owners that saved nothing from then on.
        """
        ...


def is_of(owner: str, above: str) -> bool:
    """Return whether an owner is this one, or stands below it."""
    return owner == above or owner.startswith(f"{above}/")


def too_many_bytes(most: int) -> ToolError:
    """Return what a store raises for an owner whose artifacts would be too large together."""
    return ToolError(f"all artifacts together may have {most} bytes")


class Artifacts:
    """The artifacts as one call sees them: `ctx.artifacts`. With `user:` before it a name is the user's."""

    def __init__(self, capability: ArtifactsCapability, call: CallScope) -> None:
        self._capability = capability
        self._call = call

    async def save(
        self,
        name: str,
        data: bytes,
        media_type: str = "application/octet-stream",
        metadata: Mapping[str, Json] | None = None,
    ) -> ArtifactInfo:
        """Keep a new version.

        Raises:
            ValueError: the name or the media type is none.
            ToolError: the data is larger than the host allows.
        """
        if not _MEDIA_TYPE.fullmatch(media_type):
            raise ValueError(f"{media_type!r} is no media type, such as image/png")
        owner, plain = self._place(name)
        facts = dict(metadata or {})
        version = await self._capability.save(owner, plain, data, media_type, facts)
        info = ArtifactInfo(
            name=name,
            version=version,
            media_type=media_type,
            size=len(data),
            uri=_uri(owner, plain, version),
            metadata=facts,
        )
        if self._call.report is not None:
            self._call.report(stored=info)
        return info

    async def load(self, name: str, version: int | None = None) -> StoredArtifact:
        """Return a version, the newest by default.

        Raises:
            ToolError: there is none.
        """
        owner, plain = self._place(name)
        found = await self._capability.store.load(owner, plain, version)
        if found is None:
            raise ToolError(f"there is no artifact {name!r}" + (f" of version {version}" if version else ""))
        return found

    async def list(self, scope: str = "session") -> tuple[ArtifactInfo, ...]:
        """Return the newest version of each artifact of the session, or of the user, by name."""
        owner, _ = self._place("user:x" if scope == "user" else "x")
        return await self._capability.store.listed(owner)

    async def versions(self, name: str) -> tuple[ArtifactInfo, ...]:
        """Return all versions of an artifact, oldest first."""
        owner, plain = self._place(name)
        return await self._capability.store.listed(owner, plain)

    async def save_overflow(self, document: bytes) -> str:
        """Keep a result that is too large for the model, and return its URI."""
        call = self._call.meta.tool_call_id or "call"
        name = f"{self._call.spec.name} {re.sub(r'[^A-Za-z0-9._-]', '-', call)[:100]}.json"
        return (await self.save(name, document, "application/json")).uri

    def _place(self, name: str) -> tuple[str, str]:
        scope, colon, plain = name.partition(":")
        is_users = bool(colon) and scope == "user"
        plain = plain if is_users else name
        if not _NAME.fullmatch(plain) or plain in (".", ".."):
            raise ToolError(f"{name!r} is no name of an artifact: up to 255 characters, and no slash")
        return self._capability.owner(is_users, self._call.meta), plain


class SyncArtifacts:
    """The artifacts as one call sees them, for a synchronous executor; each method waits in its thread.

    All of them raise `CallEndedError` when the call is over, or ends meanwhile.
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
        """Keep a new version.

        Raises:
            ValueError: the name or the media type is none.
            ToolError: the data is larger than the host allows.
        """
        return self._wait(self._artifacts.save, name, data, media_type, metadata)

    def load(self, name: str, version: int | None = None) -> StoredArtifact:
        """Return a version, the newest by default.

        Raises:
            ToolError: there is none.
        """
        return self._wait(self._artifacts.load, name, version)

    def list(self, scope: str = "session") -> tuple[ArtifactInfo, ...]:
        """Return the newest version of each artifact of the session, or of the user, by name."""
        return self._wait(self._artifacts.list, scope)

    def versions(self, name: str) -> tuple[ArtifactInfo, ...]:
        """Return all versions of an artifact, oldest first."""
        return self._wait(self._artifacts.versions, name)


class ArtifactsCapability:
    """Gives executors `ctx.artifacts`, and the runtime a place for results that are too large."""

    name = "artifacts"

    def __init__(
        self,
        store: ArtifactStore,
        *,
        user: Callable[[CallMeta], str] = lambda meta: meta.labels.get("user", ""),
        most_bytes: int = 50_000_000,
        most_bytes_of_owner: int = 500_000_000,
    ) -> None:
        self.store = store
        self._user = user
        self._most_bytes = most_bytes
        self._most_bytes_of_owner = most_bytes_of_owner

    def open(self, call: CallScope) -> Artifacts:
        return Artifacts(self, call)

    def for_thread(self, opened: Artifacts, wait: Wait) -> SyncArtifacts:
        return SyncArtifacts(opened, wait)

    async def close(self, opened: Sequence[tuple[Artifacts, bool]]) -> Sequence[Conflict]:
        return ()

    def owner(self, is_users: bool, meta: CallMeta) -> str:
        """Return whose artifacts a call sees.

        Raises:
            RuntimeError: the host's `CallMeta` does not say.
        """
        owner = self._user(meta) if is_users else meta.session_id
        kind = "user" if is_users else "session"
        if not owner:
            raise RuntimeError(
                f"the CallMeta of this call does not say whose artifacts of the {kind} it means"
            )
        return f"{kind}/{owner}"

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json]
    ) -> int:
        """Keep a new version and return its number.

        Raises:
            ToolError: it, or all of its owner, would be too large.
        """
        if len(data) > self._most_bytes:
            raise ToolError(f"the artifact has {len(data)} bytes, and may have {self._most_bytes}")
        return await self.store.save(owner, name, data, media_type, metadata, self._most_bytes_of_owner)


def _uri(owner: str, name: str, version: int) -> str:
    return f"artifact:{quote(owner)}/{quote(name, safe='')}?version={version}"
