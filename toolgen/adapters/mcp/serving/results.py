"""Results of calls in MCP form: text, structured content, blocks, links."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final, assert_never

from mcp import types
from pydantic_core import from_json

from toolgen.calls.sensitive import is_for_model
from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    Artifact,
    AudioContent,
    Content,
    ImageContent,
    ResourceContent,
    RetryHint,
    TextContent,
    ToolResult,
    ToolSpec,
)
from toolgen.waiting.unfit import text_for_model

from .listing import META_PREFIX, ListedTool

_FOR_PEOPLE: Final = types.Annotations(audience=["user"])
"""Artifacts are for user interfaces; models do not see their data unless the design offers it."""
_FOR_MODELS: Final = types.Annotations(audience=["user", "assistant"])


def call_result(
    result: ToolResult, spec: ToolSpec, listed: ListedTool, *, has_resources: bool = True
) -> types.CallToolResult:
    """Return the final result of a call, with links to its artifacts if the server has resources.

    The text is from `text_for_model`. A successful result has structured content if the tool has an
    `outputSchema`, which it fits (MCP 2025-11-25, Tools, Output Schema). An error has none, and a truncated
    result, which would not fit, is marked as an error.
    """
    text = result.json.decode()
    value: Json = from_json(text) if text else None
    is_unfit = listed.output is not None and is_truncated(result.json)
    is_good = result.status in ("ok", "pending") and bool(text) and not is_unfit
    blocks: list[types.ContentBlock] = [types.TextContent(type="text", text=text_for_model(result))]
    blocks += map(_block, result.content)
    if has_resources:
        blocks += _links(result, spec)
    facts: dict[str, Any] = {"content": blocks, "is_error": not is_good, "_meta": _meta(result) or None}
    if is_good and listed.output is not None:
        facts["structured_content"] = listed.output.content(value)
    return types.CallToolResult(**facts)


def error_result(message: str, code: str, **facts: Json) -> types.CallToolResult:
    """Return the result of a call that ends without a runtime result, in the form of the runtime's errors."""
    text = json.dumps({"error": message, "code": code, **facts}, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _meta(result: ToolResult) -> dict[str, Json]:
    facts: dict[str, Json] = {"display": result.display if result.json else ""}
    if result.status in ("pending", "unknown"):
        facts["status"] = result.status
    if result.bounds is not None:
        facts["bounds"] = {"returned": result.bounds.returned, "truncated": result.bounds.truncated}
    if result.warnings:
        facts["warnings"] = [warning.as_json() for warning in result.warnings]
    if result.retry_hint is not None:
        facts["retry"] = _retry(result.retry_hint)
    return {f"{META_PREFIX}{key}": value for key, value in facts.items() if value}


def _retry(hint: RetryHint) -> dict[str, Json]:
    """Return the facts that a client needs to repair the call, without the rejected arguments."""
    facts: dict[str, Json] = {
        "reason": hint.reason,
        "missing_fields": list(hint.missing_fields),
        "question": hint.clarifying_question,
        "retry_after_s": hint.retry_after,
    }
    return {key: value for key, value in facts.items() if value}


def _block(content: Content) -> types.ContentBlock:
    match content:
        case TextContent(text=text):
            return types.TextContent(type="text", text=text)
        case ImageContent(data=data, media_type=media_type):
            return types.ImageContent(type="image", data=_base64(data), mime_type=media_type)
        case AudioContent(data=data, media_type=media_type):
            return types.AudioContent(type="audio", data=_base64(data), mime_type=media_type)
        case ResourceContent(data=data) if data:
            resource = types.BlobResourceContents(
                uri=content.uri, mime_type=content.media_type or None, blob=_base64(data)
            )
            return types.EmbeddedResource(type="resource", resource=resource)
        case ResourceContent():
            return types.ResourceLink(
                type="resource_link",
                uri=content.uri,
                name=content.name,
                mime_type=content.media_type or None,
                description=content.description or None,
                size=content.size,
            )
        case _:
            assert_never(content)


def _links(result: ToolResult, spec: ToolSpec) -> Iterator[types.ResourceLink]:
    """Yield a link for each stored artifact; `resources/read` returns its data."""
    for artifact in result.artifacts:
        if artifact.ref is not None and artifact.ref.uri:
            yield _link(artifact, spec)


def _link(artifact: Artifact, spec: ToolSpec) -> types.ResourceLink:
    assert artifact.ref is not None, "only an artifact that is kept has a link"
    spec_of_artifact = spec.artifacts.get(artifact.kind)
    facts: dict[str, Json] = {
        "view": spec_of_artifact.view if spec_of_artifact else None,
        "digest": artifact.ref.digest,
    }
    return types.ResourceLink(
        type="resource_link",
        uri=artifact.ref.uri,
        name=artifact.kind,
        description=(spec_of_artifact.description if spec_of_artifact else "") or None,
        mime_type=artifact.ref.media_type or None,
        size=artifact.ref.size,
        annotations=_FOR_MODELS if is_for_model(spec, artifact.kind) else _FOR_PEOPLE,
        _meta={f"{META_PREFIX}{key}": value for key, value in facts.items() if value},
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
