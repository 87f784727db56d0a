"""What results refer to by a URI: artifacts, files, and results that were too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from toolgen.calls.errors import UnknownArtifactError
from toolgen.calls.steps.frame import RuntimeServices

if TYPE_CHECKING:
    from toolgen.capabilities import StoredArtifact


@final
class RuntimeArtifacts:
    """The stored artifacts of one runtime, as `Runtime.artifacts`."""

    def __init__(self, services: RuntimeServices) -> None:
        self._keeper = services.artifacts

    async def load(self, uri: str, *, session_id: str | None = None) -> StoredArtifact:
        """Return the data of a URI.

        `session_id` is whose it has to be, "" for runs of no session; without one it is not compared.

        Raises:
            UnknownArtifactError: there is nothing, or it belongs to another session.
            StoreError: the store cannot be used.
        """
        artifact = None if self._keeper is None else await self._keeper.read(uri, session_id)
        if artifact is None:
            is_uri = uri.startswith("artifact:")
            raise UnknownArtifactError(
                f"there is no artifact {uri!r}",
                hint="it may be forgotten, or belong to another session"
                if is_uri
                else "name its URI, which begins with artifact: and stands in the result of its call",
            )
        return artifact
