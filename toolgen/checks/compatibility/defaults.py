"""Changes of the defaults of arguments and of fields inside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from toolgen.contract.json_pointer import escaped
from toolgen.contract.json_value import identity

from .changes import ContractChange, change, place
from .documents import SchemaDocument, SchemaNode
from .masks import inside, spread

_MOST: Final = 2_000
"""Maximum number of pairs of places to compare."""


def default_changes(tool: str, before: SchemaDocument, after: SchemaDocument) -> Iterator[ContractChange]:
    """Yield the changed defaults of keys that are optional on both sides."""
    waiting: list[tuple[str, list[SchemaNode], list[SchemaNode]]] = [("", [before.root], [after.root])]
    seen: set[Any] = set()
    while waiting and len(seen) < _MOST:
        name, old, new = waiting.pop(0)
        old, new = spread(old), spread(new)
        pair = frozenset(node.key for node in old), frozenset(node.key for node in new)
        if pair in seen:
            continue
        seen.add(pair)
        for key in sorted(_keys(old) & _keys(new)):
            inner = f"{name}.{escaped(key)}" if name else escaped(key)
            if not _is_required(old, key) and not _is_required(new, key):
                yield from _changed(tool, inner, key, old, new)
            waiting.append((inner, *_under(escaped(key), old, new)))
        items, others = _under("*", old, new)
        if items and others:
            waiting.append((f"{name}[]", items, others))


def _changed(
    tool: str, name: str, key: str, old: list[SchemaNode], new: list[SchemaNode]
) -> Iterator[ContractChange]:
    had, has = _defaults(old, key), _defaults(new, key)
    if had.keys() != has.keys():
        code = "default-changed" if has else "default-removed"
        texts = [", ".join(map(repr, each.values())) or "none" for each in (had, has)]
        message = f"the default of {name!r} changed from {texts[0]} to {texts[1]}"
        where = "/payload" if "." in name or "[" in name else place("/payload", f"/properties/{name}")
        yield change(code, tool, message, argument=name, before=where, after=where)


def _defaults(nodes: list[SchemaNode], key: str) -> dict[object, object]:
    parts = (node.schema for node in spread(inside(nodes, escaped(key))))
    values = [part["default"] for part in parts if "default" in part]
    return {identity(value): value for value in values}


def _keys(nodes: list[SchemaNode]) -> set[str]:
    return {key for node in nodes for key in node.schema.get("properties", ())}


def _is_required(nodes: list[SchemaNode], key: str) -> bool:
    return any(key in node.schema.get("required", ()) for node in nodes)


def _under(
    step: str, old: list[SchemaNode], new: list[SchemaNode]
) -> tuple[list[SchemaNode], list[SchemaNode]]:
    return list(inside(old, step)), list(inside(new, step))
