"""Content blocks of a result, in addition to its JSON: text, images, audio and resources.

The kinds and their fields are MCP's (MCP, Server Features, Tools).
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
    """Text for the model."""

    text: str
    """The text."""
    type: Literal["text"] = "text"
    """Internal: kind of the block."""

    def as_json(self) -> dict[str, Json]:
        """Return the block as MCP has it."""
        return {"type": self.type, "text": self.text}


@frozen_record
class ImageContent:
    """An image for the model."""

    data: bytes
    """Encoded image."""
    media_type: str
    """Media type, such as `image/png`."""
    type: Literal["image"] = "image"
    """Internal: kind of the block."""

    def as_json(self) -> dict[str, Json]:
        """Return the block as MCP has it."""
        return {"type": self.type, "data": base64.b64encode(self.data).decode(), "mimeType": self.media_type}


@frozen_record
class AudioContent:
    """Audio for the model."""

    data: bytes
    """Encoded audio."""
    media_type: str
    """Media type, such as `audio/wav`."""
    type: Literal["audio"] = "audio"
    """Internal: kind of the block."""

    def as_json(self) -> dict[str, Json]:
        """Return the block as MCP has it."""
        return {"type": self.type, "data": base64.b64encode(self.data).decode(), "mimeType": self.media_type}


@frozen_record
class ResourceContent:
    """A link to a resource, for example to a stored artifact, with or without its data."""

    uri: str
    """URI of the resource."""
    name: str
    """Name for people and models."""
    media_type: str = ""
    """Media type, such as `text/csv`."""
    description: str = ""
    """Description for the model."""
    size: int | None = None
    """Size in bytes."""
    data: bytes = b""
    """Contents, which the model gets if it accepts the media type; empty for a link."""
    type: Literal["resource_link"] = "resource_link"
    """Internal: kind of the block."""

    def as_json(self) -> dict[str, Json]:
        """Return the block as MCP has it."""
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
"""Content block of a result."""


def content_of(block: Mapping[str, Any]) -> Content:
    """Return the content block from the document of its `as_json`."""
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
