"""What a person is asked, as a form of MCP: a flat object of texts, numbers, booleans and choices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import ElicitRequestFormParams

from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable
from toolgen.runtime import Suspended

_SCALAR: Final = "answer"
"""The one field of a form that asks for a single value."""
_DECISION: Final[dict[str, Json]] = {
    "approved": {"type": "boolean", "title": "Approve", "description": "Whether it may run."},
    "message": {"type": "string", "title": "Message", "description": "The reason, which the model sees."},
}
_KEYWORDS: Final = frozenset(
    (
        *("type", "title", "description", "default", "enum", "format"),
        *("minLength", "maxLength", "minimum", "maximum"),
    )
)
"""Of a field (MCP 2025-11-25, Elicitation, `PrimitiveSchemaDefinition`); the runtime checks all others."""
_SCALARS: Final = frozenset(("string", "number", "integer", "boolean"))


def form_of(asked: Suspended) -> ElicitRequestFormParams:
    """Return the form for what a call waits for."""
    schema = asked.answer_schema
    if asked.kind == "confirmation":
        fields: Mapping[str, Any] = {**_DECISION, **_payload(schema)}
        required = ["approved"]
    elif schema.get("type", "object") == "object":
        fields, required = schema.get("properties", {}), list(schema.get("required", ()))
    else:
        fields, required = {_SCALAR: schema}, [_SCALAR]
    properties = {name: _field(part) for name, part in fields.items()}
    return ElicitRequestFormParams(
        message=_message(asked),
        requested_schema={"type": "object", "properties": properties, "required": required},
    )


def answer_of(asked: Suspended, content: Mapping[str, Any]) -> Json:
    """Return the answer that a filled form is, as `Runtime.deliver` takes it."""
    if asked.kind == "confirmation":
        answer: dict[str, Json] = {key: content[key] for key in _DECISION if key in content}
        payload = {key: content[key] for key in _payload(asked.answer_schema) if content.get(key) is not None}
        return {**answer, "payload": payload} if payload else answer
    if asked.answer_schema.get("type", "object") == "object":
        return dict(content)
    value: Json = content.get(_SCALAR)
    return value


def _message(asked: Suspended) -> str:
    """Return all that the person has to see: the question, the preview and the whole arguments."""
    lines = [asked.reason, asked.question, asked.preview]
    if asked.kind == "confirmation":
        arguments = json.dumps(asked.arguments, ensure_ascii=False)
        lines.append(f"Tool {asked.tool}, arguments: {arguments}")
    return "\n".join(printable(line) for line in lines if line) or f"{asked.tool} asks"


def _payload(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of what an approval may add; none where a form cannot ask for them."""
    part = schema.get("properties", {}).get("payload", {})
    fields = dict(part.get("properties", {})) if isinstance(part, Mapping) else {}
    is_flat = all(isinstance(one, Mapping) and one.get("type") in _SCALARS for one in fields.values())
    return fields if is_flat and not fields.keys() & _DECISION.keys() else {}


def _field(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key in _KEYWORDS}
