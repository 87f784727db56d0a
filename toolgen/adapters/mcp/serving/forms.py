"""Questions for people as MCP forms: a flat object of strings, numbers, booleans and choices.

A form has the keywords of MCP 2025-11-25 (Elicitation, `PrimitiveSchemaDefinition`). Other keywords of a
question are described in the text of its field, and the runtime validates the answer against all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp import types

from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, printable_lines, visible
from toolgen.runtime import Suspended
from toolgen.shapes.constraints import lengths_of, limits_of

REQUEST_KEY: Final = "answer"
"""Key of the single request in an `InputRequiredResult`."""
SCALAR_FIELD: Final = "answer"
"""Name of the single field of a form that asks for one value."""
_TEXTS: Final = ("title", "description")
_SHARED: Final = ("type", *_TEXTS, "default")
_BOUNDS: Final = tuple(row.keyword for row in limits_of("number", "bound") if not row.is_exclusive)
_KEYWORDS: Final[dict[str, tuple[str, ...]]] = {
    "string": (*_SHARED, *lengths_of("string")),
    "number": (*_SHARED, *_BOUNDS),
    "integer": (*_SHARED, *_BOUNDS),
    "boolean": _SHARED,
}
_FORMATS: Final = frozenset(("email", "uri", "date", "date-time"))
_DECISION: Final = ("approved", "message")
_APPROVAL: Final[dict[str, dict[str, Json]]] = {
    "approved": {"type": "boolean", "title": "Approve", "description": "Whether it may run."},
    "message": {"type": "string", "title": "Message", "description": "The reason, which the model sees."},
}


def form_of(suspended: Suspended, note: str = "") -> types.ElicitRequestFormParams:
    """Return the form for a suspended call; the note tells why it is asked again."""
    if suspended.kind == "confirmation":
        properties = {**_APPROVAL, **_payload_fields(suspended.answer_schema)}
        required = ["approved"]
    elif _is_object(suspended.answer_schema):
        fields = suspended.answer_schema.get("properties", {})
        properties = {name: _field(part) for name, part in fields.items()}
        required = list(suspended.answer_schema.get("required", ()))
    else:
        properties, required = {SCALAR_FIELD: _field(suspended.answer_schema)}, [SCALAR_FIELD]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    return types.ElicitRequestFormParams(message=_message(suspended, note), requested_schema=schema)


def input_required(suspended: Suspended, note: str = "", rejections: int = 0) -> types.InputRequiredResult:
    """Return the result that asks the client for an answer.

    The state, which the SDK seals, contains the token of the call, and the number of rejected answers so far.
    """
    request = types.ElicitRequest(params=form_of(suspended, note))
    state = f"{rejections} {suspended.token}" if rejections else suspended.token
    return types.InputRequiredResult(input_requests={REQUEST_KEY: request}, request_state=state)


def token_of(state: str) -> tuple[str, int]:
    """Return the token in a state of `input_required`, and the number of rejected answers so far."""
    rejections, _, token = state.rpartition(" ")
    return token, int(rejections or 0)


def answer_of(suspended: Suspended, content: Mapping[str, Any]) -> Json:
    """Return the answer in a filled form, as `Runtime.suspensions.answer` accepts it."""
    if suspended.kind == "confirmation":
        answer: dict[str, Json] = {key: content[key] for key in _DECISION if key in content}
        fields = _payload_fields(suspended.answer_schema)
        payload = {key: content[key] for key in fields if content.get(key) is not None}
        if content.get("grant") is not None and "grant" not in fields:  # forms do not ask for a grant
            answer["grant"] = content["grant"]
        return {**answer, "payload": payload} if payload else answer
    return dict(content) if _is_object(suspended.answer_schema) else content.get(SCALAR_FIELD)


def _message(suspended: Suspended, note: str) -> str:
    """Return all text that the person must see, with hidden characters escaped."""
    preview = "" if suspended.preview == suspended.question else suspended.preview
    lines = [note, suspended.question, preview, suspended.reason]
    shown = [printable(line) for line in lines if line]
    if suspended.kind == "confirmation":
        arguments = json.dumps(suspended.arguments, ensure_ascii=False)
        shown.append(f"Tool {suspended.tool}, arguments: {visible(arguments)}")
    return "\n".join(shown) or f"{suspended.tool} asks"


def _is_object(schema: Mapping[str, Json]) -> bool:
    """Return whether the answer is an object; a schema without a type asks for a string."""
    return bool(schema.get("type") == "object" or "properties" in schema)


def _payload_fields(schema: Mapping[str, Any]) -> dict[str, dict[str, Json]]:
    """Return the fields that an approval can add; none if a form cannot ask for them.

    An approval without a payload gets the defaults of the design.
    """
    payload = schema.get("properties", {}).get("payload")
    properties = payload.get("properties", {}) if isinstance(payload, Mapping) else {}
    is_flat = all(
        isinstance(part, Mapping) and str(part.get("type")) in _KEYWORDS for part in properties.values()
    )
    if not is_flat or set(properties) & set(_DECISION):
        return {}
    return {name: _field(part) for name, part in properties.items()}


def _field(schema: Mapping[str, Any]) -> dict[str, Json]:
    """Return the schema of one field with form keywords, and with unambiguous texts."""
    kind = str(schema.get("type", "string"))
    texts = {key: printable_lines(schema[key]) for key in _TEXTS if isinstance(schema.get(key), str)}
    if kind == "array":  # choices already have the form of MCP 2025-11-25
        items = schema.get("items")
        shown = {"items": _with_titles(items, "anyOf")} if isinstance(items, Mapping) else {}
        return {**schema, **texts, **shown}
    if kind == "string" and "oneOf" in schema:
        return {**_with_titles(schema, "oneOf"), **texts}
    field = {key: schema[key] for key in _KEYWORDS[kind] if schema.get(key) is not None} | texts
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if kind == "string" and choices is not None:
        field = {key: field[key] for key in _SHARED if key in field} | {"enum": list(choices)}
        field |= {key: schema[key] for key in ("enumNames",) if key in schema}
        field = _with_titles(field, "oneOf")
    if schema.get("format") in _FORMATS:
        field["format"] = schema["format"]
    notes = [*map(printable, _notes(schema, field))]
    if kind == "string" and choices is None and _is_escaped(field.get("default", "")):
        notes.append(f"default {visible(json.dumps(field.pop('default'), ensure_ascii=False))}")
    if notes:
        field["description"] = f"{field.get('description', '')} ({'; '.join(notes)})".lstrip()
    return field


def _with_titles(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a schema of choices; add titles if a choice contains characters that a person would not see."""
    titles = {choice["const"]: str(choice.get("title", choice["const"])) for choice in schema.get(key, ())}
    if not titles:
        names = schema.get("enumNames", schema.get("enum", ()))
        titles = dict(zip(schema.get("enum", ()), names, strict=False))
        if not any(map(_is_escaped, (*titles, *titles.values()))):
            return dict(schema)
    shown = [{"const": choice, "title": printable(title)} for choice, title in titles.items()]
    return {name: part for name, part in schema.items() if name not in ("enum", "enumNames")} | {key: shown}


def _is_escaped(text: object) -> bool:
    return printable(str(text)) != text


def _notes(schema: Mapping[str, Any], field: Mapping[str, Json]) -> Iterator[str]:
    """Yield the rules of the schema that the field does not contain."""
    for key in ("format", "pattern"):
        if key in schema and key not in field:
            yield f"{key} {schema[key]}"
    for row in limits_of("number"):
        if row.keyword in schema and row.keyword not in field:
            yield row.message_of(schema[row.keyword])
    if "enum" in schema and not {"enum", "oneOf"} & field.keys():
        yield f"one of {', '.join(map(str, schema['enum']))}"
    if "oneOf" in schema:
        choices = (f"{choice['const']}: {choice.get('title', choice['const'])}" for choice in schema["oneOf"])
        yield f"one of {', '.join(choices)}"
