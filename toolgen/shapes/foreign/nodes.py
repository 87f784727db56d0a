"""The normal form of a third-party schema: the part that Python types can express.

A node is `{}` for any value, a scalar, an enum, an array with `items`, a map with `additionalProperties`, a
`$ref` to one of the classes, or an `anyOf` of those with null last, whose tag is its `discriminator`.
What the values of an enum mean stands in its `MEANINGS`, and which one it is in its `ENUM`.
`reader` makes it; types, clauses and their names are read from it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from toolgen.contract.json_value import Json

Node: TypeAlias = dict[str, Any]
Classes: TypeAlias = Mapping[str, Node]
"""Objects by name: nodes with `properties`, `required`, and whether there may be others."""

NULL: Final[Node] = {"type": "null"}
MEANINGS: Final = "x-meanings"
"""Keyword of an enum: a text for each value, "" if it has none."""
ENUM: Final = "x-enum"
"""Keyword of an enum, and of the schema that it is read from: which named enumeration it is."""
_PLACE: Final = "#/$defs/"
_HOLDING: Final = frozenset(("items", "additionalProperties", "anyOf"))
"""Keywords that hold nodes."""
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
    """Return the node of a schema with the name of the enumeration, where the schema is one with a name.

    A document of others may have a keyword of its own that is called so, with any value.
    """
    if not isinstance(schema.get(ENUM), str):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [with_enum(branch, schema) for branch in node["anyOf"]]}
    return {**node, ENUM: schema[ENUM]} if "enum" in node else node


def leads_on(node: Node) -> bool:
    """Return whether a node holds nodes, or refers to a class."""
    return not _LEADING.isdisjoint(node)


def inner(node: Node) -> tuple[Node, ...]:
    """Return the nodes that stand in a node, without those behind a reference."""
    if _HOLDING.isdisjoint(node):
        return ()
    nodes = [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    return (*nodes, *node.get("anyOf", ()))


def without_null(node: Node) -> list[Node]:
    """Return the branches of a union but null; of any other node, itself."""
    return [branch for branch in node.get("anyOf", [node]) if branch != NULL]


def nodes_in(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes in it, outer before inner."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(inner(node))


def targets(node: Node) -> Iterable[tuple[str, str | None]]:
    """Return the classes that a node refers to, each with the tag of the union it stands in."""
    return _targets(node) if leads_on(node) else ()


def _targets(node: Node) -> Iterator[tuple[str, str | None]]:
    waiting: list[tuple[Node, str | None]] = [(node, None)]
    while waiting:
        node, tag = waiting.pop()
        name = target(node)
        if name is not None:
            yield name, tag
        if held := inner(node):
            waiting += [(part, node.get("discriminator")) for part in reversed(held)]
