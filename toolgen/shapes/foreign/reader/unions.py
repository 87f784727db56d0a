"""Unions of nodes of the normal form: joined, checked for overlap, and tagged."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, combinations, product
from typing import Any, Final

from ...constraints import lengths_of
from ..nodes import ENUM, MEANINGS, NULL, Classes, Node, meanings_of, target

_DEEPEST: Final = 4
"""Maximum nesting depth of two objects that are compared."""
_MOST_COMPARED: Final = 100_000
"""Maximum number of compared pairs of nodes in a schema: about 400 branches that no tag distinguishes."""


def join(nodes: Iterable[Node]) -> Node:
    """Return one node that accepts what any of the nodes accepts; null is last."""
    branches: list[Node] = [branch for node in nodes for branch in node.get("anyOf", [node])]
    if {} in branches:
        return {}
    if len(branches) == 1 and "enum" not in branches[0]:
        return branches[0]
    joined: dict[str, Node] = {}
    listed: dict[str, dict[Any, str]] = {}
    names: dict[str, set[str]] = {}
    for branch in branches:
        kind = _enum_kind(branch)
        if kind:
            names.setdefault(kind, set()).add(branch.get(ENUM, ""))
            values = listed.setdefault(kind, {})
            for value, meaning in zip(branch["enum"], meanings_of(branch), strict=True):
                values[value] = values.get(value) or meaning
            joined[kind] = {}
        else:
            joined[repr(branch)] = branch
    joined |= {kind: _listed(values, names[kind]) for kind, values in listed.items()}
    boolean, null = "{'type': 'boolean'}", "{'type': 'null'}"
    if boolean in joined or len(joined.get("bool", {}).get("enum", ())) == 2:
        joined = {boolean if key == "bool" else key: node for key, node in joined.items()}
        joined[boolean] = {"type": "boolean"}
    if null in joined:
        joined[null] = joined.pop(null)
    return {"anyOf": list(joined.values())} if len(joined) > 1 else next(iter(joined.values()))


def _listed(values: dict[object, str], names: set[str]) -> Node:
    """Return the enum of these values, with their meanings, and with their name if it is the same for all."""
    node: Node = {"enum": [*values]}
    if len(names) == 1 and "" not in names:
        node[ENUM] = next(iter(names))
    return {**node, MEANINGS: [*values.values()]} if any(values.values()) else node


def _enum_kind(node: Node) -> str:
    return type(node["enum"][0]).__name__ if "enum" in node else ""


def tag_of(branches: Collection[Node], classes: Classes) -> str | None:
    """Return the first property whose strings distinguish all the objects, or None."""
    objects = [classes[name] for branch in branches if (name := target(branch))]
    if len(objects) < 2 or any("$ref" not in branch and branch != NULL for branch in branches):
        return None
    required = [set(object_["required"]) for object_ in objects]
    for key in objects[0]["required"]:
        if all(key in keys for keys in required):
            strings = [_strings(object_["properties"][key]) for object_ in objects]
            if all(strings) and len(set().union(*strings)) == sum(map(len, strings)):
                return str(key)
    return None


def _strings(node: Node) -> list[str]:
    return [value for value in node.get("enum", ()) if isinstance(value, str)]


class Disjointness:
    """Checks whether a value can belong to two nodes, with a cache and a limit on its work."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._decided: dict[tuple[int, int, int], bool] = {}

    def exclusive(self, nodes: list[Node]) -> bool:
        """Return whether certainly no value is accepted by two of the nodes."""
        if all("$ref" in node for node in nodes) and tag_of(nodes, self._classes) is not None:
            return True
        choices = [node for node in nodes if "enum" in node]
        values = [(_kind(node), value) for node in choices for value in node["enum"]]
        if len(set(values)) < len(values):
            return False
        others = [node for node in nodes if "enum" not in node]
        pairs = chain(combinations(others, 2), product(others, choices))
        return all(self._disjoint(left, right, 0) for left, right in pairs)

    def _disjoint(self, left: Node, right: Node, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        return all(
            self._pair_disjoint(left_part, right_part, depth)
            for left_part in left.get("anyOf", [left])
            for right_part in right.get("anyOf", [right])
        )

    def _pair_disjoint(self, left: Node, right: Node, depth: int) -> bool:
        key = (id(left), id(right), depth)
        if key not in self._decided:
            if len(self._decided) >= _MOST_COMPARED:
                return False
            self._decided[key] = False
            self._decided[key] = self._apart(left, right, depth)
        return self._decided[key]

    def _apart(self, left: Node, right: Node, depth: int) -> bool:
        kind = _kind(left)
        if not left or not right:
            return False
        if kind != _kind(right):
            return True
        match kind:
            case "boolean" | "string" | "number":
                return "enum" in left and "enum" in right and not set(left["enum"]) & set(right["enum"])
            case "array":
                least, _ = lengths_of("array")
                filled = left.get(least, 0) > 0 and right.get(least, 0) > 0
                return filled and self._disjoint(left["items"], right["items"], depth + 1)
            case "object":
                return self._objects_disjoint(left, right, depth) or self._objects_disjoint(
                    right, left, depth
                )
        return False

    def _objects_disjoint(self, left: Node, right: Node, depth: int) -> bool:
        """Return whether `right` rejects a key that `left` requires, for every value that `left` accepts."""
        name, other_name = target(left), target(right)
        if name is None:
            return False
        object_ = self._classes[name]
        other = self._classes[other_name] if other_name else right
        for key in object_["required"]:
            node = other.get("properties", {}).get(key, other["additionalProperties"])
            if node is False:
                return True
            if node is not True and self._disjoint(object_["properties"][key], node, depth + 1):
                return True
        return False


def _kind(node: Node) -> str:
    if "$ref" in node:
        return "object"
    if "enum" in node:
        return {"str": "string", "bool": "boolean", "int": "number"}[_enum_kind(node)]
    kind = str(node.get("type"))
    return "number" if kind == "integer" else kind
