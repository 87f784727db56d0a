"""From an executor's value to the model's result: contract checks, encoding, size, texts."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final

from toolgen.contract.limits import LONGEST_CHARACTER
from toolgen.contract.portable import portable_text
from toolgen.shapes.sensitive import for_people

from ..calls import CallMeta
from ..content import Content, ResourceContent, TextContent
from ..errors import MalformedResultError
from ..results import Artifact, ToolOutcome, ToolResult
from ..specs import ToolSpec
from .artifact_refs import store_artifacts
from .boundary import Contained
from .bounds import bounds_of, remember
from .failures import log
from .frame import Frame
from .hint_templates import render_template
from .trace import Trace
from .truncation import truncate_document, truncate_text

_TYPES: Final[dict[str, Any]] = {"data": bytes, "size": int | None}
"""Of the fields of content that are no texts."""


def encode_result(
    spec: ToolSpec[Any, Any], returned: object, meta: CallMeta, trace: Trace | None = None
) -> ToolResult:
    """Check and encode the value of an executor, and return it as a `ToolResult`.

    Raises:
        MalformedResultError: it breaks the tool's contract.
    """
    outcome = None
    if isinstance(returned, ToolOutcome):
        outcome, returned = returned, returned.result
    document = spec.result.encode(returned)
    if trace is not None:
        trace.mark("encode", document)
    bounds = None if spec.bounded is None else bounds_of(spec, returned)
    result = ToolResult(
        tool=spec.id,
        status="ok",
        json=document,
        tool_call_id=meta.tool_call_id,
        result=returned,
        bounds=bounds,
        is_final=spec.is_terminal,
    )
    if outcome is not None:
        result = replace(
            result,
            artifacts=tuple([_encoded_artifact(spec, artifact) for artifact in outcome.artifacts]),
            content=tuple([_checked_block(block) for block in outcome.content]),
            display="" if outcome.display is None else _checked_display(outcome.display),
            is_final=outcome.is_final or spec.is_terminal,
        )
    if spec.result_hint and (outcome is None or outcome.display is None):
        shown = for_people(json.loads(document), spec.result.sensitive)
        result = replace(result, display=render_template(spec.result_hint, shown))
    if spec.reminder:
        result = replace(result, content=(*result.content, TextContent(text=spec.reminder)))
    if trace is not None:
        trace.mark("check", bounds)
    return result


async def encode_hook_result(frame: Frame, returned: object) -> ToolResult:
    """Check, encode and truncate the result that a hook gives, and return it as a `ToolResult`.

    Raises:
        MalformedResultError: it breaks the tool's contract.
    """
    result = encode_result(frame.spec, returned, frame.meta)
    if frame.services.policy is not None:
        remember(result, frame.context.values)
    if result.artifacts:
        result = await store_artifacts(frame, result)
    return await truncate_result(frame, result)


async def truncate_result(frame: Frame, result: ToolResult) -> ToolResult:
    """Truncate the document and the display text of a result to the limit of the tool.

    A longer document becomes a marker, which says by whom it was truncated, how long it is, how it begins,
    and where all of it is kept.
    """
    spec, document, limit = frame.spec, result.json, frame.limit
    if len(result.display) > limit // LONGEST_CHARACTER:
        result = replace(result, display=truncate_text(result.display, limit))
    if len(document) <= limit:
        return result
    uri = ""
    if "artifacts" in frame.services.capabilities:
        try:
            with Contained():
                save = partial(frame.context.artifacts.save_overflow, document)
                uri = await frame.services.store_retry.run(save, f"result of {spec.id}", is_idempotent=False)
        except Exception:
            log.exception("the untruncated result of %s was not stored", spec.id)
    marker = truncate_document(document, limit, uri)
    if not uri:
        return replace(result, json=marker)
    link = ResourceContent(
        uri=uri, name=f"{spec.name} result", media_type="application/json", size=len(document)
    )
    return replace(result, json=marker, content=(*result.content, link))


def _checked_display(display: object) -> str:
    """Return a text for people; raises for one that UTF-8 cannot encode.

    Raises:
        MalformedResultError: it is no text.
    """
    if not isinstance(display, str):
        raise MalformedResultError(f"display must be a string, not {type(display).__name__}")
    return portable_text(display)


def _checked_block(block: object) -> Content:
    """Return a block of content, whose texts UTF-8 can encode.

    Raises:
        MalformedResultError: it is no block, or a value in it is of another type.
    """
    if not isinstance(block, Content):
        raise MalformedResultError(f"content must hold content blocks, not {type(block).__name__}")
    texts = {}
    for one in fields(block):
        value = getattr(block, one.name)
        if not isinstance(value, _TYPES.get(one.name, str)):
            raise MalformedResultError(f"{one.name} of a block of {block.type} is a {type(value).__name__}")
        if isinstance(value, str):
            texts[one.name] = portable_text(value)
    whole: Content = replace(block, **texts)  # type: ignore[arg-type]  # to each its own fields
    return whole


def _encoded_artifact(spec: ToolSpec[Any, Any], artifact: object) -> Artifact:
    if not isinstance(artifact, Artifact):
        raise MalformedResultError(f"artifacts must hold artifacts, not {type(artifact).__name__}")
    declared = spec.artifacts.get(artifact.kind)
    if declared is None:
        known = ", ".join(map(repr, spec.artifacts)) or "none"
        raise MalformedResultError(f"artifact kind {artifact.kind!r} is not declared; declared are {known}")
    document = declared.codec.encode(artifact.data)
    return Artifact(kind=artifact.kind, data=artifact.data, source_tool=spec.id, json=document)
