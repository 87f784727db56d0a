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
    before: Methods = field(default_factory=Methods)
    """Methods that tools call in the last import, in the author's design and in the new import."""
    here: Methods = field(default_factory=Methods)
    there: Methods = field(default_factory=Methods)
    changes: list[DesignChange] = field(default_factory=list)
    deleted: list[Path] = field(default_factory=list)
    retained: int = 0
    """Number of parts that stayed although they would have been deleted."""

    def expression(self, base: Piece, ours: Piece, theirs: Piece, path: Path) -> MergedNode:
        """Return the merged expression."""
        if base.is_same(theirs) or ours.is_same(theirs):
            return ours.node, ours.text
        is_untouched = base.is_same(ours)
        new = theirs.text_at(ours.statement.line_indent(ours.node))
        inner = self._inner(base, ours, theirs, path)
        if is_untouched and base.text == ours.text:
            node, count = (inner[0], inner[2]) if inner else (theirs.node, 0)
            if inner and count:
                return node, inner[1]
            if inner is None:
                self.change("changed", path)
            return theirs.node, new
        if inner is not None:
            return inner[0], inner[1]
        if is_untouched and not ours.is_commented:
            self.change("changed", path)
            return theirs.node, new
        self.change("conflict", path, theirs.text)
        return ours.node, ours.text

    def _inner(self, base: Piece, ours: Piece, theirs: Piece, path: Path) -> tuple[ast.expr, str, int] | None:
        """Return the merged parts of an expression, and the number of parts that were retained.

        None means that it has no parts that can be merged.
        """
        retained, changes, deleted = self.retained, len(self.changes), len(self.deleted)
        pieces = base, ours, theirs
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

    def _call(self, base: Piece, ours: Piece, theirs: Piece, clause: str, path: Path) -> MergedNode:
        arguments, new = ours.chunks(), theirs.chunks()
        before = labelled(clause, base.chunks().chunks)
        here, there = labelled(clause, arguments.chunks), labelled(clause, new.chunks)
        nodes = [{key: chunk.node for key, chunk in each.items()} for each in (before, here, there)]
        own = own_matches(nodes[0], nodes[1], self.before, self.here)
        source = source_matches(nodes[0], nodes[2], self.before, self.there)
        origin = {mine: key for key, mine in own.items()}
        left: Labelled = {}
        for key, chunk in here.items():
            inside = (*path, key)
            key_before = origin.get(key)
            if key_before is None:
                if key in there and key not in source.values() and not is_same(chunk.node, there[key].node):
                    self.change("conflict", inside, there[key].value)
            elif key_before not in source:
                if self._removes(before[key_before], chunk, inside):
                    continue
            else:
                pieces = Piece(base.statement, before[key_before].node), Piece(ours.statement, chunk.node)
                node, text = self.expression(
                    *pieces, Piece(theirs.statement, there[source[key_before]].node), inside
                )
                chunk = replace(chunk, node=node, value=text)
            left[key] = chunk
        for key in before:
            if key in source and key not in own and not is_same(before[key].node, there[source[key]].node):
                self.change("declined", (*path, key), there[source[key]].value)
        is_changed = len(left) < len(here)
        paired = {their: own.get(key) for key, their in source.items()}
        for key, chunk in there.items():
            if key in paired or (key in here and key not in origin):
                continue
            if key in here and origin[key] not in source:
                self.change("conflict", (*path, key), chunk.value)
                continue
            self.change("added", (*path, key))
            moved = _moved(chunk, theirs, ours, arguments)
            _insert(left, (*key, "new") if key in left else key, key, moved, there, paired, clause)
            is_changed = True
        return _composed(ours.node, clause, arguments, left, is_changed=is_changed)

    def _removes(self, base: Chunk, ours: Chunk, path: Path) -> bool:
        """Return whether to remove a part that the source no longer has.

        Edited, commented or used ones stay.
        """
        name = _called(base.node)
        if path[-1][0] in ("Tool", "Method") and any(each in self.unread for each in name):
            self.retained += 1
            return False
        if is_same(base.node, ours.node) and not ours.is_commented and path not in self.keep:
            self.change("removed", path)
            self.deleted.append(path)
            return True
        self.retained += 1
        self.change("gone", path)
        return False

    def _items(self, base: Piece, ours: Piece, theirs: Piece, path: Path) -> MergedNode:
        """Return a tuple or a list with the items that the source added, and without those that it removed.

        Raises:
            _MisplacedError: The author and the source changed the same item, or it has comments.
        """
        text = ours.text
        if ours.is_commented or text[:1] not in ("(", "["):
            raise _MisplacedError
        before, here, there = (_by_value(piece) for piece in (base, ours, theirs))
        left: dict[str, Piece] = {}
        for value, item in here.items():
            was, now = before.get(value), there.get(value)
            if was is None or now is None:
                left |= {value: item} if was is None else {}
            elif is_same(item.node, was.node) or is_same(item.node, now.node):
                left[value] = now
            elif is_same(was.node, now.node):
                left[value] = item
            else:
                raise _MisplacedError
        order = list(left)
        at = 0
        for value, item in there.items():
            if value in left:
                at = order.index(value) + 1
            elif value not in before:
                left[value] = item
                order.insert(at, value)
                at += 1
        self.change("changed", path)
        indent = ours.statement.line_indent(ours.node)
        nodes = [left[value].node for value in order]
        inside = ", ".join(left[value].text_at(indent) for value in order)
        if isinstance(ours.node, ast.List):
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


def _moved(chunk: Chunk, theirs: Piece, ours: Piece, arguments: SourceArguments) -> Chunk:
    """Return an argument of the new import, formatted for its place in the author's call."""
    indent = arguments.indent
    piece = Piece(theirs.statement, chunk.node)
    value = piece.text_at(ours.statement.line_indent(ours.node) if indent is None else indent)
    return replace(
        chunk, lead=" " if indent is None else f"\n{indent}", value=value, after="", comma=",", trail=""
    )


def _insert(
    left: Labelled,
    new_key: Key,
    key: Key,
    chunk: Chunk,
    there: Labelled,
    paired: dict[Key, Key | None],
    clause: str,
) -> None:
    """Insert an argument after its predecessor in the source; keywords come after all others."""
    keys = list(left)
    at = 0
    for each in there:
        if each == key:
            break
        here = paired.get(each, each)
        if here in left:
            at = keys.index(here) + 1
    positional = sum(each.keyword is None for each in left.values())
    at = max(at, positional) if chunk.keyword is not None else min(at, positional)
    items = list(left.items())
    items.insert(at, (new_key, chunk))
    left.clear()
    left.update(items)


def _composed(
    node: ast.expr, clause: str, arguments: SourceArguments, left: Labelled, *, is_changed: bool
) -> MergedNode:
    """Return a call with these arguments.

    Raises:
        _MisplacedError: A positional argument is not at the position of its parameter.
    """
    assert isinstance(node, ast.Call)
    for index, (key, chunk) in enumerate(left.items()):
        if chunk.keyword is None and slot_index(clause, key) not in (None, index):
            raise _MisplacedError
    chunks = list(left.values())
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
