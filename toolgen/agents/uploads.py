"""Files from people: validated, stored as artifacts, and linked in their message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolgen.calls.content import ResourceContent
from toolgen.calls.errors import ToolError
from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.calls.steps.frame import RuntimeServices
    from toolgen.contract.json_value import Json

_SIGNATURES: Final[Mapping[str, tuple[bytes, ...]]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
    "application/pdf": (b"%PDF-",),
}
"""Magic bytes by media type: providers reject a whole request if a file has another type."""


class BadFileError(ToolgenError):
    """A file of a person cannot be accepted; the message names the file and the reason."""


@frozen_record
class Upload:
    """A file of a person, for the model."""

    name: str
    """Up to 255 characters without a slash."""
    data: bytes
    media_type: str
    """Type and subtype, for example `image/png`; the data has to match it."""


def is_text(media_type: str) -> bool:
    """Return whether files of a media type are text, which every model reads."""
    return media_type.startswith("text/") or media_type.endswith(("/json", "+json", "/xml", "+xml"))


async def stored_files(
    files: Sequence[Upload], services: RuntimeServices, session_id: str, run_id: str
) -> tuple[dict[str, Json], ...]:
    """Store the files of a message, and return the links to them.

    Raises:
        BadFileError: a file has no name or does not match its media type, all files together exceed
            `Limits.attached_bytes`, or the runtime stores no files; then no file is stored. It is also raised
            if the store has no room for a file.
        StoreError: the store cannot be used.
    """
    if not files:
        return ()
    keeper, most = services.artifacts, services.limits.attached_bytes
    if keeper is None:
        raise BadFileError(
            f"{files[0].name} cannot be accepted: this runtime has no artifact store",
            hint="add a store: Runtime(capabilities=[ArtifactsCapability(SqliteArtifactStore(…))])",
        )
    for file in files:
        _check(file)
    if (size := sum(len(file.data) for file in files)) > most:
        raise BadFileError(
            f"the files have {size} bytes in total; the limit is {most}",
            hint="send fewer or smaller ones, or raise Limits(attached_bytes=…)",
        )
    links = []
    for file in files:
        try:
            uri = await keeper.upload(session_id, run_id, file.name, file.data, file.media_type)
        except ToolError as error:
            raise BadFileError(f"{file.name}: {error.message}") from error
        link = ResourceContent(uri=uri, name=file.name, media_type=file.media_type, size=len(file.data))
        links.append(link.as_json())
    return tuple(links)


def _check(file: Upload) -> None:
    """Raise if a file has no name, or does not match its media type.

    Raises:
        BadFileError: the file is invalid.
    """
    from toolgen.capabilities.artifacts import check_name, is_media_type

    try:
        check_name(file.name)
    except ToolError as error:
        raise BadFileError(f"{file.name}: {error.message}") from error
    if not is_media_type(file.media_type):
        raise BadFileError(f"{file.name}: {file.media_type!r} is not a media type such as image/png")
    beginnings = _SIGNATURES.get(file.media_type)
    is_other = beginnings is not None and not file.data.startswith(beginnings)
    if file.media_type == "image/webp" and file.data[8:12] != b"WEBP":  # RIFF also contains audio and video
        is_other = True
    if is_text(file.media_type):
        try:
            file.data.decode()
        except UnicodeDecodeError:
            is_other = True
    if is_other:
        raise BadFileError(
            f"{file.name} is not of the media type {file.media_type}",
            hint="pass the media type of its data; text must be UTF-8",
        )
