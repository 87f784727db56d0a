"""Code that the README and docs/ show, run as it stands there.

Blocks of Python share the names of their document and may await. A line of a shell block is a command
that must succeed; `make` targets must exist, and fetching and installing is left to the wheel's test.
docs/diagnostics.md is held to its table by the test of the broken designs.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from toolgen.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    file for file in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if file.name != "diagnostics.md"
)
FOLLOWED = ROOT / "docs/first-steps.md"
"""Edits a project of its own; tests/conformance/test_first_steps.py does what it says."""
IMPORT = ROOT / "docs/import.md"
"""Imports and generates in a folder of its own; tests/conformance/test_import_doc.py does what it says."""
FOLLOWED_IN_A_FOLDER = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("my-*.md")),
    *(ROOT / "docs" / name for name in ("commands.md", "durable-agent.md", "long-running.md", "services.md")),
]
"""Write files and run commands in a folder of their own; tests/conformance/test_followed_docs.py does it."""
FRAMEWORKS = ROOT / "docs/frameworks.md"
"""Imports the frameworks, which takes seconds; tests/conformance/adapters/frameworks/test_doc.py runs it."""
PRODUCTION = ROOT / "docs/production.md"
"""Needs servers; tests/test_production_doc.py and tests/conformance/postgres/test_doc.py run its sections."""
ELSEWHERE = (FOLLOWED, IMPORT, *FOLLOWED_IN_A_FOLDER, FRAMEWORKS, PRODUCTION)
SERVER = ROOT / "docs/mcp.md"
"""Starts a server of MCP, which takes seconds; `make conformance` runs it."""
RUN = [
    pytest.param(file, marks=pytest.mark.exhaustive) if file == SERVER else file
    for file in DOCUMENTS
    if file not in ELSEWHERE
]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PAPERS = sorted((ROOT / "docs/designs").glob("*.md"))
MAP = ROOT / "docs/architecture.md"
"""Names files, folders, and functions in them; a path starts at `toolgen/` unless at `tests/` or `docs/`."""
PLACE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*(?:\.py|/)|[\w-]+(?:/[\w.-]+)+)`")
ENTERED = re.compile(r"`([\w/]+\.py)`, `([\w.]+)`")
"""`file.py`, `function`."""
WITHIN = re.compile(r"`([\w.]+)` in\s`([\w/]+\.py)`")
"""`function` in `file.py`."""


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def section(text: str, heading: str) -> tuple[int, int]:
    """Return where the section below a heading of the second rank begins and ends; "" is the whole text."""
    if not heading:
        return 0, len(text)
    start = text.index(f"\n## {heading}\n")
    end = text.find("\n## ", start + 1)
    return start, len(text) if end < 0 else end


def blocks(file: Path, *languages: str, within: str = "") -> Iterator[tuple[int, str]]:
    """Yield line number and text of the fenced blocks in these languages, of one section or of all."""
    text = file.read_text("utf-8")
    for block in BLOCK.finditer(text, *section(text, within)):
        if block[1] in languages:
            yield text.count("\n", 0, block.start(2)), block[2]


@pytest.mark.parametrize("file", RUN, ids=name_of)
def test_the_python_runs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TOOLGEN_SECRET", "0" * 32)
    run_python(file)


def run_python(file: Path, *sections: str) -> dict[str, object]:
    """Run the Python of a document, one block after the other in one namespace, and return it.

    With `sections`, only that below these headings. A block of text next to a block of Python is what the
    Python prints.
    """
    names: dict[str, object] = {"__name__": "document"}
    document = file.read_text("utf-8")
    parts = [section(document, heading) for heading in sections or ("",)]
    found = [block for part in parts for block in BLOCK.finditer(document, *part)]
    for block, following in zip(found, [*found[1:], None], strict=False):
        if block[1] != "python":
            continue
        source = "\n" * document.count("\n", 0, block.start(2)) + block[2]
        code = compile(source, name_of(file), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        with redirect_stdout(io.StringIO()) as printed:
            result = eval(code, names)
            if inspect.iscoroutine(result):
                asyncio.run(result)
        if following and following[1] == "text" and not document[block.end() : following.start()].strip():
            assert printed.getvalue() == following[2]
    return names


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_the_data_is_well_formed(file: Path) -> None:
    for _, text in blocks(file, "json"):
        json.loads(text)
    for _, text in blocks(file, "toml"):
        tomllib.loads(text)


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_the_links_lead_somewhere(file: Path) -> None:
    for target in LINK.findall(file.read_text("utf-8")):
        assert (file.parent / target).exists(), target


def test_the_diagnostic_of_the_readme_is_that_of_its_design(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    design = readme.partition("```python\n")[2].partition("```")[0]
    shown = "design.py:" + readme.partition("```\ndesign.py:")[2].partition("```")[0]
    wrong = design.replace("default=10)", "default=100)")
    (tmp_path / "design.py").write_text(wrong, "utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "design"\nout = "gen"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert main(("gen",)) == 1
    sys.modules.pop("design", None)
    said = capsys.readouterr()
    assert shown in said.out + said.err


def test_each_paper_has_a_number_of_its_own() -> None:
    assert [int(file.name.partition("-")[0]) for file in PAPERS] == list(range(1, len(PAPERS) + 1))
    assert len(PAPERS) <= 10


@pytest.mark.parametrize("file", PAPERS, ids=name_of)
def test_a_paper_names_what_exists(file: Path) -> None:
    """What was tried and not kept may name what is gone, or what others have."""
    code = re.findall(r"`([^`]+)`", BLOCK.sub("", file.read_text("utf-8")).partition("\n## Tried")[0])
    missing = {
        path for path in code if re.fullmatch(r"[\w.-]+/[\w./-]+\.py", path) and not place_of(path).exists()
    }
    missing |= {name for text in code for name in re.findall(r"[A-Za-z_]\w{2,}", text)} - words()
    assert not missing


@cache
def words() -> set[str]:
    """Return the words of the code, and of the names of its files and of the tests."""
    files = [*(ROOT / "toolgen").rglob("*"), *(ROOT / "tests").rglob("*.py")]
    texts = [file.read_text("utf-8") for file in files if file.suffix in (".py", ".ts", ".json")]
    return set(re.findall(r"[A-Za-z_]\w{2,}", "\n".join([*texts, *map(str, files)])))


def parts_of_the_map() -> list[str]:
    """Return its paragraphs, rows and items of lists, without blocks of code."""
    return re.split(r"\n\s*\n|\n(?=- |\d+\. |\|)", BLOCK.sub("", MAP.read_text("utf-8")))


def place_of(path: str) -> Path:
    return ROOT / path if path.startswith(("tests/", "docs/")) else ROOT / "toolgen" / path


def test_the_map_names_files_and_folders_that_exist() -> None:
    """A short name stands beside a longer one of the same paragraph."""
    missing = []
    for part in parts_of_the_map():
        paths = PLACE.findall(part)
        folders = [ROOT, ROOT / "toolgen", *(place_of(path).parent for path in paths if "/" in path)]
        for path in paths:
            if not place_of(path).exists() and not any((folder / path).exists() for folder in folders):
                missing.append(path)
    assert not missing
    assert len(PLACE.findall(MAP.read_text("utf-8"))) > 100


def test_the_map_names_functions_and_classes_that_exist() -> None:
    text = MAP.read_text("utf-8")
    named = [*ENTERED.findall(text), *((path, name) for name, path in WITHIN.findall(text))]
    missing = []
    for path, name in named:
        if not defined_in(path).issuperset(name.split(".")):
            missing.append(f"{name} in {path}")
    assert not missing
    assert len(named) > 15


@cache
def defined_in(path: str) -> set[str]:
    """Return the names that statements of a file define."""
    tree = ast.parse(place_of(path).read_text("utf-8"))
    return {name for node in ast.walk(tree) for name in defined_by(node)}


def defined_by(node: ast.AST) -> list[str]:
    """Return the names that a statement defines."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []
