"""Digests of a design's sources, which show whether the generated code is older than the design."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from toolgen.contract.record import frozen_record


@frozen_record
class SourceDigests:
    """Two digests of one source, so that neither a comment nor a formatter makes generated code stale."""

    content: str
    """Digest of the file."""
    syntax: str = ""
    """Digest of the Python syntax tree, without positions and comments; "" for other files."""

    def is_of(self, path: str, data: bytes) -> bool:
        """Return whether a file is unchanged; its syntax is compared only if its text differs."""
        return self.content == _digest(data) or (bool(self.syntax) and self.syntax == _syntax(path, data))

    def document(self) -> dict[str, str]:
        return {"content": self.content, **({"syntax": self.syntax} if self.syntax else {})}


def stamp(
    directory: Path, paths: Iterable[str], recorded: Mapping[str, SourceDigests] | None = None
) -> dict[str, SourceDigests]:
    """Return the digests of sources by path, without sources that no longer exist.

    `recorded` has the digests of an earlier stamp; files with the same content are not parsed again.
    """
    digests = dict[str, SourceDigests]()
    for path in sorted(paths):
        if (data := _read(directory / path)) is not None:
            content, earlier = _digest(data), (recorded or {}).get(path)
            if earlier is None or earlier.content != content:
                earlier = SourceDigests(content=content, syntax=_syntax(path, data))
            digests[path] = earlier
    return digests


def changed_sources(directory: Path, sources: Mapping[str, SourceDigests]) -> tuple[str, ...]:
    """Return the paths of changed sources; missing ones are skipped."""
    return tuple(
        path
        for path, digests in sources.items()
        if (data := _read(directory / path)) is not None and not digests.is_of(path, data)
    )


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _syntax(path: str, data: bytes) -> str:
    if not path.endswith(".py"):
        return ""
    try:
        return _digest(_shape(ast.parse(data)).encode("utf-8", "surrogatepass"))
    except (SyntaxError, ValueError, RecursionError):
        return ""


def _shape(node: object) -> str:
    """Return a syntax tree as text, without empty fields, which newer versions of Python add."""
    if isinstance(node, ast.AST):
        parts = [f"'{type(node).__name__}'"]
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is str:
                parts.append(f"('{name}', {value!r})")
            elif value is not None and value != []:
                parts.append(f"('{name}', {_shape(value)})")
    elif isinstance(node, list):
        parts = [_shape(child) for child in node]
    else:
        return repr(node)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
