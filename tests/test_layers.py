"""The import directions of docs/architecture.md, read from the syntax trees."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolgen

ROOT = Path(toolgen.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

ALLOWED = {
    "contract": set[str](),
    "shapes": {"contract"},
    "runtime": {"contract", "shapes"},
    "engines": {"contract", "runtime"},
    "adapters": {"contract", "runtime", "shapes"},
    "expr": {"contract", "shapes"},
    "schema_reader": {"contract", "shapes"},
    "dsl": {"contract", "expr", "schema_reader", "shapes"},
    "codegen": {"contract", "expr", "shapes"},
    "catalog": set[str](),
    "importers": {"contract", "schema_reader", "shapes"},
    "cli": {"codegen", "contract", "dsl", "expr", "importers", "runtime", "shapes"},
    "__main__": {"cli"},
    "__init__": set[str](),
}
"""What each package may import of toolgen, besides itself."""

THIRD_PARTY = {
    "shapes": {"annotated_types", "jsonschema_rs", "pydantic", "pydantic_core", "typing_extensions"},
    "runtime": {"opentelemetry", "pydantic", "pydantic_core"},
    "engines": {"pydantic_core"},
    "adapters": {"google", "pydantic", "pydantic_ai", "pydantic_core"},
    "codegen": {"datamodel_code_generator", "jinja2", "ruff"},
    "schema_reader": {"jsonschema_rs"},
    "importers": {"pydantic", "yaml"},
    "cli": {"typer"},
}

EXCEPTIONS = {"runtime/agents/agents.py": {"engines"}}
"""What one file may import beside that: the runtime names its default engine, once and inside a function."""

LOOP = (
    "loop",
    "loop_calls",
    "loop_events",
    "loop_planning",
    "admission",
    "attempts",
    "progress",
    "documents",
)
"""Modules of `runtime/agents` that an engine may run again from a journal."""
PURE = {"__future__", "collections", "dataclasses", "typing", "pydantic_core"}
"""What they may import besides the contract and the runtime's own records."""

TOUCHES_THE_WORLD = {"os", "shutil", "socket", "subprocess", "tempfile"}
MAY_TOUCH_IT = {"cli", "codegen/write", "runtime/stores"}


def imports(file: Path) -> Iterator[str]:
    """Yield the absolute dotted names that a file imports, inside functions and TYPE_CHECKING too."""
    package = ("toolgen", *file.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = package[: len(package) - level + 1] if level else ()
                source = ".".join([*start, *([module] if module else [])])
                yield from (f"{source}.{name.name}" for name in names)
            case _:
                pass


def home(file: Path) -> str:
    """Return the package of toolgen, or the module of its root, that a file belongs to."""
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_package_stands_in_the_table() -> None:
    assert {home(file) for file in FILES} == set(ALLOWED)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_imports_only_what_its_package_may(file: Path) -> None:
    package = home(file)
    for name in imports(file):
        top, _, rest = name.partition(".")
        if top == "toolgen":
            more = EXCEPTIONS.get(str(file.relative_to(ROOT)), set())
            assert rest.split(".")[0] in {*ALLOWED[package], *more, package}, name
        else:
            assert top in sys.stdlib_module_names or top in THIRD_PARTY.get(package, ()), name


@pytest.mark.parametrize("module", LOOP)
def test_the_loop_has_no_clock_no_randomness_and_no_io(module: str) -> None:
    file = ROOT / "runtime/agents" / f"{module}.py"
    for name in imports(file):
        own = name.startswith(
            ("toolgen.contract.json_value", "toolgen.runtime.events.records", "toolgen.runtime.results")
        )
        beside = any(name.startswith(f"toolgen.runtime.agents.{one}") for one in (*LOOP, "engine"))
        assert own or beside or name.partition(".")[0] in PURE, name
    banned = {"time", "random", "uuid", "open", "wait_for", "as_completed", "create_task", "ensure_future"}
    names = {
        node.attr for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Attribute)
    }
    assert not names & banned


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_only_the_edges_touch_the_world(file: Path) -> None:
    if {home(file), str(file.relative_to(ROOT).parent)} & MAY_TOUCH_IT:
        return
    assert not {name.partition(".")[0] for name in imports(file) if name != "os.path"} & TOUCHES_THE_WORLD
    calls = [node.func for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    assert not [call.id for call in calls if isinstance(call, ast.Name) and call.id in ("open", "print")]


def test_the_table_in_the_documentation_is_this_one() -> None:
    text = (ROOT.parent / "docs/architecture.md").read_text("utf-8")
    for package, allowed in ALLOWED.items():
        if not package.startswith("__"):
            row = f"| `{package}` | {', '.join(f'`{name}`' for name in sorted(allowed)) or 'nothing'} |"
            assert row in text, row
