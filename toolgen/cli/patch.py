"""The changes of a run as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Final

from toolgen.codegen.write import Change

_STYLES: Final = {"@": "36", "-": "31", "+": "32"}
"""Terminal style of a line by its first character."""


def unified_diff(changes: Iterable[Change], *, colour: bool = False) -> str:
    """Return one unified diff of all changes, without a final newline; surrogates stand for odd bytes."""
    lines = (line for change in changes for line in _lines(change))
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if colour and style else line for style, line in lines)


def _lines(change: Change) -> Iterator[tuple[str, str]]:
    """Yield each line with the colours of its kind."""
    old, new = ("/dev/null" if data is None else str(change.file) for data in (change.old, change.new))
    lines = difflib.unified_diff(_split(change.old), _split(change.new), lineterm="")
    hunks = list(lines)[2:]  # without the names, which an empty file that comes or goes has too
    yield from (("1", f"--- {old}"), ("1", f"+++ {new}"))
    yield from ((_STYLES.get(line[0], ""), line) for line in hunks)


def _split(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines
