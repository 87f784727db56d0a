"""The event of a call that begins: of one that is executed here, and of one that a planner wants."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json, to_json

from toolgen.contract.json_value import Json
from toolgen.shapes.sensitive import for_people, redacted

from ..call.result_encoding import render_template, truncate_document, truncate_text
from ..specs import ToolSpec
from .records import ToolStart


def tool_start(
    spec: ToolSpec[Any, Any] | None,
    name: str,
    arguments: Json,
    document: bytes,
    *,
    parent_tool_call_id: str,
    runs_once: bool,
    limit: int,
) -> ToolStart:
    """Return the event, without the values at the sensitive places of its tool.

    `arguments` is what `document` says, None for what is no JSON. Each text and value has at most `limit`
    bytes. Without a spec nobody knows the tool of this name.
    """
    places = spec.payload.sensitive if spec else ()
    text = ""
    if spec and isinstance(arguments, dict):
        text = render_template(spec.call_hint, for_people(arguments, places))
    if places:
        arguments = redacted(arguments, places)
        document = to_json(arguments)
    if arguments is not None and len(document) > limit:
        arguments = from_json(truncate_document(document, limit))
    return ToolStart(
        tool=spec.id if spec else truncate_text(name, limit),
        name=truncate_text(name, limit),
        arguments=arguments,
        text=truncate_text(text, limit),
        parent_tool_call_id=parent_tool_call_id,
        runs_once=runs_once,
    )
