"""The messages of toolgen in one file for review, messages.txt; `UPDATE=1` of its test writes it.

A message is a literal of at least three words: the texts of errors, hints, findings, logs, help, command
output and dialects in the package, and the texts of the explorer. Docstrings are no messages. A formatted
text is printed with its expressions in braces, and a line break as ⏎.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.sources import trees

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_name("messages.txt")
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`|>([^<>{}=;]+)<')
"""A text in TypeScript: quoted, a template, or between two tags."""
CLASSES = re.compile(r'className="[^"]*"|^import .*|^ *(?:\*|/\*\*|//).*', re.MULTILINE)
"""Quoted words in TypeScript that nobody reads."""


def messages() -> str:
    """Return the text of messages.txt: the files in order, each with its messages in order."""
    files = [*ROOT.glob("toolgen/**/*.py"), *ROOT.glob("ui/src/**/*.ts*")]
    parts = []
    for file in sorted(file for file in files if not is_test(file)):
        found = python_texts(file) if file.suffix == ".py" else typescript_texts(file)
        lines = [f"  {text}" for text in map(one_line, found) if is_message(text)]
        if lines:
            parts.append("\n".join([file.relative_to(ROOT).as_posix(), *lines]))
    return "\n\n".join(parts) + "\n"


def is_test(file: Path) -> bool:
    return file.suffix != ".py" and "test" in file.relative_to(ROOT).as_posix()


def is_message(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[^}]*\}", " ", text))) >= 3 and " " in text


def one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "⏎" for char in text.strip())


def python_texts(file: Path) -> Iterator[str]:
    """Yield the literals of a file that are no docstrings, in order; a formatted text counts as one."""
    nodes = list(ast.walk(trees()[file.relative_to(ROOT / "toolgen").as_posix()]))
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found: list[tuple[int, int, str]] = []
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in ast.walk(node)}
            found.append((node.lineno, node.col_offset, formatted(node)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            found.append((node.lineno, node.col_offset, node.value))
    return (text for _, _, text in sorted(found))


def formatted(node: ast.JoinedStr) -> str:
    """Return a formatted text with its expressions in braces."""
    parts = [
        part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
        for part in node.values
        if isinstance(part, ast.Constant | ast.FormattedValue)
    ]
    return "".join(map(str, parts))


def typescript_texts(file: Path) -> Iterator[str]:
    text = CLASSES.sub("", file.read_text("utf-8"))
    return (next(group for group in match.groups() if group is not None) for match in QUOTED.finditer(text))
