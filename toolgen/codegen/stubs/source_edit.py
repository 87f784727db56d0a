"""Adds lines to an author's Python file; the existing bytes stay unchanged.

An insertion is accepted only if the new syntax tree, without the added methods, equals the old one.
"""

from __future__ import annotations

import ast
import codecs
import re
import tokenize
import warnings
from collections.abc import Mapping, Sequence

from toolgen.contract.record import frozen_record

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line with its end, as Python counts lines: form feeds and Unicode separators do not end a line."""


class UnreadableSourceError(Exception):
    """The file is not Python source that this interpreter can parse."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@frozen_record
class StubSource:
    data: bytes
    tree: ast.Module
    codec: str
    start: int
    """Length of the byte order mark."""
    lines: tuple[str, ...]
    """Lines with their ends."""


@frozen_record
class Insertion:
    offset: int
    """Byte offset of the insertion."""
    line: int
    """Number of the first new line, without other insertions."""
    count: int
    """Number of new lines."""
    data: bytes


@frozen_record
class ClassEnd:
    """The end of a class, and the layout of its methods."""

    node: ast.ClassDef
    line: int
    """Number of the last line; counted from 1."""
    indent: str
    """Indent of a method."""
    step: str
    """Additional indent of a method body."""
    newline: str


def read_source(data: bytes) -> StubSource:
    """Return the parsed file.

    Raises:
        UnreadableSourceError: it does not parse, or its bytes are not in its declared encoding.
    """
    try:
        tree = _parse(data)
        start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        codec = _declared_codec(data[start:])
        text = data[start:].decode(codec)
    except SyntaxError as error:
        raise UnreadableSourceError(error.lineno or 1, error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableSourceError(1, str(error) or "it is nested too deeply") from error
    return StubSource(data=data, tree=tree, codec=codec, start=start, lines=tuple(_LINE.findall(text)))


def class_end(source: StubSource, node: ast.ClassDef) -> ClassEnd | None:
    """Return the end of the class with its trailing comments; None if the body is on the header line."""
    first, last = node.body[0], node.body[-1]
    before = _before(source, first)
    indent, outer = _indent(before), _indent(_before(source, node))
    if before.strip(" \t\f") or not indent or last.end_lineno is None:
        return None
    line = last.end_lineno
    for number, text in enumerate(source.lines[line:], line + 1):
        if text.startswith(indent) and text.lstrip(" \t\f").startswith("#"):
            line = number
        elif text.strip():
            break
    return ClassEnd(
        node=node,
        line=line,
        indent=indent,
        step=indent.removeprefix(outer) if outer != indent else indent,
        newline=re.search(r"[\r\n]*\Z", source.lines[node.lineno - 1])[0],  # type: ignore[index]
    )


def append(source: StubSource, end: ClassEnd, methods: Mapping[str, Sequence[str]]) -> Insertion | None:
    """Return the insertion of methods (lines by name) at the end of a class; None if it is not safe."""
    lines = [line for method in methods.values() for line in ("", *method)]
    before = "".join(source.lines[: end.line])
    text = end.newline.join(lines)
    text = text + end.newline if before.endswith(("\r", "\n")) else end.newline + text
    insertion = Insertion(
        offset=source.start + len(before.encode(source.codec)),
        line=end.line + 1,
        count=len(lines),
        data=text.encode(source.codec, "backslashreplace"),  # in literals only: names are ASCII
    )
    try:
        tree = _parse(apply(source.data, [insertion]))
    except (SyntaxError, ValueError):
        return None
    return insertion if _adds_only(source.tree, tree, end, insertion, list(methods)) else None


def apply(data: bytes, insertions: Sequence[Insertion]) -> bytes:
    """Return the file with the insertions, which are in order; offsets refer to the original file."""
    for insertion in reversed(insertions):
        data = data[: insertion.offset] + insertion.data + data[insertion.offset :]
    return data


def _adds_only(
    old: ast.Module, new: ast.Module, end: ClassEnd, insertion: Insertion, methods: Sequence[str]
) -> bool:
    """Return whether the methods are the last of the class, and the tree without them equals the old one."""
    added = range(insertion.line, insertion.line + insertion.count)
    for node in ast.walk(new):
        if isinstance(node, ast.ClassDef) and node.lineno == end.node.lineno:
            names = [child.name for child in node.body if isinstance(child, ast.AsyncFunctionDef)]
            node.body = [child for child in node.body if child.lineno not in added]
            return names[-len(methods) :] == methods and ast.dump(old) == ast.dump(new)
    return False


def _declared_codec(data: bytes) -> str:
    """Return the encoding that the first two lines declare (PEP 263), even if they have non-ASCII bytes."""
    first = re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2]
    lines = (re.sub(rb"[^ -~\t\f]", b"?", line) + b"\n" for line in first)
    return tokenize.detect_encoding(lines.__next__)[0]


def _before(source: StubSource, node: ast.stmt) -> str:
    """Return the text before a statement on its line."""
    return source.lines[node.lineno - 1].encode()[: node.col_offset].decode()


def _indent(text: str) -> str:
    return text.rpartition("\f")[2]  # a form feed resets the indentation


def _parse(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the author's literals
        return ast.parse(data)
