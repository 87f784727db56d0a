"""Statements of a merged module: positions of new ones, their imports, and the text of all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from toolgen import dsl
from toolgen.dsl import http

from .source_text import SourceText, Statement, UnreadableDesignError

_WORDS: Final = {module.__name__: module.__all__ for module in (dsl, http)}
"""Names that a design uses from a module that it imports completely."""
_BLANK: Final = re.compile(r"[ \t]*\n(?:[ \t]*\n)*")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A statement of a merged module."""

    node: ast.stmt
    text: str
    statement: Statement | None = None
    """Author's statement before the merge; None for a new one."""
    is_moved: bool = False
    """Whether the author's statement is now at another position."""

    @property
    def in_place(self) -> Statement | None:
        """Author's statement if it is still at its position."""
        return None if self.is_moved else self.statement

    @cached_property
    def loaded(self) -> frozenset[str]:
        """Names that it reads."""
        return _loaded_by(self.node)

    @cached_property
    def loaded_before(self) -> frozenset[str]:
        """Names that the author's statement read before the merge."""
        return frozenset() if self.statement is None else _loaded_by(self.statement.node)

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that it binds."""
        return frozenset(bound_by(self.node))


def imports_in(source: SourceText) -> dict[str, Statement]:
    """Return the import statements of an imported module, by the names that they bind."""
    return {name: each for each in source.statements if _is_import(each.node) for name in bound_by(each.node)}


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in the module."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
            return
        case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
            yield from _WORDS.get(module, ())
            return
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
            return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.stmt) and node is not statement:
            yield from bound_by(node)


def _loaded_by(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement reads."""
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return frozenset(node.id for node in nodes if isinstance(node.ctx, ast.Load))


def place_of(items: list[Item], name: str, previous: list[str]) -> int:
    """Return the index for a new variable: after the last present one of `previous`, before its first use."""
    head = next((at for at, item in enumerate(items) if not _is_head(item.node)), len(items))
    behind = [at + 1 for at, item in enumerate(items) if item.bound.intersection(previous[-1:])]
    for earlier in reversed(previous[:-1]):
        if behind:
            break
        behind = [at + 1 for at, item in enumerate(items) if earlier in item.bound]
    used = [at for at, item in enumerate(items) if name in item.loaded]
    return max(head, min([*(behind or [head])[-1:], *used]))


def with_imports(
    items: list[Item], base: Mapping[str, Statement], update: Mapping[str, Statement]
) -> list[Item]:
    """Return the statements with the imports that they need.

    Unused imports of the last import are removed.
    """
    loaded = {name for item in items for name in item.loaded}
    unused = {each.text for name, each in base.items() if name not in loaded}
    items = [item for item in items if not _is_import(item.node) or item.text not in unused]
    bound = {name for item in items for name in item.bound}
    known = [at for at, item in enumerate(items) if _is_import(item.node) and item.bound & update.keys()]
    head = next((at for at, item in enumerate(items) if not _is_head(item.node)), len(items))
    at = min(known, default=head)
    for name, statement in update.items():
        at = max([at, *(index + 1 for index, item in enumerate(items[:head]) if name in item.bound)])
        if name in loaded - bound:
            items.insert(at, Item(node=statement.node, text=statement.text))
            at, head = at + 1, head + 1
    _check_bindings(items, update)
    return items


def _check_bindings(items: list[Item], update: Mapping[str, Statement]) -> None:
    """Check that names of new clauses refer to what their imports mean.

    Raises:
        UnreadableDesignError: The author uses the name for something else.
    """
    for name, statement in update.items():
        (meant,) = _imported(statement.node, name)
        binding = [item for item in items if name in item.bound]
        if not any(meant in _imported(item.node, name) for item in binding):
            users = [item for item in items if _members(item.node, name) - _members_before(item, name)]
            if users:
                line = next((item.statement.node.lineno for item in binding if item.statement), 1)
                raise UnreadableDesignError(
                    f"defines {name!r}, but the new clauses need {statement.text!r}; rename yours", line
                )


def _imported(statement: ast.stmt, name: str) -> frozenset[str]:
    """Return the objects that a statement imports under a name."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            found |= {f"{prefix}{each.name}" for each in node.names if (each.asname or each.name) == name}
    return frozenset(found)


def _members(statement: ast.stmt, name: str) -> frozenset[str]:
    """Return the attributes of a variable that a statement reads."""
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Attribute))
    return frozenset(
        node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == name
    )


def _members_before(item: Item, name: str) -> frozenset[str]:
    return frozenset() if item.statement is None else _members(item.statement.node, name)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_head(node: ast.stmt) -> bool:
    """Return whether a statement belongs to the head of a module: its docstring and imports."""
    return _is_import(node) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def rewritten(source: SourceText, items: list[Item], texts: dict[int, str]) -> str:
    """Return the module with these statements; `texts` are texts that differ from their items, by index.

    Text between statements is unchanged, except for blank lines after a removed statement.
    """
    edits: list[tuple[int, int, str]] = []
    place = 0
    for index, item in enumerate(items):
        text = texts.get(index, item.text)
        if (statement := item.in_place) is not None:
            if text != statement.text:
                edits.append((statement.start, statement.end, text))
            place = source.line_end(statement.end)
        elif place:
            gap = "\n" if _is_import(item.node) else "\n\n"
            behind = "" if not source.text[place + 1 : source.line_end(place + 1)].strip() else gap[1:]
            edits.append((place, place, gap + text + behind))
        else:
            edits.append((0, 0, f"{text}\n\n"))
    left = {id(item.in_place) for item in items}
    for statement in source.statements:
        if id(statement) not in left:
            blank = _BLANK.match(source.text, statement.end)
            edits.append((statement.start, blank.end() if blank else statement.end, ""))
    result, done = "", 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        result += source.text[done:start] + text
        done = end
    result += source.text[done:]
    is_cut = bool(source.statements) and id(source.statements[-1]) not in left
    return f"{result.rstrip()}\n" if is_cut else result
