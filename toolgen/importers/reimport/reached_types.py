"""The types that requests and results use, and those that they no longer use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from .matching import Key
from .places import variable_of
from .targets import SIDES, clause_of, name_in

Variables: TypeAlias = Mapping[str, ast.AST]
"""Statements of a module by the variables that they assign."""


def lost_types(
    base: ast.Call | None,
    imported: ast.Call,
    variables: tuple[Variables, Variables],
    pairs: Mapping[Key, Key],
    guarded: Collection[Key],
) -> Iterator[tuple[str, Key, list[Key]]]:
    """Yield the guarded types that an owner no longer reaches, with their root path and its new types."""
    before, now = (_roots(base) if base else {}), _roots(imported)
    for root, nodes in before.items():
        side = root.partition(":")[0]
        nodes_now = now.get(root) or [
            each for path in now if path.partition(":")[0] == side for each in now[path]
        ]
        named = {pairs.get(each) for each in _types(nodes, variables[0], is_deep=False)}
        if named == _types(nodes_now, variables[1], is_deep=False):
            continue
        types_before, types_now = _types(nodes, variables[0]), _types(nodes_now, variables[1])
        new = sorted(types_now - {pairs.get(each, ()) for each in types_before})
        for lost in sorted({*guarded} & types_before):
            if pairs.get(lost) not in types_now:
                yield root, lost, new


def variables_in(tree: ast.Module) -> dict[str, ast.AST]:
    return {name: each for each in tree.body if (name := variable_of(each))}


def _types(nodes: Iterable[ast.AST], variables: Mapping[str, ast.AST], *, is_deep: bool = True) -> set[Key]:
    """Return the types that expressions refer to; if `is_deep`, also those inside them."""
    types: set[Key] = set()
    waiting, seen = [*nodes], set[str]()
    for node in waiting:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in variables and each.id not in seen:
                seen.add(each.id)
                value = getattr(variables[each.id], "value", each)
                if clause_of(value) == "Type":
                    types.add(("Type", repr(name_in(value))))
                if is_deep or clause_of(value) != "Type":
                    waiting.append(value)
    return types


def _roots(owner: ast.Call) -> dict[str, list[ast.AST]]:
    """Return the expressions in an owner by attribute path; outside of attributes, by side only."""
    sides = [each for each in owner.args if clause_of(each) in SIDES]
    roots: dict[str, list[ast.AST]] = {}
    for side in [owner] if clause_of(owner) == "Type" else sides:
        assert isinstance(side, ast.Call)
        prefix = SIDES.get(clause_of(side), "attribute")
        for each in side.args:
            name = name_in(each) if clause_of(each) == "Attribute" else ""
            roots.setdefault(f"{prefix}:{name}", []).append(each)
    return roots
