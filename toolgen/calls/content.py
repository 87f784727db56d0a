"""Content blocks of a result beside its JSON: text, images, audio and resources.

The kinds and their fields are those of MCP's content blocks (MCP, Server Features, Tools).
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolgen.contract.json_value import Json


@frozen_record
class TextContent:
    """Text for the model, in the order of the blocks."""

    text: str
    type: Literal["text"] = "text"

    def as_json(self) -> dict[str, Json]:
        return {"type": self.type, "text": self.text}


@frozen_record
class ImageContent:
    """An image; `media_type` is one such as `image/png` (RFC 6838)."""

    data: bytes
    media_type: str
    type: Literal["image"] = "image"

    def as_json(self) -> dict[str, Json]:
        return {"type": self.type, "data": base64.b64encode(self.data).decode(), "mimeType": self.media_type}


@frozen_record
class AudioContent:
    """Audio; `media_type` is one such as `audio/wav`."""

    data: bytes
    media_type: str
    type: Literal["audio"] = "audio"

    def as_json(self) -> dict[str, Json]:
        return {"type": self.type, "data": base64.b64encode(self.data).decode(), "mimeType": self.media_type}


@frozen_record
class ResourceContent:
    """A resource: a link, such as to an artifact that was too large for the result, or its data too."""

    uri: str
    name: str
    media_type: str = ""
    description: str = ""
    size: int | None = None
    """Bytes."""
    data: bytes = b""
    """What it holds, where that came with it; a model gets it where it takes the media type."""
    type: Literal["resource_link"] = "resource_link"

    def as_json(self) -> dict[str, Json]:
        optional: dict[str, Json] = {"description": self.description or None, "size": self.size}
        facts = {key: value for key, value in optional.items() if value is not None}
        if self.data:
            blob = base64.b64encode(self.data).decode()
            resource: Json = {"uri": self.uri, "mimeType": self.media_type, "blob": blob}
            return {"type": "resource", "resource": resource, "name": self.name, **facts}
        if self.media_type:
            facts["mimeType"] = self.media_type
        return {"type": self.type, "uri": self.uri, "name": self.name, **facts}


Content: TypeAlias = TextContent | ImageContent | AudioContent | ResourceContent


def content_of(block: Mapping[str, Any]) -> Content:
    """Return the content block of its `as_json`."""
    match block["type"]:
        case "text":
            return TextContent(text=block["text"])
        case "image":
            return ImageContent(data=base64.b64decode(block["data"]), media_type=block["mimeType"])
        case "audio":
            return AudioContent(data=base64.b64decode(block["data"]), media_type=block["mimeType"])
    resource = block.get("resource", block)
    return ResourceContent(
        uri=resource["uri"],
        name=block["name"],
        media_type=resource.get("mimeType", ""),
        description=block.get("description", ""),
        size=block.get("size"),
        data=base64.b64decode(resource.get("blob", "")),
    )
