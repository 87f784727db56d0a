"""What all syntax trees hold to, which are read once: imports, circles, edges, sizes, limits."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Container, Iterator
from graphlib import TopologicalSorter
from typing import TypeVar

from tests.sources import ROOT, sources
from toolgen.shapes.constraints import FLAGS, LIMITS, OF_BYTES

LOOPS = ("agents/loop", "waiting/cut_calls.py", "waiting/loop.py")
"""May be executed again from a journal."""
EDGES = ("cli", "codegen/write", "stores", "adapters/mcp/serving/stdio.py", "__main__.py")
"""The only ones that touch files and processes by themselves."""

TABLE = "shapes/constraints.py"
DRAFT_4 = ("catalog/providers/reading.py", "importers/openapi_schemas.py", "shapes/foreign/repairs.py")
"""Read bounds as draft-04 and OpenAPI 3.0 write them, which no other schema does."""
PROVIDERS = "catalog/providers/dialects.py"
"""Says which keywords each provider documents."""
FORMS = "adapters/mcp/client/forms.py"
"""Says which keywords a form of MCP has."""

ANYS = 1_500
OUTSIDE = {"os", "shutil", "socket", "subprocess", "tempfile"}
T = TypeVar("T")
CHANCE = {"asyncio", "datetime", "random", "secrets", "time", "uuid"}


def table() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the rows of the table of imports: a package, its imports from toolgen, and its other imports."""
    rows = re.findall(r"^\| `([\w/]+)` \|([^|]*)\|([^|]*)\|$", section("Allowed imports"), re.MULTILINE)
    for package, own, others in rows:
        yield package, re.findall(r"`([\w.]+)`", own), re.findall(r"`(\w+)`", others)


def section(title: str) -> str:
    """Return the text of a section of the documentation."""
    text = (ROOT.parent / "docs/architecture.md").read_text("utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def is_within(name: str, packages: list[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_every_file_imports_what_the_table_says() -> None:
    rows = sorted(table(), key=lambda row: len(row[0]))
    assert {package for package, _, _ in rows} >= {
        file.name for file in ROOT.iterdir() if (file / "__init__.py").is_file()
    }
    wrong = []
    for place, source in sources().items():
        own, others = ["*"], []  # the two modules of the root
        for package, *allowed in rows:  # the row of the innermost package counts
            if place.startswith(f"{package}/"):
                own, others = [package.replace("/", "."), *allowed[0]], allowed[1]
        for name in source.imports:
            top, _, rest = name.partition(".")
            if top == "toolgen":
                is_allowed = own == ["*"] or is_within(rest, own)
            else:
                is_allowed = top in sys.stdlib_module_names or top in others
            if not is_allowed:
                wrong.append(f"{place} imports {name}")
    assert not wrong


def parts(text: str) -> dict[str, tuple[list[str], str]]:
    """Return the packages of each part that a page names, and what it says that the part stands on."""
    rows = re.findall(r"^\| ([A-Z][a-z ]+) \| (`[^|]*) \|(?:[^|\n]*\|([^|\n]*)\|)?$", text, re.MULTILINE)
    return {part: (re.findall(r"`(\w+)`", packages), below) for part, packages, below in rows}


def test_every_package_is_of_one_part_and_a_part_imports_what_it_stands_on() -> None:
    drawn = parts(section("Parts and packages"))
    listed = parts((ROOT / "README.md").read_text("utf-8"))
    assert {part: packages for part, (packages, _) in listed.items()} == {
        part: packages for part, (packages, _) in drawn.items()
    }
    of = {package: part for part, (packages, _) in drawn.items() for package in packages}
    all_packages = sorted(file.parent.name for file in ROOT.glob("*/__init__.py"))
    assert sorted(package for packages, _ in drawn.values() for package in packages) == all_packages
    assert len(all_packages) <= 18
    assert len(drawn) == 7
    for importer, own, _ in table():
        part = of[importer.partition("/")[0]]
        for name in own:
            below = of[name.partition(".")[0]]
            assert below == part or below.lower() in drawn[part][1], f"{importer} imports {name}"


def test_no_package_imports_itself_in_a_circle() -> None:
    graph = defaultdict[str, set[str]](set)
    for importer, own, _ in table():
        package = importer.partition("/")[0]
        graph[package] |= {name.partition(".")[0] for name in own} - {package}
    TopologicalSorter(graph).prepare()  # raises a CycleError that names the packages


def test_the_documentation_describes_every_package_by_its_docstring() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|\n]*) \|$", section("Parts and packages"), re.MULTILINE)
    docstrings = {
        package: source.docstring.partition("\n")[0]
        for file, source in sources().items()
        if "/" not in (package := file.removesuffix("/__init__.py")) and package != file
    }
    assert dict(rows) == docstrings


def test_no_file_imports_itself_in_a_circle() -> None:
    modules = {
        f"toolgen.{file.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"): source
        for file, source in sources().items()
    }
    graph = {
        module: {part for name in source.imports if (part := module_of(name, modules)) and part != module}
        for module, source in modules.items()
    }
    assert not circular(graph), "each of these leads to itself, or imports one that does"


def test_no_file_of_typescript_imports_itself_in_a_circle() -> None:
    """Of the page and of the plain files of the generated client, not for types either."""
    folders = ROOT / "templates/typescript", ROOT.parent / "ui/src"
    files = {file.with_suffix(""): file for folder in folders for file in sorted(folder.rglob("*.ts*"))}
    graph = {
        file: {
            (text.parent / name).resolve().with_suffix("")
            for name in re.findall(
                r'^(?:import|export|\}) .*"(\.[^"]+)";', text.read_text("utf-8"), re.MULTILINE
            )
        }
        & files.keys()
        for file, text in files.items()
    }
    assert any(graph.values())
    assert not circular(graph), "each of these leads to itself, or imports one that does"


def circular(graph: dict[T, set[T]]) -> set[T]:
    """Return the nodes of a graph that lead to a circle."""
    while ends := {node for node, found in graph.items() if not found}:
        graph = {node: found - ends for node, found in graph.items() if node not in ends}
    return set(graph)


def module_of(name: str, modules: Container[str]) -> str:
    """Return the module of toolgen that an imported name is, or is in; empty for others."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name if name.startswith("toolgen.") else ""


def test_only_the_edges_touch_the_world_and_the_loop_has_no_chance() -> None:
    wrong = []
    for place, source in sources().items():
        banned = set() if place.startswith(EDGES) else {*OUTSIDE}
        banned |= CHANCE if place.startswith(LOOPS) else set()
        for name in source.imports:
            if name != "os.path" and name.partition(".")[0] in banned:
                wrong.append(f"{place} imports {name}")
        if banned & OUTSIDE and source.called & {"open", "print"}:
            wrong.append(f"{place} opens or prints")
    assert not wrong


def test_files_and_functions_stay_small() -> None:
    """No number may grow; `_run_steps` of `calls/steps/dispatch.py` says why it is long."""
    functions = [(file, each) for file, source in sources().items() for each in source.functions]
    lines = {f"toolgen/{file}": source.lines for file, source in sources().items()} | lines_of_tests()
    assert {file: count for file, count in lines.items() if count > 400} == {}
    long = [f"{file}, {each.name}: {each.lines} lines" for file, each in functions if each.lines > 50]
    assert len(long) <= 3, long
    wide = [f"{file}, {each.name}: {each.parameters}" for file, each in functions if each.parameters >= 8]
    assert len(wide) <= 13, wide


def test_any_stands_only_where_no_type_says_more() -> None:
    """The number may not grow: a JSON value is `Json`, and a value that is only narrowed an `object`."""
    assert sum(source.anys for source in sources().values()) <= ANYS


def lines_of_tests() -> dict[str, int]:
    """Return the number of lines of each file of tests and examples that nobody generated."""
    files = [file for folder in ("tests", "examples") for file in (ROOT.parent / folder).rglob("*.py")]
    paths = {file: file.relative_to(ROOT.parent) for file in files}
    return {
        path.as_posix(): file.read_bytes().count(b"\n")
        for file, path in paths.items()
        if "gen" not in path.parts
    }


def test_a_limit_is_named_in_the_table_alone() -> None:
    literals = defaultdict[str, set[str]](set)
    for file, source in sources().items():
        for word in source.literals:
            literals[word].add(file)
    words = {word for row in (*LIMITS, *FLAGS, *OF_BYTES) for word in (row.name, row.keyword, row.error)}
    elsewhere = {word: literals[word] - {TABLE, PROVIDERS, FORMS, *DRAFT_4} for word in words}
    assert {word: files for word, files in elsewhere.items() if files} == {}
    assert all(TABLE in literals[word] for word in words if word)
