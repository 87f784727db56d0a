"""Artifacts as resources: what the links of results name, for the session that got them."""

from __future__ import annotations

import base64

from mcp import MCPError, types
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from toolgen.capabilities import StoredArtifact
from toolgen.contract.logs import log_failure, logger
from toolgen.runtime import Runtime, UnknownArtifactError

from .identity import Context, Identities

log = logger("toolgen.mcp")


class ArtifactResources:
    """Serves `resources/list` and `resources/read` of one server."""

    def __init__(self, runtime: Runtime, identities: Identities) -> None:
        self._runtime = runtime
        self._identities = identities

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return no resource: clients learn of them by the links in results (MCP, Tools, Resource Links)."""
        return types.ListResourcesResult(resources=[])

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return the data of an artifact, as text where it is text.

        Raises:
            MCPError: there is none, or it belongs to another session (-32602); or the store failed.
        """
        meta = await self._identities.meta(ctx)
        try:
            stored = await self._runtime.artifacts.load(params.uri, session_id=meta.session_id)
        except UnknownArtifactError as error:
            raise MCPError(INVALID_PARAMS, f"{error.message}: {error.hint}", {"uri": params.uri}) from None
        except Exception as error:
            reference = log_failure(log, error, "artifact %s cannot be read", params.uri)
            raise MCPError(INTERNAL_ERROR, f"it cannot be read now (reference {reference})") from None
        return types.ReadResourceResult(contents=[_contents(params.uri, stored)])


def _contents(uri: str, stored: StoredArtifact) -> types.TextResourceContents | types.BlobResourceContents:
    media_type = stored.info.media_type
    if media_type == "application/json" or media_type.startswith("text/"):
        try:
            return types.TextResourceContents(uri=uri, mime_type=media_type, text=stored.data.decode())
        except UnicodeDecodeError:
            pass
    blob = base64.b64encode(stored.data).decode()
    return types.BlobResourceContents(uri=uri, mime_type=media_type or None, blob=blob)
