"""The input of datamodel-code-generator: all normal forms as one schema, with a name for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.nodes import Node, reference, target
from toolgen.shapes.naming import field_name
from toolgen.shapes.patterns import to_rust

Names = Mapping[str, str]

_NOTES: Final = frozenset(["title", "examples", "deprecated", "format", "discriminator"])
"""Keywords of the normal form that say nothing about a Python type."""


def definition_names(index: int, foreign: Foreign, root: str) -> dict[str, str]:
    """Return the name of each class of a schema, and of its root, among the definitions of all schemas.

    datamodel-code-generator makes names for what has none by appending to these: no such name is one
    of these, and no name that a module has is like them.
    """
    names = dict.fromkeys([*foreign.classes, root])
    return {name: f"S{index}x{number}x" for number, name in enumerate(names)}


def combined(schemas: Sequence[tuple[str, Foreign]]) -> tuple[dict[str, Node], dict[str, str]]:
    """Return the definitions of all schemas, and the attribute of each property as `Class.key`."""
    definitions: dict[str, Node] = {}
    attributes: dict[str, str] = {}
    for index, (name, foreign) in enumerate(schemas):
        names = definition_names(index, foreign, name)
        for class_name, schema in foreign.classes.items():
            definitions[names[class_name]] = _class(schema, names)
            for key, attribute in attribute_names(schema).items():
                attributes[f"{names[class_name]}.{key}"] = attribute
        if name not in foreign.classes:
            definitions[names[name]] = _node(foreign.root, names)
    return definitions, attributes


def attribute_names(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the attribute of each property of a class; two that would be equal are numbered."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    names = {}
    for key in schema["properties"]:
        name = wanted = field_name(key)
        while name in taken:
            number = numbers[wanted] = numbers.get(wanted, 1) + 1
            name = f"{wanted.rstrip('_')}_{number}"
        taken.add(name)
        names[key] = name
    return names


def _class(schema: Node, names: Names) -> Node:
    required = schema["required"]
    must = set(required)
    return {
        "type": "object",
        "properties": {
            key: _property(node, names, key in must) for key, node in schema["properties"].items()
        },
        "required": required,
        "additionalProperties": schema["additionalProperties"],
    }


def _property(node: Node, names: Names, is_required: bool) -> Node:
    written = _node(node, names)
    if "description" in node:
        written["description"] = node["description"]
    if "default" in node and not is_required and _is_plain(node["default"]):
        written["default"] = _default(node)
    return written


def _is_plain(default: Json) -> bool:
    """Return whether a default can be written as it is, because calls cannot share and change it."""
    return default is not None and not isinstance(default, list | dict)


def _default(node: Node) -> Json:
    default: Json = node["default"]
    if isinstance(default, float) and default.is_integer() and node.get("type") != "number":
        return int(default)
    return default


def _node(node: Node, names: Names) -> Node:
    written: Node = {}
    for keyword, value in node.items():
        match keyword:
            case "$ref":
                written |= reference(names[target(node) or ""])
            case "anyOf":
                written[keyword] = [_node(branch, names) for branch in value]
            case "items" | "additionalProperties" | "propertyNames":
                written[keyword] = _node(value, names)
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
