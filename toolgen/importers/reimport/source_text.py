"""A design module as text and syntax tree: its statements, and the arguments of its calls.

All offsets count characters of `SourceText.text`, whose lines end with a line feed.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record

Span: TypeAlias = "tuple[int, int]"
"""Start and end offset of a text."""
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_TRIVIA: Final = frozenset([tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE])


class UnreadableDesignError(Exception):
    """The design cannot be edited in place; the text has the reason."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def is_same(left: ast.AST | list[ast.stmt], right: ast.AST | list[ast.stmt]) -> bool:
    """Return whether two trees are equal, regardless of their layout."""
    trees = (each if isinstance(each, list) else [each] for each in (left, right))
    one, other = ([*map(ast.dump, each)] for each in trees)
    return one == other


@frozen_record(kw_only=False)
class Chunk:
    """An argument of a call; the texts of all chunks form the content of the parentheses."""

    node: ast.expr
    """Value of the argument."""
    keyword: str | None
    """Name of a keyword argument, `**` for a mapping; None for a positional one."""
    lead: str
    """White space and comments before it."""
    name: str
    """Text before the value, for example `title=`, `**` or an opening parenthesis."""
    value: str
    after: str
    """Text between the value and the comma."""
    comma: str
    trail: str
    """Comment on the line of the comma."""
    is_commented: bool = False
    """Whether a comment is before it, in it or on the line of its comma."""

    @property
    def text(self) -> str:
        return f"{self.lead}{self.name}{self.value}{self.after}{self.comma}{self.trail}"


@frozen_record(kw_only=False)
class SourceArguments:
    """The arguments of a call."""

    head: str
    """Call up to and including its opening parenthesis."""
    chunks: tuple[Chunk, ...]
    tail: str
    """White space, comments and the closing parenthesis."""

    @property
    def indent(self) -> str | None:
        """Indent of arguments on separate lines; None if they are on the line of the call."""
        lead = self.chunks[0].lead if self.chunks else ""
        return lead.rpartition("\n")[2] if "\n" in lead else None


class SourceText:
    """A module and its syntax tree."""

    def __init__(self, text: str) -> None:
        """Parse a module.

        Raises:
            UnreadableDesignError: The module does not parse, or its lines do not end with line feeds.
        """
        if "\r" in text:
            raise UnreadableDesignError("has mixed line endings")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the author's literals
                self.tree = ast.parse(text)
        except SyntaxError as error:
            raise UnreadableDesignError(f"does not parse: {error.msg}", error.lineno or 1) from error
        except (ValueError, RecursionError, MemoryError) as error:
            raise UnreadableDesignError(f"does not parse: {error}") from error
        self.text = text
        self._lines = text.split("\n")
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(Statement(self, node) for node in self.tree.body)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        return self.offset(node.lineno, node.col_offset), self.offset(
            node.end_lineno or node.lineno, node.end_col_offset or 0
        )

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a syntax tree position: a line, and a column in UTF-8 bytes."""
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[line - 1] + column

    def line_end(self, offset: int) -> int:
        """Return the offset of the line feed at the end of a line, or the end of the text."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end


class Statement:
    """A statement in a module's own scope."""

    def __init__(self, source: SourceText, node: ast.stmt) -> None:
        self.source = source
        self.node = node
        self.start, self.end = source.span(node)

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def is_same(self, other: Statement) -> bool:
        return self.text == other.text or is_same(self.node, other.node)

    @cached_property
    def is_alone(self) -> bool:
        """Whether its lines contain no other statement or comment, and no comment is directly above it."""
        source = self.source
        start = source.text.rfind("\n", 0, self.start) + 1
        above = source.text[source.text.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip()
        rest = source.text[self.end : source.line_end(self.end)].strip()
        return start == self.start and not rest and not above.startswith("#")

    def has_comment(self, start: int, end: int) -> bool:
        """Return whether a comment starts between two offsets of the module."""
        index = bisect_left(self._comments, start)
        return index < len(self._comments) and self._comments[index] < end

    @cached_property
    def _comments(self) -> list[int]:
        return [start for kind, _, start, _ in self._tokens if kind == tokenize.COMMENT]

    def text_of(self, node: ast.expr) -> str:
        return self.source.text_of(node)

    def line_indent(self, node: ast.expr) -> str:
        """Return the indentation of the line on which a node starts."""
        line = self.source._lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def arguments(self, call: ast.Call) -> SourceArguments:
        """Return the arguments of a call in this statement, in order."""
        text, tokens = self.source.text, self._tokens
        start, end = self.source.span(call)
        _, end_of_function = self.source.span(call.func)
        index = bisect_left(self._starts, end_of_function)
        while tokens[index][1] != "(":
            index += 1
        opened = tokens[index][3]
        nodes = arguments_in(call)
        spans = [self.source.span(node) for _, node in nodes]
        chunks: list[Chunk] = []
        lead_start = opened
        parts = self._parts(index + 1, [stop for _, stop in spans])
        for (keyword, node), (value_start, value_end), (first, last, comma) in zip(
            nodes, spans, parts, strict=True
        ):
            content_start, content_end = tokens[first][2], tokens[last][3]
            comma_end = tokens[comma][3] if comma is not None else content_end
            trail_end = self._trail_end(comma + 1 if comma is not None else last + 1, comma_end)
            chunks.append(
                Chunk(
                    node=node,
                    keyword=keyword,
                    lead=text[lead_start:content_start],
                    name=text[content_start:value_start],
                    value=text[value_start:value_end],
                    after=text[value_end:content_end],
                    comma=text[content_end:comma_end],
                    trail=text[comma_end:trail_end],
                    is_commented=self.has_comment(lead_start, trail_end),
                )
            )
            lead_start = trail_end
        return SourceArguments(head=text[start:opened], chunks=tuple(chunks), tail=text[lead_start:end])

    def _parts(self, index: int, ends: list[int]) -> Iterator[tuple[int, int, int | None]]:
        """Yield first token, last token and comma of each argument; the values end at `ends`."""
        tokens, depth = self._tokens, 0
        left = iter(ends)
        end = next(left, 0)
        first: int | None = None
        last = index
        while True:
            kind, text, start, _ = tokens[index]
            if kind in _TRIVIA:
                pass
            elif depth == 0 and start >= end and (text == "," or text in _CLOSING):
                if first is not None:
                    end = next(left, 0)
                    yield first, last, index if text == "," else None
                if text != ",":
                    return
                first = None
            else:
                depth += (text in _OPENING) - (text in _CLOSING)
                first = index if first is None else first
                last = index
            index += 1

    def _trail_end(self, index: int, end: int) -> int:
        """Return the end of a comment on the same line; `end` if there is none."""
        kind, _, start, stop = self._tokens[index]
        is_same_line = "\n" not in self.source.text[end:start]
        return stop if kind == tokenize.COMMENT and is_same_line else end

    @cached_property
    def _starts(self) -> list[int]:
        return [start for _, _, start, _ in self._tokens]

    @cached_property
    def _tokens(self) -> list[tuple[int, str, int, int]]:
        """Kind, text and span of each token, as offsets in the module."""
        text = self.text
        starts = [self.start]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return [
            (
                each.type,
                each.string,
                starts[each.start[0] - 1] + each.start[1],
                starts[each.end[0] - 1] + each.end[1],
            )
            for each in tokenize.generate_tokens(io.StringIO(text).readline)
            if each.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        ]


def arguments_in(call: ast.Call) -> list[tuple[str | None, ast.expr]]:
    """Return keyword and value of each argument, in the order of the text."""
    arguments: list[tuple[str | None, ast.expr]] = [(None, node) for node in call.args]
    arguments += [(each.arg if each.arg is not None else "**", each.value) for each in call.keywords]
    return sorted(arguments, key=lambda each: (each[1].lineno, each[1].col_offset))
