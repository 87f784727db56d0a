"""The place of a change in a design: its line, and the names of the surrounding clauses."""

from __future__ import annotations

import ast
from typing import Final

from .clause_merge import Path
from .matching import Key, keys_of
from .source_text import arguments_in
from .targets import attributes_of, clause_of, clauses_in, method_of, name_in

_CLAUSES: Final = {
    "server": ("Service",),
    "credential": ("APIKeySecurity", "BasicSecurity", "BearerSecurity", "OAuth2Security"),
    "security": ("Method",),
    "tool": ("Tool",),
    "argument": ("Tool", "Method"),
    "result": ("Tool", "Method"),
    "attribute": ("Type",),
}
"""Clauses that have targets, by the kind of a place."""


def variable_of(statement: ast.stmt) -> str:
    """Return the variable that a statement assigns; empty for other statements."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return name
    return ""


def line_of(tree: ast.Module, path: Path) -> int:
    """Return the line of the clause at a path, or of its nearest existing parent; 0 if there is none."""
    nodes = _nodes_on(tree, path)
    return nodes[-1].lineno if nodes else 0


def node_at(tree: ast.Module, path: Path) -> ast.AST | None:
    """Return the node at a path; None if there is none."""
    nodes = _nodes_on(tree, path)
    return nodes[-1] if path and len(nodes) == len(path) else None


def _nodes_on(tree: ast.Module, path: Path) -> list[ast.stmt | ast.expr]:
    """Return the existing statement and clauses along a path."""
    statements = [each for each in tree.body if path and variable_of(each) == path[0][1]]
    nodes: list[ast.stmt | ast.expr] = [*statements[-1:]]
    node = (
        statements[-1].value
        if statements and isinstance(statements[-1], ast.Assign | ast.AnnAssign)
        else None
    )
    for key in path[1:]:
        inside = _arguments(node)
        if key not in inside:
            break
        node = inside[key]
        nodes.append(node)
    return nodes


def line_of_target(tree: ast.Module, place: str) -> int:
    """Return the line of the clause that has a target; 0 if there is none."""
    kind, _, rest = place.partition(":")
    name = rest.partition(".")[0]
    for node in clauses_in([tree], *_CLAUSES.get(kind, ())):
        if name in (name_in(node), method_of(node) if kind == "tool" else name_in(node)):
            if kind in ("server", "tool", "credential", "security"):
                servers = [each for each in node.args if clause_of(each) == "Server"]
                return servers[0].lineno if servers else node.lineno
            return attributes_of(node).get(place, node).lineno
    return 0


def described(path: Path) -> str:
    """Return the clauses of a path in words: `the description of Attribute 'word' of Method 'find_books'`."""
    last = len(path) - 1
    parts = [text for at, key in reversed([*enumerate(path)]) if (text := _key_text(key, is_last=at == last))]
    return " of ".join(parts) or "the order of the source"


def place_of(path: Path) -> str:
    """Return the name of a path on the command line: `library_service/lend_book/Payload`."""
    parts: list[str] = []
    for clause, *names in path:
        text = names[0] if names else clause
        is_text = clause not in ("$", "=", "") and names and text[:1] in "'\""
        parts.append("-".join([str(ast.literal_eval(text)) if is_text else text, *names[1:]]))
    return "/".join(parts)


def tool_of(path: Path) -> str:
    """Return the tool or method that a path leads into; empty for none."""
    names = (key[1] for key in path if key[0] in ("Tool", "Method"))
    return str(ast.literal_eval(next(names, "''")))


def _key_text(key: Key, *, is_last: bool) -> str:
    match key:
        case ("=", slot):
            return f"the {slot}" if is_last else ""
        case ("$", name):
            return f"{name!r}"
        case ("", *_):
            return "an item" if is_last else ""
        case (clause, name, *_):
            return f"{clause} {name}"
        case (clause,):
            return clause if is_last else ""
    return ""


def _arguments(node: ast.expr | None) -> dict[Key, ast.expr]:
    if node is None or not isinstance(node, ast.Call) or not (clause := clause_of(node)):
        return {}
    arguments = arguments_in(node)
    return dict(zip(keys_of(clause, arguments), (value for _, value in arguments), strict=True))
