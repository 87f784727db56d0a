"""Artifacts of results by reference: stored before anybody sees the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from ..engine import ForgottenRun, OnForget
from ..errors import ToolError, UnknownArtifactError
from ..results import Artifact, ArtifactRef, ToolResult
from .boundary import Contained, run_with_timeout
from .failures import log
from .frame import Frame
from .services import RuntimeServices

if TYPE_CHECKING:
    from ..capabilities import ArtifactsCapability, StoredArtifact

NO_STORE: Final = "the runtime has no store of artifacts"
"""What `ArtifactRef.not_kept` says then; the data is only in the result."""
_FAILED: Final = "the store of artifacts failed"


async def store_artifacts(frame: Frame, result: ToolResult) -> ToolResult:
    """Store the artifacts of a result and return the result with their references.

    The result stands where the store fails; the reference says so, and the log has the failure.
    """
    found = [replace(artifact, ref=await _reference(frame, artifact)) for artifact in result.artifacts]
    return replace(result, artifacts=tuple(found))


async def load_artifact(services: RuntimeServices, uri: str, session_id: str | None) -> StoredArtifact:
    """Return the artifact, file or overflowed result that a URI names; as `Runtime.artifact`.

    Raises:
        UnknownArtifactError: there is nothing, or it belongs to another session.
    """
    keeper = keeper_of(services)
    found = None if keeper is None else await keeper.read(uri, session_id)
    if found is None:
        raise UnknownArtifactError(
            f"there is no artifact {uri!r}", hint="it may be forgotten, or belong to another session"
        )
    return found


def keeper_of(services: RuntimeServices) -> ArtifactsCapability | None:
    """Return the artifacts capability of a runtime; None where it has none."""
    found = services.capabilities.get("artifacts")
    if found is None:
        return None
    from ..capabilities import ArtifactsCapability  # a host without capabilities never needs it

    return found if isinstance(found, ArtifactsCapability) else None


def dropping(services: RuntimeServices) -> OnForget | None:
    """Return the function that drops the artifacts of forgotten runs; None where none are stored."""
    keeper = keeper_of(services)
    if keeper is None:
        return None

    async def drop(runs: Sequence[ForgottenRun]) -> None:
        for run in runs:
            await keeper.drop(run.session, run.run_id)

    return drop


async def _reference(frame: Frame, artifact: Artifact) -> ArtifactRef:
    limits, size = frame.services.limits, len(artifact.json)
    digest = sha256(artifact.json).hexdigest()
    is_small = size <= min(limits.inline_artifact_bytes, limits.result_bytes)
    uri, why = await _store(frame, artifact, digest)
    return ArtifactRef(
        kind=artifact.kind,
        uri=uri,
        media_type="application/json",
        size=size,
        digest=f"sha256:{digest}",
        json=artifact.json.decode() if is_small else "",
        not_kept=why,
    )


async def _store(frame: Frame, artifact: Artifact, digest: str) -> tuple[str, str]:
    """Store an artifact and return its URI and ""; or "" and the reason why it was not stored."""
    keeper = keeper_of(frame.services)
    if keeper is None:
        return "", NO_STORE
    services, meta = frame.services, frame.meta

    async def keep() -> str:
        work = keeper.keep(meta.session_id, services.run_id or meta.run_id, artifact, digest)
        return await run_with_timeout(services.stage_timeout, work)

    what = f"run {meta.run_id}: an artifact of the call {meta.tool_call_id}"
    try:
        with Contained():
            return await services.store_retry.run(keep, what, is_idempotent=True), ""
    except ToolError as error:  # the host allows no more
        log.warning("artifact %s of %s was not stored: %s", artifact.kind, frame.spec.id, error)
        return "", str(error)
    except Exception:
        log.exception("artifact %s of %s was not kept", artifact.kind, frame.spec.id)
        return "", _FAILED
