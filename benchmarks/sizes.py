"""What toolgen's source consists of, by room: `python -m benchmarks.sizes [folder] [depth]`.

A line is a comment, part of an import, part of a docstring (of an attribute too), blank, or code. A blank
line within a docstring is part of it. `benchmarks.walks` says what one operation passes of all this.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

COLUMNS: Final = ("files", "total", "code", "docstring", "import", "comment", "blank")
LEFT_OUT: Final = {".venv", "__pycache__"}


def kinds(source: str) -> Counter[str]:
    """Return how many lines of each kind a file has."""
    lines = source.splitlines()
    of_line = {number: "code" if line.strip() else "blank" for number, line in enumerate(lines, 1)}
    for node in ast.walk(ast.parse(source)):
        for statement in _docstrings(node):
            of_line.update(_lines(statement, "docstring"))
        if isinstance(node, ast.Import | ast.ImportFrom):
            of_line.update(_lines(node, "import"))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT and lines[line - 1].strip().startswith("#"):
            of_line[line] = "comment"
    return Counter(of_line.values())


def _docstrings(node: ast.AST) -> Iterator[ast.stmt]:
    body = getattr(node, "body", None)
    for statement in body if isinstance(body, list) else ():
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                yield statement


def _lines(statement: ast.stmt, kind: str) -> Mapping[int, str]:
    return dict.fromkeys(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1), kind)


def sizes(root: Path, depth: int) -> dict[str, Counter[str]]:
    """Return what each room under a folder has, the largest first; a room is named by `depth` folders."""
    rooms: dict[str, Counter[str]] = {}
    for file in sorted(root.rglob("*.py")):
        if LEFT_OUT.isdisjoint(file.parts):
            room = "/".join(file.relative_to(root).parts[:-1][:depth]) or "."
            counted = kinds(file.read_text("utf-8"))
            rooms.setdefault(room, Counter()).update(counted, total=counted.total(), files=1)
    return dict(sorted(rooms.items(), key=lambda item: -item[1]["total"]))


def main(folder: str = "toolgen", depth: str = "1") -> None:
    """Print a row for each room, and one for all."""
    rooms = sizes(Path(folder), int(depth))
    rooms["all"] = sum(rooms.values(), Counter())
    print(f"{'':32}" + "".join(f"{name:>11}" for name in COLUMNS))
    for room, counted in rooms.items():
        print(f"{room:32}" + "".join(f"{counted[name]:11,}" for name in COLUMNS))


if __name__ == "__main__":
    main(*sys.argv[1:])
