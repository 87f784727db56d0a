"""The public surface: what is in `__all__`, in the kept list, and in what documents import.

A package's `__init__` only imports. What it imports for type checkers alone, it imports at the first use:
`_LAZY` has the module of each name.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import toolgen
from tests.surface import KEPT, exported, public_modules, surface

PACKAGE = Path(toolgen.__file__).parent
ROOT = PACKAGE.parent
PACKAGES = sorted(PACKAGE.rglob("__init__.py"))
SHOWN = [
    ROOT / "README.md",
    *(file for file in sorted(ROOT.glob("docs/*.md")) if file.name != "architecture.md"),
    *sorted(ROOT.glob("examples/**/*.py")),
    *sorted(file for file in PACKAGE.glob("templates/**/*") if file.suffix in {".jinja", ".txt"}),
]
"""Documents, and code that stands for what authors write."""
GENERATED = [*ROOT.glob("gen/**/*.py"), *ROOT.glob("tests/cases/*/gen/**/*.py")]
CONDITION = re.compile(r"^{%.*%}\n", re.MULTILINE)
"""A line of a template."""
IMPORT = re.compile(r"^ *from (toolgen[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
MENTION = re.compile(r"(?<![\w./])toolgen(?:\.[a-z_]+)+")


@pytest.mark.parametrize("file", PACKAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_init_only_imports_and_offers(file: Path) -> None:
    body = ast.parse(file.read_text("utf-8")).body
    if body and isinstance(body[0], ast.Expr):
        body = body[1:]
    blocks = [node for node in body if isinstance(node, ast.If)]
    now = [node for node in body if isinstance(node, ast.ImportFrom)]
    later = [node for block in blocks[:1] for node in block.body if isinstance(node, ast.ImportFrom)]
    rest = [node for node in body if isinstance(node, ast.Assign)]
    said = {ast.unparse(node.targets[0]): node for node in rest}
    if not now:
        assert not said
        return
    module = import_module(".".join(file.relative_to(ROOT).parent.parts))
    names = {alias.name for node in now for alias in node.names} - {"TYPE_CHECKING", "lazy_exports"}
    assert said.keys() <= {"__all__", "_LAZY"}
    assert bool(later) == (said.keys() != {"__all__"})
    lazy = dict(_homes(getattr(module, "_LAZY", {})))
    imported = {
        name: "." * node.level + str(node.module)
        for node in later
        for alias in node.names
        for name in (exported(_absolute(module.__name__, node)) if alias.name == "*" else [alias.name])
    }
    assert imported == lazy
    assert all(getattr(module, name) for name in imported)
    assert module.__all__ == sorted(
        names | set(lazy), key=lambda name: (not name.isupper(), name[0].islower(), name)
    )


def _homes(names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for home, of_home in names.items():
        for name in of_home.split():
            yield name, home


def _absolute(package: str, node: ast.ImportFrom) -> str:
    return f"{package}.{node.module}" if node.level else str(node.module)


def test_the_public_surface_is_the_kept_one() -> None:
    if os.environ.get("UPDATE"):
        KEPT.write_text(surface(), "utf-8")
    assert surface() == KEPT.read_text("utf-8"), (
        "the public surface has changed: `UPDATE=1 pytest tests/test_surface.py` rewrites tests/surface.txt; "
        "what is gone, or takes other arguments, needs a line in CHANGELOG.md from release 0.1.0 on"
    )


@pytest.mark.parametrize("module", public_modules())
def test_a_public_module_says_what_it_offers(module: str) -> None:
    names = exported(module)
    assert names
    assert names == sorted(set(names), key=lambda name: (not name.isupper(), name[0].islower(), name))


@pytest.mark.parametrize("file", SHOWN, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_is_shown_imports_public_names(file: Path) -> None:
    assert not list(wrong_imports(file))


def test_generated_code_imports_public_names() -> None:
    assert not [wrong for file in GENERATED for wrong in wrong_imports(file)]


def wrong_imports(file: Path) -> Iterator[str]:
    """Yield what a file imports or names of toolgen that is not public."""
    text = CONDITION.sub("", file.read_text("utf-8"))
    for module, in_lines, in_line in IMPORT.findall(text):
        names = {
            name.split()[0] for name in (in_lines or in_line.partition("#")[0]).split(",") if name.strip()
        }
        public = [*exported(module), "*"] if module in public_modules() else []
        public += [
            name.removeprefix(f"{module}.") for name in public_modules() if name.startswith(f"{module}.")
        ]
        yield from (f"{file} imports {module}.{name}" for name in names.difference(public))
    for name in MENTION.findall(text):
        path = ROOT / Path(*name.split("."))
        if (path.is_dir() or path.with_suffix(".py").is_file()) and name not in public_modules():
            yield f"{file} names {name}"
