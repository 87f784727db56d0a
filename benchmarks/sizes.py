"""How large toolgen is: `python -m benchmarks.sizes` writes `benchmarks/sizes.txt`, which a test compares.

A line of code is neither blank nor part of a comment, a docstring (of an attribute too) or an import. Of
documents, all lines count that are not blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SIZES: Final = Path(__file__).with_name("sizes.txt")
FOLDERS: Final = (
    ("toolgen", "*.py"),
    ("benchmarks", "*.py"),
    ("examples", "*.py"),
    ("tests", "*.py"),
    ("docs", "*.md"),
    ("docs/designs", "*.md"),
)
STRING: Final = r'r?"""(?:\\.|[^\\])*?"""'
NOT_CODE: Final = re.compile(
    rf"""
    ^[ ]*\#[^\n]*$                                                    # a comment
    | ^[ ]*{STRING}$                                                  # a docstring
    | ^[ ]*(?:import\ |from\ \S+\ import\ )(?:\([^)]*\)|[^\n(])*$     # an import
    | (?P<code>
        (?:[(\[{{,]\s*(?:\#[^\n]*\s*)*)?{STRING}                      # a string in a call or a list
        | '''(?:\\.|[^\\])*?''' | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
        | \#[^\n]*
    )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""What is no code, and strings and comments in code, whose text is not searched."""


def lines_of_code(source: str) -> int:
    """Return how many lines of code a file formatted by ruff has."""
    return _written(NOT_CODE.sub(lambda match: match["code"] or "", source))


def _written(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def size(folder: Path, pattern: str) -> tuple[int, int]:
    """Return the numbers of files and of lines below a folder."""
    texts = [file.read_text("utf-8") for file in folder.rglob(pattern)]
    return len(texts), sum(map(lines_of_code if pattern == "*.py" else _written, texts))


def table(root: Path = ROOT) -> str:
    """Return a row for each package of toolgen, and one for each folder of the repository."""
    packages = sorted(file.parent.relative_to(root).as_posix() for file in root.glob("toolgen/*/__init__.py"))
    rows = [(name, *size(root / name, "*.py")) for name in packages]
    rows += [(name, *size(root / name, pattern)) for name, pattern in FOLDERS]
    return "".join(_lines(rows))


def _lines(rows: list[tuple[str, int, int]]) -> Iterator[str]:
    yield f"{'':24}{'files':>8}{'lines':>10}\n"
    for name, files, lines in rows:
        yield f"{name:24}{files:8,}{lines:10,}\n"


if __name__ == "__main__":
    SIZES.write_text(table(), "utf-8")
