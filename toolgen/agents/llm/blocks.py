"""Content blocks of a result (MCP, Server Features, Tools) converted for a model: text and files."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from typing import Any, Final, get_args

from pydantic_ai.messages import AudioMediaType, BinaryContent, DocumentMediaType, ImageMediaType, UserContent
from pydantic_ai.models import Model
from pydantic_core import to_json

from toolgen.contract.json_value import Json

from ..planner.portable import portable_json, portable_text
from ..uploads import is_text

_READABLE: Final[Mapping[str, frozenset[str]]] = {
    "image": frozenset(get_args(ImageMediaType)),
    "audio": frozenset(get_args(AudioMediaType)),
}
"""Media types that providers accept, by kind; any other type would make them reject the whole request."""


def accepted_media_types(model: Model | None) -> frozenset[str]:
    """Return the media types that a model accepts; only images if its profile is unknown."""
    if model is None:
        return _READABLE["image"]
    try:
        profile = model.profile
    except NotImplementedError:  # a router has no profile of its own
        return _READABLE["image"]
    kinds = []
    if profile.get("supports_image_input", True):
        kinds.append("image")
    if profile.get("supports_audio_file_input", True):
        kinds.append("audio")
    documents = frozenset[str]()
    if profile.get("supports_document_input", True):
        documents = frozenset(profile.get("supported_document_media_types", get_args(DocumentMediaType)))
    return documents.union(*(_READABLE[kind] for kind in kinds))


def blocks_content(blocks: Iterable[object], media_types: Set[str]) -> list[UserContent]:
    """Return the content of the blocks; content that the model does not accept is replaced with a note.

    Each file is preceded by its name.
    """
    content: list[UserContent] = []
    for block in blocks:
        part = _block_content(block, media_types)
        if isinstance(part, BinaryContent) and isinstance(block, Mapping) and (name := block.get("name")):
            content.append(portable_text(f"{name}:"))
        content.append(part)
    return content


def _block_content(block: object, media_types: Set[str]) -> UserContent:
    try:
        block = portable_json(block)
        return _read(block if isinstance(block, Mapping) else {}, media_types) or to_json(block).decode()
    except (ValueError, RecursionError):  # for example nested deeper than JSON can be written
        return "[content that cannot be written as JSON]"


def _read(block: Mapping[str, Any], media_types: Set[str]) -> BinaryContent | str:
    """Return the content of a block; "" for a block of an unknown kind."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text or "[empty text]"
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return _file(data, str(block.get("mimeType") or ""), str(kind), media_types)
        case {"type": "resource_link", "uri": str(uri)}:
            return _link(uri, block)
        case {"type": "resource", "resource": {"uri": str(uri)}}:
            return _embedded(str(block.get("name") or uri), block["resource"], media_types)
        case _:
            return ""


def _file(data: str, media_type: str, name: str, media_types: Set[str]) -> BinaryContent | str:
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:  # invalid base64 or non-ASCII text
        return f"[{name} that cannot be read]"
    if media_type not in media_types:
        return f"[{name} ({media_type or 'of an unknown type'}, {len(content)} bytes) that cannot be shown]"
    return BinaryContent(data=content, media_type=media_type)


def _link(uri: str, block: Mapping[str, Json]) -> str:
    size = block.get("size")
    facts = [str(block.get("mimeType") or ""), f"{size} bytes" if size is not None else ""]
    description = ", ".join(fact for fact in facts if fact)
    name = f"{block.get('name') or 'resource'}{f' ({description})' if description else ''}"
    about = block.get("description")
    return f"{name}: {uri}" + (f"\n{about}" if about else "")


def _embedded(name: str, resource: Mapping[str, Json], media_types: Set[str]) -> BinaryContent | str:
    if isinstance(text := resource.get("text"), str):
        return f"{name}:\n{text}"
    data, media_type = str(resource.get("blob") or ""), str(resource.get("mimeType") or "")
    if is_text(media_type):
        with suppress(ValueError):  # invalid base64 or UTF-8
            return f"{name}:\n{base64.b64decode(data, validate=True).decode()}"
    return _file(data, media_type, name, media_types)
