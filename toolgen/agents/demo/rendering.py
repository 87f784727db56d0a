"""Results of tools in words, and typed results of a run. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json

from ..planner.messages import ToolAnswer

_MOST_ITEMS: Final = 5
_MOST_CHARACTERS: Final = 300


def result_text(answer: ToolAnswer) -> str:
    """Return the result of a call in words."""
    document = parsed(answer.text)
    if answer.status != "ok":
        error = document.get("error") if isinstance(document, dict) else None
        return f"{answer.name} did not succeed ({answer.status}): {error or _cut(answer.text)}"
    lines = [f"{answer.name} returned {_value(document)}"]
    if answer.bounds is not None and answer.bounds.truncated:
        total = answer.bounds.total
        others = "; there are more" if total is None else f" of {total}"
        lines.append(f"Returned {answer.bounds.returned}{others}.")
    if answer.content:
        lines.append(f"It also returned: {', '.join(str(block.get('type')) for block in answer.content)}.")
    if answer.reminder:
        lines.append(f"The tool adds: {_cut(answer.reminder)}")
    return "\n".join(lines)


def typed_result(schema: Mapping[str, Any], answers: Sequence[ToolAnswer], text: str) -> Json:
    """Return a value of a schema: members with the same names in results; `text` for other strings."""
    values: dict[str, Any] = {}
    for answer in answers:
        if answer.status == "ok" and isinstance(document := parsed(answer.text), dict):
            values |= document
    value: Json = _sample_value(schema, schema, values, text, 0)
    return value


def parsed(text: str) -> Any:
    """Return the value of a JSON text; the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _value(value: object) -> str:
    match value:
        case dict() if value and _is_deep(value):
            return "\n".join(["this:", *_members(value)])
        case dict() if value:
            return _sentence("; ".join(_flat(value)))
        case list():
            return "\n".join([f"{len(value)} items:", *_items(value)])
        case None | {}:
            return "nothing."
        case str():
            return _cut(value)
        case _:
            return _short(value)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _members(value: Mapping[str, Json]) -> Iterator[str]:
    for name, part in value.items():
        if isinstance(part, list) and part:
            yield f"{_spaced(name)}, {len(part)}:"
            yield from _items(part)
        else:
            yield f"{_spaced(name)}: {_short(part)}"


def _items(values: Sequence[object]) -> Iterator[str]:
    for item in values[:_MOST_ITEMS]:
        yield f"- {'; '.join(_flat(item)) if isinstance(item, dict) else _short(item)}"
    if len(values) > _MOST_ITEMS:
        yield f"- and {len(values) - _MOST_ITEMS} more"


def _flat(value: Mapping[str, Json]) -> Iterator[str]:
    return (f"{_spaced(name)} {_short(part)}" for name, part in value.items())


def _is_deep(value: Mapping[str, Json]) -> bool:
    return any(isinstance(part, list | dict) and part for part in value.values())


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _short(value: object) -> str:
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _sample_value(
    schema: Any, root: Mapping[str, Any], values: Mapping[str, Any], text: str, depth: int
) -> Any:
    """Return a value of a schema: the first value that it lists, otherwise an empty value of its type."""
    if not isinstance(schema, Mapping) or depth > 16:
        return None
    if "$ref" in schema:
        return _sample_value(referred(root, schema["$ref"]), root, values, text, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    for key in ("oneOf", "anyOf", "allOf"):
        if schema.get(key):
            return _sample_value(schema[key][0], root, values, text, depth + 1)
    match schema.get("type"):
        case "object":
            properties = schema.get("properties") or {}
            names = [name for name in properties if name in values or name in schema.get("required", ())]
            return {
                name: values[name]
                if name in values
                else _sample_value(properties[name], root, values, text, depth + 1)
                for name in names
            }
        case "array":
            return []
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case "string":
            return text
        case _:
            return None
