"""The normal form of a third-party schema: the part that Python types can express.

A node is `{}` for any value, a scalar, an enum, an array with `items`, a map with `additionalProperties`, a
`$ref` to one of the classes, or an `anyOf` of these with null last, whose tag is its `discriminator`. The
keyword `MEANINGS` of an enum explains its values, and the keyword `ENUM` identifies it. `reader` creates the
normal form; types, clauses and their names derive only from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from toolgen.contract.json_value import Json

Node: TypeAlias = dict[str, Any]
Classes: TypeAlias = Mapping[str, Node]
"""Objects by name: nodes with `properties`, `required`, and `additionalProperties` as a boolean."""

NULL: Final[Node] = {"type": "null"}
MEANINGS: Final = "x-meanings"
"""Keyword of an enum: a text for each value, "" if it has none."""
ENUM: Final = "x-enum"
"""Keyword of an enum, and of the schema it was read from: the name of the enumeration."""
_PLACE: Final = "#/$defs/"
_HOLDING: Final = frozenset(("items", "additionalProperties", "anyOf"))
"""Keywords that contain nodes."""
_LEADING: Final = _HOLDING | {"$ref"}


def reference(name: str) -> Node:
    """Return the node of a class."""
    return {"$ref": _PLACE + name}


def target(node: Node) -> str | None:
    """Return the class that a node refers to."""
    if "$ref" not in node:
        return None
    ref = node["$ref"]
    return ref.removeprefix(_PLACE) if isinstance(ref, str) else None


def meanings_of(node: Node) -> list[str]:
    """Return the meaning of each value of an enum; "" if it is unknown."""
    return list(node.get(MEANINGS, [""] * len(node["enum"])))


def with_enum(node: Node, schema: Mapping[str, Json]) -> Node:
    """Return the node of a schema with the name of its enumeration, if the schema has one.

    A third-party document can have its own keyword of the same name, with any value.
    """
    if not isinstance(schema.get(ENUM), str):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [with_enum(branch, schema) for branch in node["anyOf"]]}
    return {**node, ENUM: schema[ENUM]} if "enum" in node else node


def leads_on(node: Node) -> bool:
    """Return whether a node contains nodes, or refers to a class."""
    return not _LEADING.isdisjoint(node)


def inner(node: Node) -> tuple[Node, ...]:
    """Return the direct child nodes of a node; references are not followed."""
    if _HOLDING.isdisjoint(node):
        return ()
    nodes = [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    return (*nodes, *node.get("anyOf", ()))


def without_null(node: Node) -> list[Node]:
    """Return the branches of a union except null; for any other node, the node itself."""
    return [branch for branch in node.get("anyOf", [node]) if branch != NULL]


def nodes_in(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes nested in it, outer before inner."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(inner(node))


def targets(node: Node) -> Iterable[tuple[str, str | None]]:
    """Return the classes that a node refers to, each with the tag of the union around the reference."""
    return _targets(node) if leads_on(node) else ()


def _targets(node: Node) -> Iterator[tuple[str, str | None]]:
    waiting: list[tuple[Node, str | None]] = [(node, None)]
    while waiting:
        node, tag = waiting.pop()
        name = target(node)
        if name is not None:
            yield name, tag
        if inner_nodes := inner(node):
            waiting += [(part, node.get("discriminator")) for part in reversed(inner_nodes)]
