"""The statements of a merged module: where new ones stand, what they import, and the text of all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from toolgen import dsl
from toolgen.contract.record import frozen_record

from .source_text import SourceText, Statement

_DSL: Final = "toolgen.dsl"
_BLANK: Final = re.compile(r"[ \t]*\n(?:[ \t]*\n)*")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A statement of a merged module."""

    node: ast.stmt
    text: str
    statement: Statement | None = None
    """The author's, of which it is what it becomes; None for a new one."""

    @cached_property
    def loaded(self) -> frozenset[str]:
        """The names that it reads."""
        return loaded_by(self.node)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that it binds."""
        return frozenset(bound_by(self.node))


@frozen_record
class Imports:
    """What an imported design imports."""

    clauses: frozenset[str]
    text: str
    """The statement for the clauses."""
    modules: dict[str, Statement]
    """Statements that import modules of Python, by the name that they bind."""


def imports_in(source: SourceText) -> Imports:
    """Return the imports of a module that an import wrote."""
    modules: dict[str, Statement] = {}
    for each in source.statements:
        if isinstance(each.node, ast.Import):
            modules |= dict.fromkeys(bound_by(each.node), each)
    matching = [each for each in source.statements if _is_of_clauses(each.node)]
    names = frozenset(name for each in matching for name in bound_by(each.node))
    return Imports(clauses=names, text=matching[0].text if matching else "", modules=modules)


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in the module."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
            return
        case ast.ImportFrom(module=module, names=[ast.alias(name="*")]):
            yield from dsl.__all__ if module == _DSL else ()
            return
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
            return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.stmt) and node is not statement:
            yield from bound_by(node)


def loaded_by(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement reads."""
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return frozenset(node.id for node in nodes if isinstance(node.ctx, ast.Load))


def place_of(items: list[Item], name: str, previous: list[str]) -> int:
    """Return where a variable stands: behind the last of `previous` that is there, above its first use."""
    head = next((at for at, item in enumerate(items) if not _is_head(item.node)), len(items))
    behind = [at + 1 for at, item in enumerate(items) if item.bound.intersection(previous[-1:])]
    for earlier in reversed(previous[:-1]):
        if behind:
            break
        behind = [at + 1 for at, item in enumerate(items) if earlier in item.bound]
    used = [at for at, item in enumerate(items) if name in item.loaded]
    return max(head, min([*(behind or [head])[-1:], *used]))


def with_imports(items: list[Item], base: Imports, theirs: Imports) -> list[Item]:
    """Return the statements with the imports that they need now."""
    loaded = {name for item in items for name in item.loaded}
    bound = {name for item in items for name in item.bound}
    missing = (theirs.clauses & loaded) - bound
    items = [_import_changed(item, base, missing, loaded) for item in items]
    bound = {name for item in items for name in item.bound}
    new: list[Item] = []
    for name, statement in theirs.modules.items():
        if name in loaded - bound:
            new.append(Item(node=statement.node, text=statement.text))
    if left := missing - bound:
        new.append(_import_of(left))
    at = next((at for at, item in enumerate(items) if _is_of_clauses(item.node)), None)
    at = at if at is not None else next((at for at, item in enumerate(items) if not _is_head(item.node)), 0)
    return [*items[:at], *new, *items[at:]]


def _import_changed(item: Item, base: Imports, missing: frozenset[str], loaded: set[str]) -> Item:
    """Return the statement that imports clauses with those that are missing; one with comments stays."""
    node = item.node
    if not _is_of_clauses(node) or item.statement is None or "#" in item.text:
        return item
    assert isinstance(node, ast.ImportFrom)
    names = [alias.name for alias in node.names if not alias.asname]
    if any(alias.asname or alias.name == "*" for alias in node.names):
        return item
    is_untouched = item.text == base.text
    left = [name for name in names if name in loaded] if is_untouched else names
    wanted = sorted({*left, *missing}) if names == sorted(names) else [*left, *sorted(missing)]
    if wanted == names or not wanted:
        return item
    new = replace(_import_of(wanted), statement=item.statement)
    rows = item.text.split("\n")
    if len(rows) == 1 or is_untouched:
        return new
    indent = rows[1][: len(rows[1]) - len(rows[1].lstrip())]
    lines = [f"{indent}{name}," for name in wanted]
    return replace(new, text="\n".join([f"from {_DSL} import (", *lines, ")"]))


def _import_of(names: Iterable[str]) -> Item:
    ordered = list(names) if isinstance(names, list) else sorted(names)
    node = ast.ImportFrom(module=_DSL, names=[ast.alias(name=name) for name in ordered], level=0)
    return Item(node=node, text=f"from {_DSL} import {', '.join(ordered)}")


def _is_of_clauses(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _DSL and node.level == 0


def _is_head(node: ast.stmt) -> bool:
    """Return whether a statement is of those with which a module begins: its docstring and imports."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def rewritten(source: SourceText, items: list[Item], texts: dict[int, str]) -> str:
    """Return the module with these statements; `texts` are those that differ from their item's, by index.

    All that stands between statements stays, but for the empty lines behind one that goes.
    """
    edits: list[tuple[int, int, str]] = []
    place = 0
    for index, item in enumerate(items):
        text = texts.get(index, item.text)
        if item.statement is not None:
            if text != item.statement.text:
                edits.append((item.statement.start, item.statement.end, text))
            place = source.line_end(item.statement.end)
        elif place:
            gap = "\n" if isinstance(item.node, ast.Import | ast.ImportFrom) else "\n\n"
            behind = "" if not source.text[place + 1 : source.line_end(place + 1)].strip() else gap[1:]
            edits.append((place, place, gap + text + behind))
        else:
            edits.append((0, 0, f"{text}\n\n"))
    left = {id(item.statement) for item in items}
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
