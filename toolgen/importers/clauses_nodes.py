"""Nodes of the normal form: what stands in one, and which classes it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Node: TypeAlias = dict[str, Any]
"""A node of the normal form; see `toolgen.schema_reader`."""
Classes: TypeAlias = Mapping[str, Node]


def inner(node: Node) -> tuple[Node, ...]:
    """Return the nodes that stand in a node, without those behind a reference."""
    found = [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    return (*found, *node.get("anyOf", ()))


def target(node: Node) -> str | None:
    """Return the class that a node refers to."""
    ref = node.get("$ref")
    return ref.removeprefix("#/$defs/") if isinstance(ref, str) else None


def targets(node: Node) -> Iterator[tuple[str, str | None]]:
    """Yield the classes that a node refers to, each with the tag of the union it stands in."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        name = target(node)
        if name is not None:
            yield name, None
        elif "discriminator" in node:
            yield from ((name, node["discriminator"]) for name in map(target, node["anyOf"]) if name)
        else:
            waiting += reversed(inner(node))
