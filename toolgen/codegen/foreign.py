"""Types of third-party schemas as source text, from their normal form.

Each keyword of the normal form is written into the annotation of its attribute. An optional attribute
is None if it is absent, `Nullable` marks null as a value, and a schema for any JSON is `AnyJson`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import Holder, limits_of
from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.nodes import Node, target, targets, without_null
from toolgen.shapes.naming import field_name
from toolgen.shapes.patterns import to_rust

from .imports import Imports
from .spelling import GENERATED

_MOST_OPERATORS: Final = 50
_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TYPES: Final = frozenset(["$ref", "anyOf", "enum", "type"])
_HOLDERS: Final[Mapping[str, Holder]] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "array": "array",
    "object": "map",
}
_LIMITS: Final = {
    kind: sorted((row.core, row.keyword) for row in limits_of(holder) if row.core and not row.is_annotation)
    for kind, holder in _HOLDERS.items()
}
"""Arguments of `Field` with their keywords of JSON Schema, by type."""


class ForeignSpeller:
    """Writes the types of one schema for a module, and collects its imports."""

    def __init__(self, foreign: Foreign, imports: Imports) -> None:
        self._classes = foreign.classes
        self._root = foreign.root
        self._imports = imports

    def alias(self) -> str:
        """Return the type of a root schema that is not a class."""
        return self._whole(self._root)

    def body(self, name: str) -> Iterator[str]:
        """Yield the lines of the body of a class."""
        class_ = self._classes[name]
        if class_["additionalProperties"] is not True:
            yield f'model_config = {self._imports.name("pydantic", "ConfigDict")}(extra="forbid")'
        required = set(class_["required"])
        for key, attribute in _attribute_names(class_).items():
            node = class_["properties"][key]
            names = () if key == attribute else ("validation_alias", "serialization_alias")
            arguments = [f"{name}={key!r}" for name in names]
            if (description := node.get("description")) is not None:
                arguments.append(f"description={description!r}")
            has_default = key not in required and _has_plain_default(node)
            type_ = self._declared(node, may_be_absent=key not in required and not has_default)
            default = f" = {_default(node)!r}" if has_default else "" if key in required else " = None"
            arguments += self._limits(node)
            if has_default and any(targets(node)):
                arguments.append("validate_default=True")
            yield f"{attribute}: {self._annotated(type_, arguments)}{default}"

    def _declared(self, node: Node, *, may_be_absent: bool) -> str:
        """Return the type of an attribute without its limits; with None if the attribute can be absent."""
        members = self._members(node)
        if "None" in members:
            return f"{self._imports.name(GENERATED, 'Nullable')}[{self._joined(members[:-1] or members)}]"
        if may_be_absent and _accepts_some(node):
            return f"{self._joined(members)} | None"
        return self._joined(members)

    def _members(self, node: Node) -> list[str]:
        """Return the distinct types of a node with their limits, "None" last; without its own limits."""
        if "anyOf" not in node:
            return [self._type(node)]
        branches = without_null(node)
        members = list(dict.fromkeys(map(self._whole, branches)))
        if tag := self._tag(node, branches):
            members = [self._annotated(self._joined(members), [f"discriminator={tag!r}"])]
        return members if len(branches) == len(node["anyOf"]) else [*members, "None"]

    def _joined(self, types: list[str]) -> str:
        """Return the union of types: with `|`, or with `Union` if there are many.

        Each `|` adds a nesting level for parsers, and compares its type with all types before it.
        """
        if len(types) > _MOST_OPERATORS:
            return f"{self._imports.name('typing', 'Union')}[{', '.join(types)}]"
        return " | ".join(types)

    def _whole(self, node: Node) -> str:
        """Return a type with its limits, for use inside another type."""
        return self._annotated(self._joined(self._members(node)), self._limits(node))

    def _type(self, node: Node) -> str:
        """Return the type of a node that is not a union, without its limits."""
        match node:
            case {"$ref": _}:
                return target(node) or ""
            case {"enum": [bool(value), *_]}:
                return f"{self._imports.name('typing', 'Literal')}[{value!r}]"
            case {"enum": values}:
                return f"{self._imports.name('typing', 'Literal')}[{', '.join(map(repr, values))}]"
            case {"type": "array", "items": items}:
                return f"list[{self._whole(items)}]"
            case {"type": "object", "additionalProperties": values}:
                keys = node.get("propertyNames", {"type": "string"})
                return f"dict[{self._whole(keys)}, {self._whole(values)}]"
            case {"type": type_}:
                return _PLAIN[type_]
            case _:
                return self._imports.name(GENERATED, "AnyJson")

    def _tag(self, node: Node, branches: list[Node]) -> str:
        """Return the attribute that distinguishes the classes of a union; "" if there is none."""
        names = [target(branch) for branch in branches]
        if len(names) < 2 or "discriminator" not in node or not all(names):
            return ""
        attributes = {
            _attribute_names(self._classes[name])[node["discriminator"]] for name, _ in targets(node)
        }
        return attributes.pop() if len(attributes) == 1 else ""

    def _limits(self, node: Node) -> list[str]:
        """Return the arguments of the `Field(…)` that narrows the type of a node."""
        arguments = [
            f"{argument}={_bound(node[keyword], node)!r}"
            for argument, keyword in _LIMITS.get(node.get("type", ""), ())
            if keyword in node
        ]
        return [*arguments, f"pattern={to_rust(node['pattern'])!r}"] if "pattern" in node else arguments

    def _annotated(self, type_: str, arguments: list[str]) -> str:
        if not arguments:
            return type_
        field = f"{self._imports.name('pydantic', 'Field')}({', '.join(arguments)})"
        return f"{self._imports.name('typing', 'Annotated')}[{type_}, {field}]"


def _accepts_some(node: Node) -> bool:
    """Return whether a node restricts its values by a reference, a union, an enum or a type."""
    return not node.keys().isdisjoint(_TYPES)


def _attribute_names(class_: Node) -> dict[str, str]:
    """Return the attribute name of each property of a class; duplicates are numbered.

    A property whose name is also its attribute name keeps it, independent of the order.
    """
    names = {key: key for key in class_["properties"] if field_name(key) == key}
    taken = set(names)
    numbers: dict[str, int] = {}
    for key in (key for key in class_["properties"] if key not in taken):
        name = wanted = field_name(key)
        while name in taken:
            number = numbers[wanted] = numbers.get(wanted, 1) + 1
            name = f"{wanted.rstrip('_')}_{number}"
        taken.add(name)
        names[key] = name
    return {key: names[key] for key in class_["properties"]}


def _bound(value: Any, node: Node) -> object:
    return float(value) if node["type"] == "number" else value


def _has_plain_default(node: Node) -> bool:
    """Return whether a node has an immutable default, which can be written as it is."""
    return node.get("default") is not None and not isinstance(node["default"], list | dict)


def _default(node: Node) -> Json:
    default: Json = node["default"]
    if isinstance(default, float) and default.is_integer() and node.get("type") != "number":
        return int(default)
    return default
