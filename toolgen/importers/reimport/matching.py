"""Which clause of a version of a design is which of another: by slot, by name, by what it is bound to."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

from toolgen import dsl

from .source_text import Chunk

Key: TypeAlias = tuple[str, ...]
"""`("=", slot)` of a fixed argument; the clause and name of a child, numbered where it is there twice."""
Labelled: TypeAlias = dict[Key, Chunk]
"""The arguments of a call by key, in order."""
Requests: TypeAlias = dict[str, str]
"""What methods request, by their names."""

_NAMING: Final = frozenset(["name", "attribute", "status", "src", "kind", "value"])
"""First parameters that tell a clause from its siblings."""
_RENAMEABLE: Final = frozenset(["Tool", "Method", "Toolset", "Service", "Type"])
_TELLING: Final = 60
"""Characters of a dumped argument that two clauses hardly share by chance."""


def clause_of(node: ast.AST) -> str:
    """Return the name of the clause that an expression calls; empty for anything else."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in dsl.__all__:
            return name
    return ""


def labelled(clause: str, chunks: Iterable[Chunk]) -> Labelled:
    """Return the arguments of a clause by key."""
    chunks = list(chunks)
    return dict(zip(keys_of(clause, [(each.keyword, each.node) for each in chunks]), chunks, strict=True))


def keys_of(clause: str, arguments: Iterable[tuple[str | None, ast.expr]]) -> Iterator[Key]:
    """Yield the key of each argument of a clause, of which there are the keyword and the value."""
    slots = _slots(clause)
    seen: Counter[Key] = Counter()
    for index, (keyword, node) in enumerate(arguments):
        key = _key(keyword, node, index, slots)
        seen[key] += 1
        yield key if seen[key] == 1 else (*key, str(seen[key]))


def slot_index(clause: str, key: Key) -> int | None:
    """Return the place of a fixed positional argument; None for another argument."""
    slots = _slots(clause)
    return slots.index(key[1]) if key[0] == "=" and key[1] in slots else None


def name_in(node: ast.AST) -> str:
    """Return the text that a clause has as its first argument; empty where it has none."""
    match node:
        case ast.Call(args=[ast.Constant(value=str(name)), *_]):
            return name
    return ""


def method_of(node: ast.AST) -> str:
    """Return the method to which a tool is bound; empty where it is not."""
    for child in _children(node):
        match child:
            case ast.Call(func=ast.Name(id="BindTo"), args=[*_, ast.Constant(value=str(method))]):
                return method
    return ""


def own_matches(base: Labelled, ours: Labelled, requests: Requests) -> dict[Key, Key]:
    """Return the author's clause for each of the last import, renamed ones included."""
    pairs = _matches(
        base, ours, lambda node: _identity(node, requests), lambda node: _identity(node, requests)
    )
    for clause in _RENAMEABLE:
        left = [key for key in base if key[0] == clause and key not in pairs]
        right = [key for key in ours if key[0] == clause and key not in pairs.values()]
        for key in left:
            alike = [other for other in right if _is_alike(base[key].node, ours[other].node)]
            if len(alike) == 1:
                pairs[key] = alike[0]
                right.remove(alike[0])
    return pairs


def source_matches(
    base: Labelled, theirs: Labelled, requests: Requests, requests_there: Requests
) -> dict[Key, Key]:
    """Return the clause of the new import for each of the last one; an operation with another id is one."""
    return _matches(
        base,
        theirs,
        lambda node: _requested(node, requests),
        lambda node: _requested(node, requests_there),
    )


def requests_in(tree: ast.Module) -> Requests:
    """Return what each method of an API requests, or which function it calls."""
    values = [each.value for each in tree.body if isinstance(each, ast.Assign)]
    requests: Requests = {}
    for node in values:
        if isinstance(node, ast.Call) and clause_of(node) in ("Design", "Service"):
            values += node.args
        elif clause_of(node) == "Method":
            requests[name_in(node)] = _request(node)
    return requests


def _matches(
    base: Labelled,
    other: Labelled,
    identity: Callable[[ast.expr], str],
    identity_there: Callable[[ast.expr], str],
) -> dict[Key, Key]:
    pairs = {key: key for key in base if key in other}
    left = [(key, label) for key in base if key not in pairs and (label := identity(base[key].node))]
    right = {
        (key[0], label): key
        for key in (other if left else ())
        if key not in pairs and (label := identity_there(other[key].node))
    }
    pairs.update({key: right.pop((key[0], label)) for key, label in left if (key[0], label) in right})
    return pairs


def _identity(node: ast.expr, requests: Requests) -> str:
    """Return what a method requests, or what a tool is bound to or is called in its source."""
    named = (ast.dump(child) for child in _children(node) if clause_of(child) in ("BindTo", "Meta"))
    return _requested(node, requests) or next(named, "")


def _requested(node: ast.expr, requests: Requests) -> str:
    """Return what a method requests, or that of a tool; empty where it is not known."""
    method = method_of(node)
    return requests.get(method, "") if method else _request(node)


def _request(node: ast.AST) -> str:
    for child in _children(node):
        match child:
            case ast.Call(func=ast.Name(id="HTTP"), args=[request, *_]):
                return ast.dump(request)
            case ast.Call(func=ast.Name(id="Function")):
                return ast.dump(child)
    return ""


def _children(node: ast.AST) -> Iterator[ast.expr]:
    if clause_of(node) in _RENAMEABLE and isinstance(node, ast.Call):
        yield from node.args


def _is_alike(base: ast.expr, ours: ast.expr) -> bool:
    """Return whether most of what stands in a clause stands in another one with another name."""
    left, right = ([ast.dump(part) for part in _parts(node)] for node in (base, ours))
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
    """Return the first argument of a clause, which tells it from its siblings."""
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
    of: Any = getattr(dsl, clause)
    return list(inspect.signature(of).parameters.values())
