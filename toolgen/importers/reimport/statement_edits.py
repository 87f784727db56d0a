"""Edits of single arguments in the calls of a text, which leave the other text unchanged."""

from __future__ import annotations

import ast

from .source_text import Chunk, SourceText, Statement


class StatementEdits:
    """The edits of one text, which are applied together."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._edits: list[tuple[int, int, str]] = []
        self._removed: set[int] = set()

    @property
    def is_changed(self) -> bool:
        return bool(self._edits)

    def text(self) -> str:
        """Return the text with all edits."""
        text = self.source.text
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def parsed(self) -> ast.stmt:
        """Return the statement after all edits."""
        return SourceText(self.text()).tree.body[0]

    def append(self, call: ast.Call, texts: list[str]) -> None:
        """Add positional arguments after the existing ones of a call."""
        chunks = self._chunks(call)
        left = [
            end for chunk, _, end in chunks if chunk.keyword is None and id(chunk.node) not in self._removed
        ]
        new = ", ".join(texts)
        if left:
            self._edits.append((left[-1], left[-1], f", {new}"))
        else:
            start = self._head_end(call)
            self._edits.append((start, start, f"{new}, " if chunks else new))

    def set_keyword(self, call: ast.Call, name: str, value: str) -> None:
        """Set the value of a keyword argument of a call."""
        chunks = self._chunks(call)
        for chunk, _, _ in chunks:
            if chunk.keyword == name:
                start, end = self.source.span(chunk.node)
                self._edits.append((start, end, value))
                return
        left = [end for chunk, _, end in chunks if id(chunk.node) not in self._removed]
        at = left[-1] if left else self._head_end(call)
        self._edits.append((at, at, f", {name}={value}" if left else f"{name}={value}"))

    def remove(self, call: ast.Call, argument: ast.expr) -> None:
        """Remove an argument of a call with its comma and surrounding spaces; comments stay."""
        chunks = self._chunks(call)
        at = next(at for at, (chunk, _, _) in enumerate(chunks) if chunk.node is argument)
        chunk, start, end = chunks[at]
        before = chunks[at - 1] if at and id(chunks[at - 1][0].node) not in self._removed else None
        if not chunk.lead.strip(" "):
            start -= len(chunk.lead)
        if not chunk.comma and before is not None and not before[0].trail and "#" not in chunk.lead:
            start = before[2]
        end += len(chunk.comma)
        if not at and len(chunks) > 1 and not chunk.trail and not chunks[1][0].lead.strip(" "):
            end += len(chunks[1][0].lead)
        self._removed.add(id(argument))
        self._edits.append((start, end, ""))

    def _head_end(self, call: ast.Call) -> int:
        return self.source.span(call)[0] + len(self._statement(call).arguments(call).head)

    def _chunks(self, call: ast.Call) -> list[tuple[Chunk, int, int]]:
        """Return the arguments of a call with the offsets of their contents."""
        arguments = self._statement(call).arguments(call)
        at = self.source.span(call)[0] + len(arguments.head)
        placed: list[tuple[Chunk, int, int]] = []
        for chunk in arguments.chunks:
            start = at + len(chunk.lead)
            placed.append((chunk, start, start + len(f"{chunk.name}{chunk.value}{chunk.after}")))
            at += len(chunk.text)
        return placed

    def _statement(self, node: ast.expr) -> Statement:
        start, _ = self.source.span(node)
        return next(each for each in self.source.statements if each.start <= start < each.end)
