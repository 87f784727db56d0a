"""What the syntax trees of toolgen say: each file is parsed once in a process, for all tests that ask."""

from __future__ import annotations

import ast
import gc
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import toolgen

ROOT = Path(toolgen.__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or method."""

    name: str
    lines: int
    parameters: int
    """How many it takes, without `self` and `cls`."""


@dataclass(slots=True, kw_only=True)
class Source:
    """What the syntax tree of a file says, without the tree."""

    lines: int
    docstring: str
    imports: list[str] = field(default_factory=list)
    """Absolute dotted names, in functions and for type checkers too."""
    called: set[str] = field(default_factory=set)
    """Names of functions that are called by their name alone."""
    literals: set[str] = field(default_factory=set)
    """Words of all strings of less than 200 characters that are neither sentences nor formatted."""
    functions: list[Function] = field(default_factory=list)
    anys: int = 0
    """How often the name `Any` stands in it."""


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of toolgen by path in its folder, in order.

    Collections of garbage, each of which would visit all of them, take two thirds of the time.
    """
    files = sorted(ROOT.rglob("*.py"))
    gc.disable()
    try:
        return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}
    finally:
        gc.freeze()
        gc.enable()


@cache
def sources() -> dict[str, Source]:
    """Return the sources of toolgen by path in its folder, in order."""
    return {
        place: source_of((ROOT / place).read_text("utf-8"), ("toolgen", *place.split("/")[:-1]), tree)
        for place, tree in trees().items()
    }


def source_of(text: str, package: tuple[str, ...] = (), tree: ast.Module | None = None) -> Source:
    """Return what a text says that is a module of a package."""
    tree = tree or ast.parse(text)
    source = Source(lines=text.count("\n"), docstring=ast.get_docstring(tree) or "")
    formatted = set[int]()
    for node in ast.walk(tree):  # the most frequent kinds first
        if isinstance(node, ast.Load | ast.Name | ast.Attribute):
            source.anys += isinstance(node, ast.Name) and node.id == "Any"
            continue
        if isinstance(node, ast.JoinedStr):
            formatted.update(map(id, node.values))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in formatted and is_list_of_words(node.value):
                source.literals.update(node.value.split())
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                source.called.add(node.func.id)
        else:
            _read_statement(node, source, package)
    return source


def is_list_of_words(text: str) -> bool:
    """Return whether a string can be words for the program, and not a sentence for people."""
    return len(text) < 200 and not re.search(r"[.,;:`](\s|$)", text)


def _read_statement(node: ast.AST, source: Source, package: tuple[str, ...]) -> None:
    match node:
        case ast.Import():
            source.imports += (name.name for name in node.names)
        case ast.ImportFrom():
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            source.imports += (f"{module}.{name.name}" for name in node.names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            source.functions.append(_function(node))
        case _:
            pass


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    of = node.args
    variadic = [each for each in (of.vararg, of.kwarg) if each is not None]
    names = [each.arg for each in (*of.posonlyargs, *of.args, *of.kwonlyargs, *variadic)]
    return Function(
        name=node.name,
        lines=(node.end_lineno or node.lineno) - node.lineno + 1,
        parameters=len([name for name in names if name not in ("self", "cls")]),
    )
