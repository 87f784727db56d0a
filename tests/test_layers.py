"""The import table of docs/architecture.md, circles, and what touches the world, by the syntax trees."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import toolgen

ROOT = Path(toolgen.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MODULES = {
    ".".join(("toolgen", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in FILES
}
LOOPS = ("agents/loop", "waiting/cut_calls.py", "waiting/loop.py")
"""May be executed again from a journal."""
EDGES = ("cli", "codegen/write", "stores", "adapters/mcp/serving/stdio.py", "__main__.py")
"""The only ones that touch files and processes by themselves."""

OUTSIDE = {"os", "shutil", "socket", "subprocess", "tempfile"}
CHANCE = {"asyncio", "datetime", "random", "secrets", "time", "uuid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the syntax tree of a file says, without the tree."""

    docstring: str
    imports: tuple[str, ...]
    """Absolute dotted names, in functions and for type checkers too."""
    called: frozenset[str]
    """Names of functions that are called by their name alone."""


@cache
def source_of(file: Path) -> Source:
    tree = ast.parse(file.read_text("utf-8"))
    package = ("toolgen", *file.relative_to(ROOT).parts[:-1])
    imports, called = list[str](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                imports += (name.name for name in node.names)
            case ast.ImportFrom():
                start = package[: len(package) - node.level + 1] if node.level else ()
                source = ".".join([*start, *([node.module] if node.module else [])])
                imports += (f"{source}.{name.name}" for name in node.names)
            case ast.Call(func=ast.Name(id=name)):
                called.add(name)
    return Source(docstring=ast.get_docstring(tree) or "", imports=tuple(imports), called=frozenset(called))


def table() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the rows of the table in the documentation: a room, what of toolgen it imports, and what else."""
    text = (ROOT.parent / "docs/architecture.md").read_text("utf-8")
    for room, own, others in re.findall(r"^\| `([\w/]+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", text, re.MULTILINE):
        yield room, re.findall(r"`([\w.]+)`", own), re.findall(r"`(\w+)`", others)


def is_within(name: str, packages: list[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_every_file_imports_what_the_table_says() -> None:
    rows = sorted(table(), key=lambda row: len(row[0]))
    assert {room for room, _, _ in rows} >= {
        file.name for file in ROOT.iterdir() if (file / "__init__.py").is_file()
    }
    wrong = []
    for file in FILES:
        place = file.relative_to(ROOT).as_posix()
        own, others = ["*"], []  # the two modules of the root
        for room, *allowed in rows:  # the row of the smallest room counts
            if place.startswith(f"{room}/"):
                own, others = [room.replace("/", "."), *allowed[0]], allowed[1]
        for name in source_of(file).imports:
            top, _, rest = name.partition(".")
            if top == "toolgen":
                is_allowed = own == ["*"] or is_within(rest, own)
            else:
                is_allowed = top in sys.stdlib_module_names or top in others
            if not is_allowed:
                wrong.append(f"{place} imports {name}")
    assert not wrong


def test_every_room_says_in_the_documentation_what_it_says_itself() -> None:
    text = (ROOT.parent / "docs/architecture.md").read_text("utf-8")
    said = dict(re.findall(r"^\| `([\w/]+)` \| ([^|\n]*) \|", text, re.MULTILINE))
    own = {
        file.parent.relative_to(ROOT).as_posix(): source_of(file).docstring.partition("\n")[0]
        for file in FILES
        if file.name == "__init__.py" and file.parent != ROOT
    }
    assert said == own


def test_no_file_imports_itself_in_a_circle() -> None:
    graph = {
        module: {part for name in source_of(file).imports if (part := module_of(name)) and part != module}
        for module, file in MODULES.items()
    }
    while ends := [module for module, found in graph.items() if not found]:
        for module in ends:
            del graph[module]
        for found in graph.values():
            found.difference_update(ends)
    assert not graph, "each of these leads to itself, or imports one that does"


def module_of(name: str) -> str:
    """Return the module of toolgen that an imported name is, or is in; empty for others."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name if name.startswith("toolgen.") else ""


def test_only_the_edges_touch_the_world_and_the_loop_has_no_chance() -> None:
    wrong = []
    for file in FILES:
        place = file.relative_to(ROOT).as_posix()
        banned = set() if place.startswith(EDGES) else {*OUTSIDE}
        banned |= CHANCE if place.startswith(LOOPS) else set()
        for name in source_of(file).imports:
            if name != "os.path" and name.partition(".")[0] in banned:
                wrong.append(f"{place} imports {name}")
        if banned & OUTSIDE and source_of(file).called & {"open", "print"}:
            wrong.append(f"{place} opens or prints")
    assert not wrong
