"""Where a change is in a design: its line, and the clauses around it by their names."""

from __future__ import annotations

import ast

from .clause_merge import Path
from .matching import Key, clause_of, keys_of
from .source_text import arguments_in


def variable_of(statement: ast.stmt) -> str:
    """Return the variable that a statement assigns; empty where it does something else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return name
    return ""


def line_of(tree: ast.Module, path: Path) -> int:
    """Return the line of what a path means, or of the nearest clause around it; 0 where nothing is there."""
    statements = [each for each in tree.body if path and variable_of(each) == path[0][1]]
    if not statements:
        return 0
    statement = statements[-1]
    line = statement.lineno
    node = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    for key in path[1:]:
        inside = _arguments(node)
        if key not in inside:
            break
        node = inside[key]
        line = node.lineno
    return line


def described(path: Path) -> str:
    """Return the clauses of a path in words: `the description of Attribute 'word' of Method 'find_books'`."""
    last = len(path) - 1
    parts = [text for at, key in reversed([*enumerate(path)]) if (text := _key_text(key, is_last=at == last))]
    return " of ".join(parts) or "the order of what the source lists"


def tool_of(path: Path) -> str:
    """Return the tool or the method in which a path leads; empty for none."""
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
