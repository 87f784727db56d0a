"""Stored artifacts, files and shortened results, by URI."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from toolgen.calls.errors import UnknownArtifactError
from toolgen.calls.steps.frame import RuntimeServices

if TYPE_CHECKING:
    from toolgen.capabilities import StoredArtifact


@final
class RuntimeArtifacts:
    """Stored artifacts."""

    def __init__(self, services: RuntimeServices) -> None:
        self._keeper = services.artifacts

    async def load(self, uri: str, *, session_id: str | None = None) -> StoredArtifact:
        """Return the data of a URI: an artifact, a file of `ctx.artifacts`, or a result that was shortened.

        Args:
            uri: URI of an `ArtifactRef`.
            session_id: Session that must own the data; "" for runs without a session. By default the owner is
                not checked.

        Raises:
            UnknownArtifactError: Nothing has the URI, or it belongs to another session.
            StoreError: The store cannot be used.
        """
        artifact = None if self._keeper is None else await self._keeper.read(uri, session_id)
        if artifact is None:
            is_uri = uri.startswith("artifact:")
            raise UnknownArtifactError(
                f"there is no artifact {uri!r}",
                hint="check the URI; the artifact might have been deleted, or belong to another session"
                if is_uri
                else "pass the URI from the result of its call, which begins with artifact:",
            )
        return artifact
