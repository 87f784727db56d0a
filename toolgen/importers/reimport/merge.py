"""Merges the author's design, the text of its last import and the text of the new import.

The author's text is unchanged byte for byte, except for unedited parts that the source has changed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace

from toolgen.contract.record import frozen_record

from .clause_merge import ChangeKind, ClauseMerge, DesignChange, Path, Piece
from .conflicts import LastImport, OpenConflict, OpenConflicts, gone_conflicts
from .decisions import Decisions
from .matching import Key
from .module_parts import Item, imports_in, place_of, rewritten, with_imports
from .places import line_of, line_of_target, node_at, variable_of
from .source_text import SourceText, Statement, UnreadableDesignError, is_same
from .statement_order import check_order, in_order
from .targets import clause_of, method_of, methods_in, name_in, targets_in

Formatter = Callable[[list[str]], list[str]]
"""Formats modules in the same way as imports."""


@frozen_record
class Merged:
    """Result of a merge."""

    text: str
    changes: tuple[DesignChange, ...]
    """Changes and conflicts, in the order of the design."""
    is_same: bool = False
    """Whether both imports are equal."""
    open: OpenConflicts = field(default_factory=dict[str, OpenConflict])
    """Open conflicts by place."""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lines of open conflicts in the merged design, by place."""
    lines_before: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lines of open conflicts in the design before the merge, by place."""


def merge(
    base: str,
    design: str,
    update: str,
    *,
    unread: Collection[str] = (),
    recorded: LastImport | None = None,
    formatted: Formatter,
) -> Merged:
    """Return the author's `design` with the changes between the imports `base` and `update`.

    `unread` are the tools in the source that were left out of `update`; they stay. Without `recorded`,
    the targets of `base` are used.

    Raises:
        UnreadableDesignError: The design cannot be edited in place.
    """
    before, own, new = _parsed(base, design, update)
    recorded = recorded or LastImport(targets=targets_in(before.tree))
    is_alike = _are_same(before.statements, new.statements)
    if is_alike and not recorded.open and recorded.targets == targets_in(new.tree):
        return Merged(text=design, changes=(), is_same=True)
    still_open = {
        place: each
        for place, each in recorded.open.items()
        if not _is_restored(each.path, own.tree, new.tree)
    }
    decisions = Decisions(before, own, new, replace(recorded, open=still_open), unread)
    done, items = _items_merged(before, own, new, decisions, unread)
    is_unedited = design == base and not done.clauses.retained and not done.has_decision_edits
    text = new.text if is_unedited else rewritten(own, items, _formatted(items, formatted))
    if not is_unedited:
        check_order(items, done.is_unedited)
    merged = new if is_unedited else SourceText(text)
    if not is_unedited and not is_same(merged.tree.body, [item.node for item in items]):
        raise UnreadableDesignError("cannot be merged: the merged text would mean something else")
    conflicts = gone_conflicts(done.clauses.changes) | decisions.open
    changes = done.clauses.changes
    if not changes and not conflicts and text != design:
        changes = [DesignChange(kind="changed", path=())]
    placed = Merged(text=text, changes=tuple(changes), is_same=is_alike, open=conflicts)
    return _with_lines(placed, own.tree, merged.tree)


def _with_lines(merged: Merged, before: ast.Module, after: ast.Module) -> Merged:
    """Return a merged design whose changes have their lines, before and after it, sorted by line."""
    changes = [
        replace(each, line=line_of(after, each.path), line_before=line_of(before, each.path))
        for each in merged.changes
    ]
    return replace(
        merged,
        changes=tuple(sorted(changes, key=lambda change: change.line)),
        lines={place: _line(after, place, each) for place, each in merged.open.items()},
        lines_before={place: _line(before, place, each) for place, each in merged.open.items()},
    )


def _parsed(base: str, design: str, update: str) -> tuple[SourceText, SourceText, SourceText]:
    """Return the three versions of a design, all with the author's variable names."""
    own = SourceText(design)
    try:
        before = own if base == design else SourceText(base)
    except UnreadableDesignError as error:
        raise UnreadableDesignError("has a lock file whose design does not parse") from error
    if renamed := _renamed(before, own):
        before = SourceText(_with_names(base, renamed))
    return before, own, SourceText(_with_names(update, renamed))


def _items_merged(
    base: SourceText,
    design: SourceText,
    update: SourceText,
    decisions: Decisions,
    unread: Collection[str],
) -> tuple[_ModuleMerge, list[Item]]:
    """Return a merge in which no needed part is missing, and the statements of the module."""
    keep: set[Path] = set()
    while True:
        done = _ModuleMerge(base, design, update, unread, frozenset(keep))
        items = done.items(decisions)
        if not (missing := set(_missing(items, done.clauses.deleted)) - keep):
            return done, items
        keep |= missing


def _is_restored(path: Path, design: ast.Module, update: ast.Module) -> bool:
    """Return whether the source again has a part that it lacked, in the form of the design."""
    current, imported = node_at(design, path), node_at(update, path)
    return current is not None and imported is not None and is_same(current, imported)


def _line(tree: ast.Module, place: str, conflict: OpenConflict) -> int:
    return line_of(tree, conflict.path) if conflict.path else line_of_target(tree, place)


def _are_same(left: tuple[Statement, ...], right: tuple[Statement, ...]) -> bool:
    return len(left) == len(right) and all(
        each.is_same(other) for each, other in zip(left, right, strict=True)
    )


def _formatted(items: list[Item], formatted: Formatter) -> dict[int, str]:
    """Return new texts of statements by index, formatted if the author's text is formatted."""
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
        design: SourceText,
        update: SourceText,
        unread: Collection[str],
        keep: Collection[Path],
    ) -> None:
        self._design = design
        self.has_decision_edits = False
        """Whether the decisions changed a statement after the merge."""
        self._base_statements, self._new_statements = _assigned(base), _assigned(update)
        self._imports = imports_in(base), imports_in(update)
        self.clauses = ClauseMerge(
            unread=unread,
            keep=keep,
            base_methods=methods_in(base.tree),
            design_methods=methods_in(design.tree),
            new_methods=methods_in(update.tree),
        )

    def items(self, decisions: Decisions) -> list[Item]:
        """Return the statements of the merged module, in order."""
        design_statements = _assigned(self._design)
        items = [item for each in self._design.statements if (item := self._item(each)) is not None]
        for name, statement in self._base_statements.items():
            now = self._new_statements.get(name)
            if name not in design_statements and now is not None and not statement.is_same(now):
                self._change("declined", name, now.text)
        previous: list[str] = []
        for name, statement in self._new_statements.items():
            if name not in design_statements and name not in self._base_statements:
                items.insert(place_of(items, name, previous), Item(node=statement.node, text=statement.text))
                self._change("added", name)
            previous.append(name)
        decided_items = decisions.apply_decisions(items)
        self.has_decision_edits = any(
            each is not item for each, item in zip(decided_items, items, strict=True)
        )
        items = in_order(decided_items, self.is_unedited)
        return with_imports(items, *self._imports)

    def _item(self, statement: Statement) -> Item | None:
        """Return the merged statement for one of the author; None if it is removed."""
        name = variable_of(statement.node)
        same = Item(node=statement.node, statement=statement, text=statement.text)
        base, update = self._base_statements.get(name), self._new_statements.get(name)
        if not name or (base is None and update is None):
            return same
        if base is None or update is None:
            if update is not None and not statement.is_same(update):
                self._change("conflict", name, update.text)
            return None if base is not None and self._is_removed(statement, name) else same
        if base.is_same(update) or statement.is_same(update):
            return same
        pieces = (_value(base), _value(statement), _value(update))
        retained = self.clauses.retained
        node, text = self.clauses.expression(*pieces, (("$", name),))
        if base.text == statement.text and retained == self.clauses.retained:
            return replace(same, node=update.node, text=update.text)
        start, end = (offset - statement.start for offset in self._design.span(pieces[1].node))
        merged = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=node)
        merged_text = statement.text[:start] + text + statement.text[end:]
        if isinstance(statement.node, ast.AnnAssign):
            annotated = statement.node
            return replace(
                same,
                text=merged_text,
                node=ast.AnnAssign(annotated.target, annotated.annotation, node, annotated.simple),
            )
        return replace(same, node=merged, text=merged_text)

    def is_unedited(self, design: Statement) -> bool:
        """Return whether a statement is from the last import, without edits or comments."""
        base = self._base_statements.get(variable_of(design.node))
        is_from_source = base is not None and base.is_same(design)
        return is_from_source and design.is_alone and not design.has_comment(design.start, design.end)

    def _is_removed(self, design: Statement, name: str) -> bool:
        path = (("$", name),)
        if self.is_unedited(design) and path not in self.clauses.keep:
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
    """Return the assignments of a module by variable, in order; for repeated variables, the last one."""
    return {name: each for each in source.statements if (name := variable_of(each.node))}


def _renamed(base: SourceText, design: SourceText) -> dict[str, str]:
    """Return the author's names for variables of the import that were renamed."""
    before, here = _assigned(base), _assigned(design)
    named = {label: name for name, each in here.items() if name not in before and (label := _identity(each))}
    return {
        name: named[label]
        for name, each in before.items()
        if name not in here and (label := _identity(each)) in named
    }


def _identity(statement: Statement) -> str:
    """Return the clause of a variable and its name, for example of a service."""
    node = _value(statement).node
    clause, name = clause_of(node), name_in(node)
    return f"{clause} {name}" if clause and name else ""


def _with_names(text: str, renamed: dict[str, str]) -> str:
    """Return a module with renamed variables."""
    if not renamed:
        return text
    source = SourceText(text)
    nodes = [each for each in ast.walk(source.tree) if isinstance(each, ast.Name) and each.id in renamed]
    for node in sorted(nodes, key=lambda each: (each.lineno, each.col_offset), reverse=True):
        start, end = source.span(node)
        text = text[:start] + renamed[node.id] + text[end:]
    return text


def _missing(items: list[Item], deleted: list[Path]) -> Iterator[Path]:
    """Yield the deleted parts that remaining parts refer to."""
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
