"""Matches the clauses of two versions of a design: by slot, by name, by target."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from toolgen.dsl.words import value_of

from .source_text import Chunk
from .targets import Methods, address_of, clause_of, meta_name, method_of, name_in, own_name, request_of

Key: TypeAlias = tuple[str, ...]
"""`("=", slot)` for a fixed argument; clause and name for a child, with a number if they are repeated."""
Labelled: TypeAlias = dict[Key, Chunk]
"""Arguments of a call by key, in order."""
Nodes: TypeAlias = Mapping[Key, ast.expr]
"""Arguments, or clauses of a whole module, by key."""
Label: TypeAlias = Callable[[Key, ast.expr, Methods], str]
"""Returns the identity of a clause that is the same in both versions; empty if it is unknown."""

_NAMING: Final = frozenset(["name", "attribute", "status", "src", "kind", "value"])
"""Names of first parameters that distinguish a clause from its siblings."""
_RENAMEABLE: Final = frozenset(["Tool", "Method", "Toolset", "Service", "Type"])
_TELLING: Final = 60
"""Minimum length of a dumped argument that two clauses are unlikely to share by chance."""


def labelled(clause: str, chunks: Iterable[Chunk]) -> Labelled:
    """Return the arguments of a clause by key."""
    chunks = list(chunks)
    return dict(zip(keys_of(clause, [(each.keyword, each.node) for each in chunks]), chunks, strict=True))


def keys_of(clause: str, arguments: Iterable[tuple[str | None, ast.expr]]) -> Iterator[Key]:
    """Yield the key of each argument of a clause, given as keyword and value."""
    slots = _slots(clause)
    seen: Counter[Key] = Counter()
    for index, (keyword, node) in enumerate(arguments):
        key = _key(keyword, node, index, slots)
        seen[key] += 1
        yield key if seen[key] == 1 else (*key, str(seen[key]))


def slot_index(clause: str, key: Key) -> int | None:
    """Return the position of a fixed positional argument; None for other arguments."""
    slots = _slots(clause)
    return slots.index(key[1]) if key[0] == "=" and key[1] in slots else None


def own_matches(base: Nodes, design: Nodes, methods: Methods, methods_here: Methods) -> dict[Key, Key]:
    """Return the author's clause for each clause of the last import, including renamed ones.

    Clauses are matched by target and request, then by name, then by binding, and then by most of their parts.
    """
    first = [_target, _request]
    pairs = _matches(base, design, methods, methods_here, [*first, _by_key, _bound])
    for clause in _RENAMEABLE:
        left = [key for key in base if key[0] == clause and key not in pairs]
        right = [key for key in design if key[0] == clause and key not in pairs.values()]
        for key in left:
            alike = [other for other in right if _is_alike(base[key], design[other])]
            if len(alike) == 1:
                pairs[key] = alike[0]
                right.remove(alike[0])
    return pairs


def source_matches(base: Nodes, update: Nodes, methods: Methods, methods_there: Methods) -> dict[Key, Key]:
    """Return the clause of the new import for each clause of the last one.

    Clauses are matched by target and request, then by their name in the source, then by the derived name.
    """
    return _matches(base, update, methods, methods_there, [_target, _request, _source_name, _by_key])


def is_of_same_source(node: ast.expr, methods: Methods, other: ast.expr, methods_there: Methods) -> bool:
    """Return whether two tools or methods have the same request; without requests, compare source names."""
    requests = _request((), node, methods), _request((), other, methods_there)
    if any(requests):
        return requests[0] == requests[1]
    names = _source_name((), node, methods), _source_name((), other, methods_there)
    return bool(names[0]) and names[0] == names[1]


def _matches(
    base: Nodes, other: Nodes, methods: Methods, methods_there: Methods, labels: list[Label]
) -> dict[Key, Key]:
    """Return the pairs found by each label in turn.

    If there are several candidates, equal keys come first.
    """
    pairs: dict[Key, Key] = {}
    taken: set[Key] = set()
    for label in labels:
        right: dict[tuple[str, str], list[Key]] = {}
        for key, node in other.items():
            if key not in taken and (text := label(key, node, methods_there)):
                right.setdefault((key[0], text), []).append(key)
        left: dict[Key, list[Key]] = {}
        for key, node in base.items():
            if key not in pairs and (text := label(key, node, methods)) and (key[0], text) in right:
                left[key] = right[key[0], text]
        same = [(key, [key]) for key, candidates in left.items() if key in candidates]
        for key, candidates in [*same, *left.items()]:
            free = next((each for each in candidates if each not in taken), None)
            if key not in pairs and free is not None:
                pairs[key] = free
                taken.add(free)
    return pairs


def _target(key: Key, node: ast.expr, methods: Methods) -> str:
    """Return the target of a tool or a method with its address, or the addresses of a server."""
    match clause_of(node), node:
        case "Server", ast.Call():
            return address_of(node)
        case "Tool", _:
            return methods.targets.get(method_of(node), "")
        case "Method", _:
            return methods.targets.get(name_in(node), "")
    return ""


def _request(key: Key, node: ast.expr, methods: Methods) -> str:
    """Return the request of a tool or a method, regardless of the server."""
    match clause_of(node):
        case "Tool":
            return methods.requests.get(method_of(node), "")
        case "Method":
            return request_of(node) or methods.requests.get(name_in(node), "")
    return ""


def _source_name(key: Key, node: ast.expr, methods: Methods) -> str:
    match clause_of(node):
        case "Tool":
            return own_name(node)
        case "Method":
            return methods.names.get(name_in(node), "")
    return ""


def _by_key(key: Key, node: ast.expr, methods: Methods) -> str:
    return repr(key)


def _bound(key: Key, node: ast.expr, methods: Methods) -> str:
    """Return the method to which a tool is bound, or its name in the source."""
    if clause_of(node) != "Tool":
        return ""
    return method_of(node) or meta_name(node)


def _is_alike(base: ast.expr, design: ast.expr) -> bool:
    """Return whether another clause contains most parts of a clause, apart from the name."""
    left, right = ([ast.dump(part) for part in _parts(node)] for node in (base, design))
    shared = [part for part in left if part in right]
    return len(shared) * 2 >= len(left) and any(len(part) > _TELLING for part in shared)


def _parts(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        yield from node.args[1:]
        yield from (keyword.value for keyword in node.keywords)


def _key(keyword: str | None, node: ast.expr, index: int, slots: tuple[str, ...]) -> Key:
    if keyword is not None:
        return "=", keyword
    if index < len(slots):
        return "=", slots[index]
    match node:
        case ast.Name(id=name):
            return "$", name
        case ast.Call() if clause := clause_of(node):
            return (clause, _first(node, _slots(clause))) if _is_named(clause) else (clause,)
    return "", ast.dump(node)


def _first(node: ast.Call, slots: tuple[str, ...]) -> str:
    """Return the first argument of a clause, which distinguishes it from its siblings."""
    named = (keyword.value for keyword in node.keywords if keyword.arg == slots[0])
    first = node.args[0] if node.args else next(named, None)
    return ast.unparse(first) if first is not None else ""


@cache
def _slots(clause: str) -> tuple[str, ...]:
    """Return the fixed positional parameters of a clause."""
    return tuple(
        each.name
        for each in _parameters(clause)
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    )


def _is_named(clause: str) -> bool:
    slots = _slots(clause)
    return bool(slots) and slots[0] in _NAMING


def _parameters(clause: str) -> list[inspect.Parameter]:
    return list(inspect.signature(value_of(clause)).parameters.values())
