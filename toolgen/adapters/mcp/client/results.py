"""Conversion of a server's answer to a call into the result of an executor."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

import mcp_types as types

from toolgen.calls.errors import UnfitAnswerError
from toolgen.contract.json_value import Json, is_json
from toolgen.runtime import (
    AudioContent,
    Content,
    ImageContent,
    ResourceContent,
    TextContent,
    ToolOutcome,
    ToolSpec,
    ToolValidationError,
)
from toolgen.shapes.foreign.normal_form import described_link

from .errors import shown_name
from .failures import failure_of, malformed

_MOST_BLOCKS: Final = 1_000
"""Maximum number of content blocks in one answer."""


def outcome_of(answer: types.CallToolResult, spec: ToolSpec, server: str, *, has_schema: bool) -> ToolOutcome:
    """Return the result of a call, with all its content blocks.

    The result is the structured content; if there is none, the text of the blocks before the first other
    block. `has_schema` tells whether the server declared a schema for the structured content.

    Raises:
        ToolError: The server reports that the call failed, or its answer does not fit.
    """
    if answer.is_error:
        raise failure_of(answer, spec)
    if len(answer.content) > _MOST_BLOCKS:
        raise malformed(spec, server, f"{len(answer.content)} blocks of content; {_MOST_BLOCKS} are allowed")
    blocks = [content for block in answer.content for content in _contents(block, spec, server)]
    if "structured_content" in answer.model_fields_set and (
        has_schema or answer.structured_content is not None
    ):
        return _structured(answer.structured_content, blocks, spec, server)
    if has_schema:
        raise malformed(spec, server, "it has an output schema but returned no structured content")
    texts = [block.text for block in takewhile(lambda block: isinstance(block, TextContent), blocks)]  # type: ignore[union-attr]  # they are
    return ToolOutcome.of(_decoded("\n".join(texts), spec, server), content=blocks[len(texts) :])


def _structured(value: Any, blocks: Sequence[Content], spec: ToolSpec, server: str) -> ToolOutcome:
    """Return a structured result without text that only repeats it (MCP 2025-06-18, Tools)."""
    unrepeated = [
        block for block in blocks if not (isinstance(block, TextContent) and _repeats(block.text, value))
    ]
    return ToolOutcome.of(_decoded(value, spec, server), content=unrepeated)


def _decoded(value: Json, spec: ToolSpec, server: str) -> Any:
    document = json.dumps(value).encode()
    try:
        return spec.result.decode_as_sent(document)
    except ToolValidationError as error:
        plain = malformed(spec, server, str(error))
        if not is_json(value):
            raise plain from None
        unfit = UnfitAnswerError(plain.message, document, value, error.issues, retry_hint=plain.retry_hint)
        unfit.is_shown = not spec.is_sensitive
        raise unfit from None


def _repeats(text: str, value: object) -> bool:
    """Return whether a text repeats the value or an object's only member, as JSON or literally."""
    candidates = [value, *(value.values() if isinstance(value, dict) and len(value) == 1 else ())]
    if text in [text_ for text_ in candidates if isinstance(text_, str)]:
        return True
    try:
        return json.loads(text) in candidates
    except (ValueError, RecursionError):
        return False


def _contents(block: types.ContentBlock, spec: ToolSpec, server: str) -> Iterator[Content]:
    """Yield a content block in toolgen's form."""
    match block:
        case types.TextContent(text=text):
            yield TextContent(text=text)
        case types.ImageContent(data=data, mime_type=kind):
            yield ImageContent(data=_bytes(data, spec, server), media_type=kind)
        case types.AudioContent(data=data, mime_type=kind):
            yield AudioContent(data=_bytes(data, spec, server), media_type=kind)
        case types.ResourceLink():
            yield ResourceContent(
                uri=str(block.uri),
                name=shown_name(block.name),
                media_type=block.mime_type or "",
                description=described_link(str(block.uri), shown_name(block.description or "")),
                size=block.size,
            )
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            yield TextContent(text=resource.text)
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            yield _blob(resource, spec, server)
        case _:
            raise malformed(spec, server, "a block of an unknown kind")


def _blob(resource: types.BlobResourceContents, spec: ToolSpec, server: str) -> Content:
    """Return an image or audio block; for other data, a link with the data and its size in bytes."""
    data, kind, uri = _bytes(resource.blob, spec, server), resource.mime_type or "", str(resource.uri)
    match kind.partition("/")[0]:
        case "image":
            return ImageContent(data=data, media_type=kind)
        case "audio":
            return AudioContent(data=data, media_type=kind)
        case _:
            name, about = uri.rpartition("/")[2] or uri, described_link(uri, "")
            return ResourceContent(
                uri=uri, name=name, media_type=kind, description=about, size=len(data), data=data
            )


def _bytes(data: str, spec: ToolSpec, server: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise malformed(spec, server, "data that is not Base64 (RFC 4648)") from None
