"""Files in bodies: bytes of a payload, or artifacts of the call that a URI names."""

from __future__ import annotations

import re
from typing import Final, TypeAlias
from urllib.parse import unquote

from toolgen.calls.errors import ToolError
from toolgen.contract.record import frozen_record

from .call import ServedCall

_URI: Final = re.compile(r"artifact:(session|user)/([^?]*)/([^/?]+)\?version=([1-9][0-9]{0,17})")
"""URI of an artifact in `ctx.artifacts`, with owner, name and version."""
_BYTES: Final = "application/octet-stream"

Field: TypeAlias = "tuple[str | None, bytes | str, str | None]"
"""File name, content and media type of a part of a multipart body, in the form for httpx."""


@frozen_record
class FilePart:
    """File in a request: its bytes, or the URI of an artifact."""

    name: str
    """JSON key of its attribute."""
    content: bytes | str


async def loaded(part: FilePart, call: ServedCall | None) -> Field:
    """Return a file with its content.

    Raises:
        ToolError: The artifact does not exist, or does not belong to the call's session or user.
    """
    if isinstance(part.content, bytes):
        return part.name, part.content, _BYTES
    match = _URI.fullmatch(part.content)
    if match is None:
        raise ToolError(f"{part.name} is not the URI of an artifact of this session")
    if call is None:
        raise ToolError(f"{part.name} is an artifact, but the call has no session")
    scope, owner, name = match[1], unquote(match[2]), unquote(match[3])
    if scope == "session" and owner != call.context.meta.session_id:
        raise ToolError(f"{part.name} is an artifact of another session")
    try:
        artifacts = call.context.artifacts
    except AttributeError:
        raise ToolError(f"{part.name} is an artifact, but the runtime has no artifact store") from None
    stored = await artifacts.load(f"user:{name}" if scope == "user" else name, int(match[4]))
    return name, stored.data, stored.info.media_type
