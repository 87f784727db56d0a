"""What datamodel-code-generator reads: the normal forms of all schemas as one, each under its own prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolgen.contract.fields import Foreign, Json
from toolgen.contract.naming import field_name
from toolgen.contract.patterns import to_rust

Schema = dict[str, Any]

_NOTES: Final = frozenset(["title", "examples", "deprecated", "format", "discriminator"])
"""Keywords of the normal form that say nothing about a Python type."""


def prefix(index: int) -> str:
    """Return what stands before the class names of one schema; no two schemas share one."""
    return f"S{index}x"


def combined(schemas: Sequence[tuple[str, Foreign]]) -> tuple[dict[str, Schema], dict[str, str]]:
    """Return the definitions of all schemas, and the attribute of each property as `Class.key`."""
    definitions: dict[str, Schema] = {}
    attributes: dict[str, str] = {}
    for index, (name, foreign) in enumerate(schemas):
        start = prefix(index)
        for class_name, schema in foreign.classes.items():
            definitions[start + class_name] = _class(schema, start)
            for key, attribute in attribute_names(schema).items():
                attributes[f"{start}{class_name}.{key}"] = attribute
        if name not in foreign.classes:
            definitions[start + name] = _node(foreign.root, start)
    return definitions, attributes


def attribute_names(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the attribute of each property of a class; two that would be equal are numbered."""
    taken: set[str] = set()
    names = {}
    for key in schema["properties"]:
        name = wanted = field_name(key)
        number = 2
        while name in taken:
            name, number = f"{wanted.rstrip('_')}_{number}", number + 1
        taken.add(name)
        names[key] = name
    return names


def _class(schema: Schema, start: str) -> Schema:
    required = schema["required"]
    return {
        "type": "object",
        "properties": {
            key: _property(node, start, key in required) for key, node in schema["properties"].items()
        },
        "required": required,
        "additionalProperties": schema["additionalProperties"],
    }


def _property(node: Schema, start: str, is_required: bool) -> Schema:
    written = _node(node, start)
    if "description" in node:
        written["description"] = node["description"]
    if "default" in node and not is_required and _is_plain(node["default"]):
        written["default"] = _default(node)
    return written


def _is_plain(default: Json) -> bool:
    """Return whether a default is a value of Python as it stands, and not one that calls share."""
    return default is not None and not isinstance(default, list | dict)


def _default(node: Schema) -> Json:
    default: Json = node["default"]
    if isinstance(default, bool) or not isinstance(default, int | float):
        return default
    if node.get("type") == "number":
        return float(default)
    is_whole = isinstance(default, float) and default.is_integer()
    return int(default) if is_whole else default


def _node(node: Schema, start: str) -> Schema:
    written: Schema = {}
    for keyword, value in node.items():
        match keyword:
            case "$ref":
                written[keyword] = f"#/$defs/{start}{value.removeprefix('#/$defs/')}"
            case "anyOf":
                written[keyword] = [_node(branch, start) for branch in value]
            case "items" | "additionalProperties" | "propertyNames":
                written[keyword] = _node(value, start)
            case "pattern":
                written[keyword] = to_rust(value)
            case "enum" if isinstance(value[0], bool):
                written["const"] = value[0]
            case "description" | "default":
                pass
            case _ if keyword not in _NOTES:
                written[keyword] = value
            case _:
                pass
    return written
