"""A design as its author has it, the text of its last import and that of the new one, merged into one.

What the author wrote stays byte for byte, but for what the source changed in what he left as it was imported.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from toolgen.contract.record import frozen_record

from .clause_merge import Change, ChangeKind, ClauseMerge, Path, Piece
from .matching import Key, clause_of, method_of, name_in, requests_in
from .module_parts import Item, bound_by, imports_in, loaded_by, place_of, rewritten, with_imports
from .places import line_of, variable_of
from .source_text import SourceText, Statement, UnreadableDesignError, is_same

Formatter = Callable[[list[str]], list[str]]
"""Formats modules, as imports are formatted."""


@frozen_record
class Merged:
    """A merged design."""

    text: str
    changes: tuple[Change, ...]
    """What changed, and what could not, in the order of the design."""
    is_same: bool = False
    """The two imports are alike."""


def merge(base: str, ours: str, theirs: str, *, unread: Collection[str] = (), formatted: Formatter) -> Merged:
    """Return the author's design `ours` with what changed between the imports `base` and `theirs`.

    `unread` are the tools that the source has and that were left out of `theirs`; they stay.

    Raises:
        UnreadableDesignError: the design cannot be changed in places.
    """
    if base == theirs:
        return Merged(text=ours, changes=(), is_same=True)
    mine = SourceText(ours)
    try:
        before = mine if base == ours else SourceText(base)
    except UnreadableDesignError as error:
        raise UnreadableDesignError("is beside a lock whose design does not parse") from error
    if renamed := _renamed(before, mine):
        before = SourceText(_with_names(base, renamed))
    new = SourceText(_with_names(theirs, renamed))
    if _are_same(before.statements, new.statements):
        return Merged(text=ours, changes=(), is_same=True)
    keep: set[Path] = set()
    while True:
        done = _ModuleMerge(before, mine, new, unread, frozenset(keep))
        items = done.items()
        if not (missing := set(_missing(items, done.clauses.deleted)) - keep):
            break
        keep |= missing
    is_whole = ours == base and not done.clauses.retained
    text = new.text if is_whole else rewritten(mine, items, _formatted(items, formatted))
    merged = new if is_whole else SourceText(text)
    expected = [item.node for item in items]
    if not is_whole and not is_same(merged.tree.body, expected):
        raise UnreadableDesignError("cannot be merged: what would be written is not what is meant")
    _check_order(items)
    changes = [
        replace(change, line=line_of(merged.tree, change.path), line_before=line_of(mine.tree, change.path))
        for change in done.clauses.changes
    ]
    if not changes and text != ours:
        changes = [Change(kind="changed", path=())]
    return Merged(text=text, changes=tuple(sorted(changes, key=lambda change: change.line)))


def _are_same(left: tuple[Statement, ...], right: tuple[Statement, ...]) -> bool:
    return len(left) == len(right) and all(
        each.is_same(other) for each, other in zip(left, right, strict=True)
    )


def _formatted(items: list[Item], formatted: Formatter) -> dict[int, str]:
    """Return the new texts of statements, formatted where those of the author are, by index."""
    old = {index: item.statement.text if item.statement else item.text for index, item in enumerate(items)}
    changed = [index for index, item in enumerate(items) if not item.statement or item.text != old[index]]
    texts = formatted([old[index] for index in changed] + [items[index].text for index in changed])
    pairs = zip(changed, texts[: len(changed)], texts[len(changed) :], strict=True)
    return {
        index: after.strip("\n")
        for index, before, after in pairs
        if items[index].statement is None or before.strip("\n") == old[index]
    }


class _ModuleMerge:
    """Merges the statements of a module."""

    def __init__(
        self,
        base: SourceText,
        ours: SourceText,
        theirs: SourceText,
        unread: Collection[str],
        keep: Collection[Path],
    ) -> None:
        self._ours = ours
        self._base, self._theirs = _assigned(base), _assigned(theirs)
        self._imports = imports_in(base), imports_in(theirs)
        self.clauses = ClauseMerge(
            unread=unread,
            keep=keep,
            requests=requests_in(base.tree),
            requests_there=requests_in(theirs.tree),
        )

    def items(self) -> list[Item]:
        """Return the statements of the merged module, in order."""
        here = _assigned(self._ours)
        items = [item for each in self._ours.statements if (item := self._item(each)) is not None]
        for name, statement in self._base.items():
            now = self._theirs.get(name)
            if name not in here and now is not None and not statement.is_same(now):
                self._change("declined", name, now.text)
        previous: list[str] = []
        for name, statement in self._theirs.items():
            if name not in here and name not in self._base:
                items.insert(place_of(items, name, previous), Item(node=statement.node, text=statement.text))
                self._change("added", name)
            previous.append(name)
        return with_imports(items, *self._imports)

    def _item(self, statement: Statement) -> Item | None:
        """Return what a statement of the author becomes; None where it goes."""
        name = variable_of(statement.node)
        same = Item(node=statement.node, statement=statement, text=statement.text)
        base, theirs = self._base.get(name), self._theirs.get(name)
        if not name or (base is None and theirs is None):
            return same
        if base is None or theirs is None:
            if theirs is not None and not statement.is_same(theirs):
                self._change("conflict", name, theirs.text)
            return None if base is not None and self._goes(base, statement, name) else same
        if base.is_same(theirs) or statement.is_same(theirs):
            return same
        pieces = (_value(base), _value(statement), _value(theirs))
        retained = self.clauses.retained
        node, text = self.clauses.expression(*pieces, (("$", name),))
        if base.text == statement.text and retained == self.clauses.retained:
            return replace(same, node=theirs.node, text=theirs.text)
        start, end = (offset - statement.start for offset in self._ours.span(pieces[1].node))
        merged = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=node)
        whole = statement.text[:start] + text + statement.text[end:]
        if isinstance(statement.node, ast.AnnAssign):
            annotated = statement.node
            return replace(
                same,
                text=whole,
                node=ast.AnnAssign(annotated.target, annotated.annotation, node, annotated.simple),
            )
        return replace(same, node=merged, text=whole)

    def _goes(self, base: Statement, ours: Statement, name: str) -> bool:
        path = (("$", name),)
        is_untouched = base.is_same(ours) and ours.is_alone and not ours.has_comment(ours.start, ours.end)
        if is_untouched and path not in self.clauses.keep:
            self._change("removed", name)
            self.clauses.deleted.append(path)
            return True
        self.clauses.retained += 1
        self._change("gone", name)
        return False

    def _change(self, kind: ChangeKind, name: str, now: str = "") -> None:
        self.clauses.change(kind, (("$", name),), now)


def _value(statement: Statement) -> Piece:
    assert isinstance(statement.node, ast.Assign | ast.AnnAssign)
    assert statement.node.value is not None
    return Piece(statement, statement.node.value)


def _assigned(source: SourceText) -> dict[str, Statement]:
    """Return the assignments of a module by variable, in order; the last one of a variable counts."""
    return {name: each for each in source.statements if (name := variable_of(each.node))}


def _renamed(base: SourceText, ours: SourceText) -> dict[str, str]:
    """Return what the author calls variables of the import, where he calls them otherwise."""
    before, here = _assigned(base), _assigned(ours)
    named = {label: name for name, each in here.items() if name not in before and (label := _identity(each))}
    return {
        name: named[label]
        for name, each in before.items()
        if name not in here and (label := _identity(each)) in named
    }


def _identity(statement: Statement) -> str:
    """Return the clause of a variable and its name, such as those of a service."""
    node = _value(statement).node
    clause, name = clause_of(node), name_in(node)
    return f"{clause} {name}" if clause and name else ""


def _with_names(text: str, renamed: dict[str, str]) -> str:
    """Return a module with other names of its variables."""
    if not renamed:
        return text
    source = SourceText(text)
    nodes = [each for each in ast.walk(source.tree) if isinstance(each, ast.Name) and each.id in renamed]
    for node in sorted(nodes, key=lambda each: (each.lineno, each.col_offset), reverse=True):
        start, end = source.span(node)
        text = text[:start] + renamed[node.id] + text[end:]
    return text


def _missing(items: list[Item], deleted: list[Path]) -> Iterator[Path]:
    """Yield what was deleted although something that stays refers to it."""
    if not deleted:
        return
    nodes = [node for item in items for node in ast.walk(item.node)]
    loaded = {node.id for node in nodes if isinstance(node, ast.Name)}
    tools = [node for node in nodes if clause_of(node) == "Tool"]
    bound = {method_of(tool) for tool in tools}
    methods = {name_in(node) for node in nodes if clause_of(node) == "Method"}
    for path in deleted:
        last: Key = path[-1]
        is_variable = len(path) == 1 and last[1] in loaded
        if is_variable or (last[0] == "Method" and ast.literal_eval(last[1]) in bound - methods):
            yield path


def _check_order(items: list[Item]) -> None:
    """Check that what was merged uses no variable above the statement that makes it.

    Raises:
        UnreadableDesignError: it does.
    """
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        for name in bound_by(item.node):
            first.setdefault(name, index)
    for index, item in enumerate(items):
        old = loaded_by(item.statement.node) if item.statement else frozenset()
        for name in sorted(item.loaded - old) if variable_of(item.node) else ():
            is_bound = first.get(name, index + 1) <= index or hasattr(builtins, name)
            if not is_bound:
                raise UnreadableDesignError(
                    f"has {variable_of(item.node)!r} above {name!r}, which it needs; move it below",
                    item.statement.node.lineno if item.statement else 1,
                )
