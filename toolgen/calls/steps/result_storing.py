"""Stores artifacts and oversized documents of a result before the result is shown."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.boundary import Contained, run_with_timeout
from toolgen.contract.limits import LONGEST_CHARACTER, truncate_text

from ..content import ResourceContent
from ..errors import ToolError
from ..results import Artifact, ArtifactRef, ToolResult
from .failures import log
from .result_encoding import truncation_marker

if TYPE_CHECKING:
    from .frame import Frame


NO_STORE: Final = "the runtime has no artifact store"
"""`ArtifactRef.not_stored_reason` without an artifact store. Only the result contains the data then."""
_FAILED: Final = "the artifact store failed"


async def store_and_truncate(frame: Frame, result: ToolResult) -> ToolResult:
    """Return a result as after-hooks receive it: with stored artifacts, truncated, recorded for the policy.

    If the artifact store fails, the result stays valid; the reference has the reason, and the failure is
    logged.
    """
    if frame.services.policy is not None:
        from .policy import remember

        remember(result, frame.context.values)
    artifact: Any
    for artifact in result.artifacts:
        artifact.ref = await _reference(frame, artifact)
    return await truncate_result(frame, result)


async def truncate_result(frame: Frame, result: ToolResult) -> ToolResult:
    """Truncate the document and the display text of a result to the limit of the tool.

    A longer document becomes a marker with the source of the limit, the length and beginning of the document,
    and the URI of the whole document.
    """
    spec, document, limit = frame.spec, result.json, frame.limit
    if len(result.display) > limit // LONGEST_CHARACTER:
        result = replace(result, display=truncate_text(result.display, limit))
    if len(document) <= limit:
        return result
    uri = ""
    if "artifacts" in frame.services.capabilities:
        try:
            with Contained():
                save = partial(frame.context.artifacts.save_overflow, document)
                uri = await frame.services.retry_step(save, f"result of {spec.id}", is_idempotent=False)
        except Exception:  # noqa: BLE001 - the author's store; logged, and the result has no URI
            log.exception("the untruncated result of %s was not stored", spec.id)
    marker = truncation_marker(document, limit, uri)
    if not uri:
        return replace(result, json=marker)
    link = ResourceContent(
        uri=uri, name=f"{spec.name} result", media_type="application/json", size=len(document)
    )
    return replace(result, json=marker, content=(*result.content, link))


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
        not_stored_reason=why,
    )


async def _store(frame: Frame, artifact: Artifact, digest: str) -> tuple[str, str]:
    """Store an artifact and return its URI and ""; or "" and the reason why it was not stored."""
    keeper = frame.services.artifacts
    if keeper is None:
        return "", NO_STORE
    services, meta = frame.services, frame.meta

    async def keep() -> str:
        work = keeper.keep(meta.session_id, services.run_id or meta.run_id, artifact, digest)
        return await run_with_timeout(services.stage_timeout, work)

    what = f"run {meta.run_id}: an artifact of the call {meta.tool_call_id}"
    try:
        with Contained():
            return await services.retry_step(keep, what, is_idempotent=True), ""
    except ToolError as error:  # the host's limit is reached
        log.warning("artifact %s of %s was not stored: %s", artifact.kind, frame.spec.id, error)
        return "", str(error)
    except Exception:  # noqa: BLE001 - the author's store; logged, and the result has the reason
        log.exception("artifact %s of %s was not stored", artifact.kind, frame.spec.id)
        return "", _FAILED
