"""Merge of three versions of an expression: the author's edits stay, and the source changes the rest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from toolgen.contract.record import frozen_record

from .matching import (
    Key,
    Labelled,
    labelled,
    own_matches,
    slot_index,
    source_matches,
)
from .source_text import Chunk, SourceArguments, Statement, is_same
from .targets import Methods, clause_of, meta_name, name_in

Path: TypeAlias = tuple[Key, ...]
"""Keys from a statement of the module to an expression in it."""
ChangeKind: TypeAlias = Literal["added", "changed", "removed", "conflict", "gone", "declined"]
_LONGEST_SHOWN: Final = 200
"""Maximum number of characters of the source's new text."""


@frozen_record
class DesignChange:
    """A change of the source, applied to the design or not."""

    kind: ChangeKind
    """`conflict`: the author edited a part that the source changed; `gone`: the source no longer has a part
    that is edited or in use; `declined`: the source changed a part that the author has removed."""
    path: Path
    """Path of the clause in the design."""
    now: str = ""
    """Text that the source has now; only set for a conflict."""
    line: int = 0
    """Line of the clause or its parent in the merged design; 0 if neither exists."""
    line_before: int = 0
    """Line in the design before the merge."""


@frozen_record(kw_only=False)
class Piece:
    """An expression, and the statement that contains it."""

    statement: Statement
    node: ast.expr

    @property
    def text(self) -> str:
        return self.statement.text_of(self.node)

    def is_same(self, other: Piece) -> bool:
        return self.text == other.text or is_same(self.node, other.node)

    @property
    def is_commented(self) -> bool:
        return self.statement.has_comment(*self.statement.source.span(self.node))

    def text_at(self, indent: str) -> str:
        """Return the text, re-indented for a line with this indent."""
        first, *others = self.text.split("\n")
        old = self.statement.line_indent(self.node)
        moved = [indent + line[len(old) :] if line.startswith(old) else line for line in others]
        return "\n".join([first, *moved])

    def chunks(self) -> SourceArguments:
        assert isinstance(self.node, ast.Call)
        return self.statement.arguments(self.node)


MergedNode: TypeAlias = "tuple[ast.expr, str]"
"""An expression after the merge, and its text."""


class _MisplacedError(Exception):
    """The remaining arguments of a clause cannot be at their required positions."""


@dataclass(slots=True)
class ClauseMerge:
    """Merges expressions and records the changes."""

    unread: Collection[str] = ()
    """Names of tools in the source that could not be read."""
    keep: Collection[Path] = ()
    """Paths that stay although the source no longer has them, because remaining parts refer to them."""
    base_methods: Methods = field(default_factory=Methods)
    """Methods that tools call: in the last import, in the author's design, and in the new import."""
    design_methods: Methods = field(default_factory=Methods)
    new_methods: Methods = field(default_factory=Methods)
    changes: list[DesignChange] = field(default_factory=list)
    deleted: list[Path] = field(default_factory=list)
    retained: int = 0
    """Number of parts that stayed although they would have been deleted."""

    def expression(self, base: Piece, design: Piece, update: Piece, path: Path) -> MergedNode:
        """Return the merged expression."""
        if base.is_same(update) or design.is_same(update):
            return design.node, design.text
        is_untouched = base.is_same(design)
        new = update.text_at(design.statement.line_indent(design.node))
        inner = self._inner(base, design, update, path)
        if is_untouched and base.text == design.text:
            node, count = (inner[0], inner[2]) if inner else (update.node, 0)
            if inner and count:
                return node, inner[1]
            if inner is None:
                self.change("changed", path)
            return update.node, new
        if inner is not None:
            return inner[0], inner[1]
        if is_untouched and not design.is_commented:
            self.change("changed", path)
            return update.node, new
        self.change("conflict", path, update.text)
        return design.node, design.text

    def _inner(
        self, base: Piece, design: Piece, update: Piece, path: Path
    ) -> tuple[ast.expr, str, int] | None:
        """Return the merged parts of an expression, and the number of parts that were retained.

        None means that it has no parts that can be merged.
        """
        retained, changes, deleted = self.retained, len(self.changes), len(self.deleted)
        pieces = base, design, update
        clauses = {clause_of(piece.node) for piece in pieces}
        try:
            if len(clauses) == 1 and "" not in clauses:
                node, text = self._call(*pieces, clauses.pop(), path)
            elif all(isinstance(piece.node, ast.Tuple | ast.List) for piece in pieces):
                node, text = self._items(*pieces, path)
            else:
                return None
        except _MisplacedError:
            self.retained = retained
            del self.changes[changes:], self.deleted[deleted:]
            return None
        return node, text, self.retained - retained

    def _call(self, base: Piece, design: Piece, update: Piece, clause: str, path: Path) -> MergedNode:
        arguments, new_arguments = design.chunks(), update.chunks()
        old = labelled(clause, base.chunks().chunks)
        current, new = labelled(clause, arguments.chunks), labelled(clause, new_arguments.chunks)
        nodes = [{key: chunk.node for key, chunk in each.items()} for each in (old, current, new)]
        own = own_matches(nodes[0], nodes[1], self.base_methods, self.design_methods)
        source = source_matches(nodes[0], nodes[2], self.base_methods, self.new_methods)
        origin = {own_key: key for key, own_key in own.items()}
        merged: Labelled = {}
        for key, chunk in current.items():
            inside = (*path, key)
            key_before = origin.get(key)
            if key_before is None:
                if key in new and key not in source.values() and not is_same(chunk.node, new[key].node):
                    self.change("conflict", inside, new[key].value)
            elif key_before not in source:
                if self._removes(old[key_before], chunk, inside):
                    continue
            else:
                pieces = Piece(base.statement, old[key_before].node), Piece(design.statement, chunk.node)
                node, text = self.expression(
                    *pieces, Piece(update.statement, new[source[key_before]].node), inside
                )
                chunk = replace(chunk, node=node, value=text)
            merged[key] = chunk
        for key in old:
            if key in source and key not in own and not is_same(old[key].node, new[source[key]].node):
                self.change("declined", (*path, key), new[source[key]].value)
        is_changed = len(merged) < len(current)
        paired = {their: own.get(key) for key, their in source.items()}
        for key, chunk in new.items():
            if key in paired or (key in current and key not in origin):
                continue
            if key in current and origin[key] not in source:
                self.change("conflict", (*path, key), chunk.value)
                continue
            self.change("added", (*path, key))
            moved = _moved(chunk, update, design, arguments)
            _insert(merged, (*key, "new") if key in merged else key, key, moved, new, paired, clause)
            is_changed = True
        return _composed(design.node, clause, arguments, merged, is_changed=is_changed)

    def _removes(self, base: Chunk, design_chunk: Chunk, path: Path) -> bool:
        """Return whether to remove a part that the source no longer has.

        Edited, commented or used ones stay.
        """
        name = _called(base.node)
        if path[-1][0] in ("Tool", "Method") and any(each in self.unread for each in name):
            self.retained += 1
            return False
        if is_same(base.node, design_chunk.node) and not design_chunk.is_commented and path not in self.keep:
            self.change("removed", path)
            self.deleted.append(path)
            return True
        self.retained += 1
        self.change("gone", path)
        return False

    def _items(self, base: Piece, design: Piece, update: Piece, path: Path) -> MergedNode:
        """Return a tuple or a list with the items that the source added, and without those that it removed.

        Raises:
            _MisplacedError: The author and the source changed the same item, or it has comments.
        """
        text = design.text
        if design.is_commented or text[:1] not in ("(", "["):
            raise _MisplacedError
        base_items, design_items, new_items = (_by_value(piece) for piece in (base, design, update))
        merged_items: dict[str, Piece] = {}
        for value, item in design_items.items():
            was, now = base_items.get(value), new_items.get(value)
            if was is None or now is None:
                merged_items |= {value: item} if was is None else {}
            elif is_same(item.node, was.node) or is_same(item.node, now.node):
                merged_items[value] = now
            elif is_same(was.node, now.node):
                merged_items[value] = item
            else:
                raise _MisplacedError
        order = list(merged_items)
        at = 0
        for value, item in new_items.items():
            if value in merged_items:
                at = order.index(value) + 1
            elif value not in base_items:
                merged_items[value] = item
                order.insert(at, value)
                at += 1
        self.change("changed", path)
        indent = design.statement.line_indent(design.node)
        nodes = [merged_items[value].node for value in order]
        inside = ", ".join(merged_items[value].text_at(indent) for value in order)
        if isinstance(design.node, ast.List):
            return ast.List(elts=nodes, ctx=ast.Load()), f"[{inside}]"
        return ast.Tuple(elts=nodes, ctx=ast.Load()), f"({inside}{',' if len(nodes) == 1 else ''})"

    def change(self, kind: ChangeKind, path: Path, now: str = "") -> None:
        shown = " ".join(now.split())
        cut = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
        self.changes.append(DesignChange(kind=kind, path=path, now=cut))


def _by_value(piece: Piece) -> dict[str, Piece]:
    """Return the items of a tuple or list by their value; for `Value` clauses, by the value in them."""
    assert isinstance(piece.node, ast.Tuple | ast.List)
    return {
        ast.dump(
            item.args[0] if isinstance(item, ast.Call) and clause_of(item) == "Value" and item.args else item
        ): (Piece(piece.statement, item))
        for item in piece.node.elts
    }


def _called(node: ast.AST) -> Iterable[str]:
    """Return the names of a tool in the design and in its source."""
    return name_in(node), *filter(None, [meta_name(node)])


def _moved(chunk: Chunk, update: Piece, design: Piece, arguments: SourceArguments) -> Chunk:
    """Return an argument of the new import, formatted for its place in the author's call."""
    indent = arguments.indent
    piece = Piece(update.statement, chunk.node)
    value = piece.text_at(design.statement.line_indent(design.node) if indent is None else indent)
    return replace(
        chunk, lead=" " if indent is None else f"\n{indent}", value=value, after="", comma=",", trail=""
    )


def _insert(
    merged_parts: Labelled,
    new_key: Key,
    key: Key,
    chunk: Chunk,
    new_parts: Labelled,
    paired: dict[Key, Key | None],
    clause: str,
) -> None:
    """Insert an argument after its predecessor in the source; keywords come after all others."""
    keys = list(merged_parts)
    at = 0
    for each in new_parts:
        if each == key:
            break
        design_key = paired.get(each, each)
        if design_key in merged_parts:
            at = keys.index(design_key) + 1
    positional = sum(each.keyword is None for each in merged_parts.values())
    at = max(at, positional) if chunk.keyword is not None else min(at, positional)
    items = list(merged_parts.items())
    items.insert(at, (new_key, chunk))
    merged_parts.clear()
    merged_parts.update(items)


def _composed(
    node: ast.expr, clause: str, arguments: SourceArguments, merged_parts: Labelled, *, is_changed: bool
) -> MergedNode:
    """Return a call with these arguments.

    Raises:
        _MisplacedError: A positional argument is not at the position of its parameter.
    """
    assert isinstance(node, ast.Call)
    for index, (key, chunk) in enumerate(merged_parts.items()):
        if chunk.keyword is None and slot_index(clause, key) not in (None, index):
            raise _MisplacedError
    chunks = list(merged_parts.values())
    if is_changed and chunks:
        is_flat = arguments.indent is None
        chunks = [replace(chunk, comma=chunk.comma or ",") for chunk in chunks]
        if is_flat:
            first, last = chunks[0], chunks[-1]
            chunks[0] = replace(first, lead="" if not first.lead.strip() else first.lead)
            chunks[-1] = replace(chunks[-1], comma="" if not last.trail else last.comma)
    for index, (before, after) in enumerate(pairwise(chunks)):
        if before.trail and not after.lead.startswith("\n"):
            chunks[index + 1] = replace(after, lead=f"\n{after.lead}")
    merged = ast.Call(
        func=node.func,
        args=[chunk.node for chunk in chunks if chunk.keyword is None],
        keywords=[
            ast.keyword(arg=None if chunk.keyword == "**" else chunk.keyword, value=chunk.node)
            for chunk in chunks
            if chunk.keyword is not None
        ],
    )
    tail = arguments.tail if chunks or "#" in arguments.tail else ")"
    if chunks and chunks[-1].trail and not tail.startswith("\n"):
        tail = f"\n{tail}"
    return merged, arguments.head + "".join(chunk.text for chunk in chunks) + tail
