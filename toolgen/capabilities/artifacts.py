"""Artifacts: versioned files by name, of a session or of a user; and artifacts of results.

A version exists as soon as it is saved, regardless of how the call ends. One store contains both kinds: an
artifact of a result belongs to its run, and its name is the SHA-256 of its data.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol
from urllib.parse import quote, unquote

from toolgen.calls.call import CallMeta
from toolgen.calls.capability import CallScope
from toolgen.calls.errors import ToolError
from toolgen.calls.provided import ArtifactInfo, Artifacts, StoredArtifact, SyncArtifacts
from toolgen.calls.results import Artifact
from toolgen.calls.steps.bridge import Wait
from toolgen.contract.json_value import Json
from toolgen.events.records import ArtifactSaved

_NAME: Final = re.compile(r"[^/\\\x00-\x1f\ud800-\udfff]{1,255}")
_MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")
"""Type and subtype (RFC 6838, section 4.2)."""
_URI: Final = re.compile(r"artifact:([^?]+)/([^/?]+)\?version=([1-9][0-9]{0,17})")
JSON_TYPE: Final = "application/json"
"""Media type of the artifacts of results."""


class ArtifactStore(Protocol):
    """Store of versions by owner and name. Each method is atomic across processes."""

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
    ) -> int:
        """Store a new version and return its number.

        Raises:
            ToolError: The artifacts of the owner would exceed `most` bytes.
        """
        ...

    async def load(self, owner: str, name: str, version: int | None) -> StoredArtifact | None:
        """Return a version, the newest by default; None if there is none."""
        ...

    async def listed(self, owner: str, name: str | None = None) -> tuple[ArtifactInfo, ...]:
        """Return the versions of one name, oldest first; without a name the newest of each, by name."""
        ...

    async def forget(self, owner: str, before: float | None = None) -> int:
        """Delete all versions of an owner; return their number.

        An owner with a trailing slash means all owners with this prefix. With `before`, in seconds since
        1970, only owners are deleted that have saved nothing since then.
        """
        ...


def overflow_name(tool: str, call: str) -> str:
    """Return the file name for a result that was too large; the tool has the name that models see."""
    return f"{tool} {re.sub(r'[^A-Za-z0-9._-]', '-', call or 'call')[:100]}.json"


def is_media_type(text: str) -> bool:
    """Return whether a text is a type and a subtype, for example `image/png`."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def check_name(name: str) -> None:
    """Check the name of an artifact.

    Raises:
        ToolError: The text is not an artifact name.
    """
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ToolError(f"{name!r} is not an artifact name; use up to 255 characters without a slash")


def is_of(owner: str, owner_or_prefix: str) -> bool:
    """Return whether an owner equals an argument of `ArtifactStore.forget`, or has it as prefix."""
    return owner == owner_or_prefix or (owner_or_prefix.endswith("/") and owner.startswith(owner_or_prefix))


def too_many_bytes(most: int) -> ToolError:
    """Return the error for an owner whose artifacts would exceed the total limit."""
    return ToolError(f"all artifacts together exceed the limit of {most} bytes")


class CallArtifacts(Artifacts):
    """The artifacts of a capability that one call can use."""

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
        if not is_media_type(media_type):
            raise ValueError(f"{media_type!r} is not a media type such as image/png")
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
            saved = ArtifactSaved(name=name, version=version, media_type=media_type, size=len(data))
            self._call.report(event=saved)
        return info

    async def load(self, name: str, version: int | None = None) -> StoredArtifact:
        owner, plain = self._place(name)
        artifact = await self._capability.store.load(owner, plain, version)
        if artifact is None:
            raise ToolError(
                f"there is no artifact {name!r}" + (f" with version {version}" if version else "")
            )
        return artifact

    async def list(self, scope: str = "session") -> tuple[ArtifactInfo, ...]:
        owner, _ = self._place("user:x" if scope == "user" else "x")
        return await self._capability.store.listed(owner)

    async def versions(self, name: str) -> tuple[ArtifactInfo, ...]:
        owner, plain = self._place(name)
        return await self._capability.store.listed(owner, plain)

    async def save_overflow(self, document: bytes) -> str:
        name = overflow_name(self._call.spec.name, self._call.meta.tool_call_id)
        return (await self.save(name, document, JSON_TYPE)).uri

    def _place(self, name: str) -> tuple[str, str]:
        scope, colon, plain = name.partition(":")
        is_users = bool(colon) and scope == "user"
        plain = plain if is_users else name
        check_name(plain)
        return self._capability.owner(is_users, self._call.meta), plain


class ArtifactsCapability:
    """Provides `ctx.artifacts`, and stores artifacts of results and shortened results.

    Args:
        store: Store of the data.
        user: Function that returns the user of a call; by default the label `user`.
        most_bytes: Maximum size of one artifact in bytes.
        most_bytes_of_owner: Maximum size of all artifacts of an owner in bytes.
    """

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

    def open(self, call: CallScope) -> CallArtifacts:
        """Internal: return the artifacts of a call."""
        return CallArtifacts(self, call)

    def for_thread(self, opened: CallArtifacts, wait: Wait) -> SyncArtifacts:
        """Internal: return the artifacts of a call for its thread."""
        return SyncArtifacts(opened, wait)

    async def close(self, opened: Sequence[tuple[CallArtifacts, bool]]) -> None:
        """Internal: do nothing, because each version is stored when it is saved."""

    def owner(self, is_users: bool, meta: CallMeta) -> str:
        """Internal: return the owner of the artifacts that a call can use.

        Raises:
            RuntimeError: The host's `CallMeta` does not determine it.
        """
        owner = self._user(meta) if is_users else meta.session_id
        kind = "user" if is_users else "session"
        if not owner:
            raise RuntimeError(f"the CallMeta of this call does not name the {kind} whose artifacts it uses")
        if owner.endswith("/"):
            raise RuntimeError(f"the {kind} id {owner!r} must not end with a slash")
        return f"{kind}/{owner}"

    async def save(
        self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json]
    ) -> int:
        """Internal: store a new version and return its number.

        Raises:
            ToolError: The artifact, or all artifacts of its owner, would be too large.
        """
        if len(data) > self._most_bytes:
            raise ToolError(f"the artifact has {len(data)} bytes; the limit is {self._most_bytes}")
        return await self.store.save(owner, name, data, media_type, metadata, self._most_bytes_of_owner)

    async def keep(self, session_id: str, run_id: str, artifact: Artifact, digest: str) -> str:
        """Internal: store an artifact of a result for a run and return its URI.

        Equal data of a run is stored once per kind, because the kind determines who can read it.

        Raises:
            ToolError: See `save`.
        """
        owner = _run(session_id, run_id)
        versions = await self.store.listed(owner, digest)
        facts: dict[str, Json] = {"kind": artifact.kind, "tool": artifact.source_tool}
        for version in versions:
            if version.metadata == facts:
                return _uri(owner, digest, version.version)
        return _uri(owner, digest, await self.save(owner, digest, artifact.json, JSON_TYPE, facts))

    async def upload(self, session_id: str, run_id: str, name: str, data: bytes, media_type: str) -> str:
        """Internal: store a file of a user, like `ArtifactKeeper.upload`."""
        check_name(name)
        if session_id.endswith("/"):
            raise ToolError(f"the session id {session_id!r} must not end with a slash")
        owner = f"session/{session_id}" if session_id else _run("", run_id)
        facts: dict[str, Json] = {"audience": "model", "digest": hashlib.sha256(data).hexdigest()}
        versions = await self.store.listed(owner, name)
        if versions and (versions[-1].media_type, versions[-1].metadata) == (media_type, facts):
            return _uri(owner, name, versions[-1].version)
        return _uri(owner, name, await self.save(owner, name, data, media_type, facts))

    async def read(self, uri: str, session_id: str | None = None, run_id: str = "") -> StoredArtifact | None:
        """Internal: return the data of a URI: an artifact of a result, a file, or a result that was too
        large.

        With `session_id`, only artifacts of the session and its runs are readable; "" means runs without a
        session, which `run_id` restricts to one run and its child runs. None if the artifact does not exist
        or is not readable.
        """
        parts = _URI.fullmatch(uri)
        if parts is None:
            return None
        owner, name = unquote(parts[1]), unquote(parts[2])
        if session_id is not None and not any(is_of(owner, own) for own in _of_session(session_id, run_id)):
            return None
        artifact = await self.store.load(owner, name, int(parts[3]))
        return None if artifact is None else replace(artifact, info=replace(artifact.info, uri=uri))

    async def drop(self, session_id: str, run_id: str) -> int:
        """Internal: drop the artifacts of one run, without those of its children; return how many
        versions."""
        return await self.store.forget(_run(session_id, run_id))

    async def forget(self, session_id: str, *, run_id: str = "", before: float | None = None) -> int:
        """Delete the files of a session and the artifacts of its runs, and return the number of versions.
        Files of users are not deleted.

        With `run_id`, only those of this run and its child runs. With `before`, in seconds since 1970, only
        those of owners that have saved nothing since then.
        """
        run = _run(session_id, run_id)
        owners = (run, f"{run}/") if run_id else _of_session(session_id)
        return sum([await self.store.forget(owner, before) for owner in owners])


def _run(session_id: str, run_id: str) -> str:
    """Return the artifact owner for a run."""
    return f"run/{quote(session_id, safe='')}/{run_id}"


def _of_session(session_id: str, run_id: str = "") -> tuple[str, ...]:
    """Return the owners of a session's artifacts, as `ArtifactStore.forget` accepts them.

    Without a session they are the owners of a run and its child runs, or of all runs without a session.
    """
    runs = _run(session_id, "")
    if session_id.endswith("/"):  # it has no files, and its owner would match those of others
        return (runs,)
    if session_id:
        return (f"session/{session_id}", runs)
    return (f"{runs}{run_id}", f"{runs}{run_id}/") if run_id else (runs,)


def _uri(owner: str, name: str, version: int) -> str:
    return f"artifact:{quote(owner)}/{quote(name, safe='')}?version={version}"
