"""A document that changes while its design is edited: what is merged, what is said, and what stays."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.importers.evolving_api import VERSIONS, document
from tests.selection import first
from toolgen.cli import main
from toolgen.dsl import build

from ..conftest import Done, surroundings
from ..findings import findings_in

DESIGN = "library_design.py"
LOCK = "library_design.import.json"
CATALOG = Path(__file__).parents[2] / "gen/tool_schemas.json"


class Library:
    """A folder with a document and the design of it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def publish(self, version: int) -> None:
        (self._folder / "library.json").write_text(json.dumps(document(version)), "utf-8")

    def run(self, *options: str) -> Done:
        return self.command("openapi", "library.json", *options)

    def command(self, *args: str) -> Done:
        code = main(("import", *args))
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    @property
    def design(self) -> str:
        return (self._folder / DESIGN).read_text("utf-8")

    def edit(self, *pairs: tuple[str, str]) -> None:
        text = self.design
        for old, new in pairs:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        (self._folder / DESIGN).write_text(text, "utf-8")

    def write(self, text: str) -> None:
        (self._folder / DESIGN).write_text(text, "utf-8")

    def built(self) -> Any:
        evaluation = build(runpy.run_path(str(self._folder / DESIGN))["design"])
        assert evaluation.design is not None, evaluation.diagnostics
        return evaluation.design

    def state(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in sorted(self._folder.iterdir()) if file.is_file()}

    def imported(self, version: int, *options: str) -> Done:
        """Import a first version."""
        self.publish(version)
        return self.run("--server", "https://books.example", *options)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Library:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Library(tmp_path, capsys)


HOOK = """
def log(call: object) -> None:
    \"\"\"Log a call.\"\"\"
    print(call)  # a hook


desk = Toolset("desk", "The desk.", Tool("shelve", "Shelve a book.", BindTo("library", "lend_book")))

design = Design("library", "Books of the town.", library_service, desk_service)
"""
OWN = 'desk_service = Service("desk", "The desk.", desk)'
FOLLOWED = {
    2: ["added: Attribute 'isbn' of 'Book'"],
    3: [
        "changed: the enum of Attribute 'genre' of 'Book'",
        "added: 'Author'",
        "added: 'people'",
        "added: Method 'list_authors' of 'library_service'",
        "added: 'people' of 'library_service'",
    ],
    4: [
        "changed: the default of Attribute 'days' of 'Loan'",
        "changed: the description of Tool 'store' of 'books'",
        "changed: the default of Attribute 'limit' of Method 'find_books' of 'library_service'",
    ],
    5: [],
    6: [
        "removed: Tool 'count_books' of 'books'",
        "added: 'numbers'",
        "changed: the name of Method 'count_books' of 'library_service'",
        "changed: the description of Method 'count_books' of 'library_service'",
        "changed: the title of Attribute 'value' of Method 'count_books' of 'library_service'",
        "added: 'numbers' of 'library_service'",
    ],
}
STUCK = {
    2: [
        "the description of Tool 'find_books' of 'books' is edited here, and the source has changed it to: "
        '"Find books by a word of their title."'
    ],
    5: [
        "the source has no 'Loan' any more, which is edited or in use here",
        "the source has no Tool 'lend_book' of 'books' any more, which is edited or in use here",
        "the source has no Method 'lend_book' of 'library_service' any more, which is edited or in use here",
    ],
}


@pytest.mark.exhaustive
def test_an_author_edits_while_the_document_changes(library: Library) -> None:
    assert library.imported(1).code == 0
    library.edit(
        ('"Find books."', '"Search the shelves."'),
        ('    Tool("put_book",', '    # for librarians alone\n    Tool("store",'),
        ('Tool("lend_book", "Lend a book to a reader.",', 'Tool("lend_book", "Lend it.",  # ask first\n'),
        (
            '\ndesign = Design("library", "Library", library_service)\n',
            HOOK.replace("\ndesign", f"{OWN}\n\ndesign"),
        ),
    )
    written = library.design
    for version in range(2, VERSIONS + 1):
        library.publish(version)
        checked = library.run("--check")
        assert (checked.code, library.design) == (1, written)
        done = library.run()
        assert [line for line in done.err.splitlines() if "_design.py" in line] == [
            *(line for line in done.err.splitlines() if "error" in line),
            *(line for line in done.err.splitlines() if line.startswith(DESIGN) and "error" not in line),
        ]
        told = [line.split(": ", 1)[1] for line in done.err.splitlines() if line.startswith(DESIGN)]
        stuck = [line.removeprefix("error: ").partition(" [")[0] for line in told if "error: " in line]
        assert (stuck, [line for line in told if "error: " not in line]) == (
            STUCK.get(version, []),
            FOLLOWED[version],
        )
        assert done.code == bool(stuck)
        written = library.design
        for edit in ("Search the shelves.", "# for librarians alone", "# ask first", "# a hook", OWN):
            assert edit in written
        again = library.state()
        assert (library.run("--check").code, library.run().code, library.state()) == (0, 0, again)
    design = library.built()
    assert [tool.name for tool in design.services[0].toolsets[0].tools] == [
        "store",
        "find_books",
        "lend_book",
    ]
    assert [toolset.name for toolset in design.services[0].toolsets] == ["books", "people", "numbers"]
    assert "Keep a book under its number." in written


@pytest.mark.exhaustive
def test_a_design_that_nobody_edited_is_a_new_import(library: Library, tmp_path: Path) -> None:
    library.imported(1)
    for version in (3, VERSIONS, 1):
        library.publish(version)
        assert library.run().code == 0
        followed = library.state()
        assert library.imported(version, "--force").code == 0
        assert library.state() == followed


@pytest.mark.exhaustive
def test_options_of_the_first_import_count_until_others_are_given(library: Library) -> None:
    library.imported(1, "--only", "*_books", "--rename", "find_books=search", "--name", "library")
    assert 'Tool("search"' in library.design
    library.publish(2)
    assert library.run().code == 0
    assert "put_book" not in library.design
    assert '"Find books by a word of their title."' in library.design
    assert library.run("--only", "*_book*").code == 0
    assert 'Tool("put_book"' in library.design
    assert 'Server("https://books.example")' in library.design


@pytest.mark.exhaustive
def test_a_design_of_the_author_stays_in_his_layout(library: Library) -> None:
    library.imported(1)
    mark, ends = "\ufeff", "\r\n"
    text = library.design.replace("    ", "  ").replace("library_service", "town").replace("\n", ends)
    Path(DESIGN).write_bytes((mark + text).encode())
    library.publish(2)
    assert library.run().code == 0
    after = Path(DESIGN).read_bytes().decode()
    assert after.startswith(mark)
    assert "\n" not in after.replace(ends, "")
    lines = text.split(ends)
    assert [line for line in after.removeprefix(mark).split(ends) if line not in lines] == [
        "  Nullable,",
        '  Attribute("isbn", Nullable(String), None),',
        '  Tool("find_books", "Find books by a word of their title.", BindTo("find_books")),',
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("library = (", "library_design.py:1: does not parse: '(' was never closed"),
        ("a = 1\rb = 2\n", "library_design.py:1: has lines that end in different ways"),
        ("# coding: latin-1\n", "library_design.py:1: is not in UTF-8"),
    ],
)
def test_what_cannot_be_parsed_is_refused(library: Library, broken: str, message: str) -> None:
    library.imported(1)
    library.publish(2)
    Path(DESIGN).write_text(broken, "utf-8", newline="")
    before = library.state()
    done = library.run()
    assert (done.code, library.state()) == (2, before)
    assert message in done.err


@pytest.mark.exhaustive
def test_a_lock_that_is_none_is_refused(library: Library) -> None:
    library.imported(1)
    Path(LOCK).write_text("{}", "utf-8")
    done = library.run()
    assert done.code == 2
    assert f"error: {LOCK} is no lock of an import" in done.err
    library.imported(1, "--force")
    lock = json.loads(Path(LOCK).read_text("utf-8"))
    Path(LOCK).write_text(json.dumps({**lock, "module": ["a ="]}), "utf-8")
    done = library.run()
    assert (done.code, "is beside a lock whose design does not parse; nothing" in done.err) == (2, True)
    assert library.imported(1, "--force").code == 0
    assert library.run().code == 0


def test_a_design_without_a_lock_is_not_overwritten(library: Library) -> None:
    library.imported(1)
    Path(LOCK).unlink()
    assert library.imported(1).code == 2
    done = library.imported(1, "--check")
    assert done.code == 2
    assert "there is no import of library.json to compare with" in done.err


BROKEN = {
    2: (
        "put_book: argument 'body.isbn' is narrower: the new schema takes null or string, and no array or "
        "boolean or number or object. Breaks callers, what waits."
    ),
    3: (
        "put_book: field 'genre' of the result may be what it never was: the old schema does not "
        "take 'play'. Breaks readers."
    ),
    4: "lend_book: the default of 'body.days' is 28, and was 14. Changes the behaviour for callers.",
    5: "lend_book: the tool is gone. Breaks callers, what waits, source.",
}


@pytest.mark.exhaustive
def test_an_import_says_whom_the_new_version_breaks(library: Library) -> None:
    library.imported(1)
    for version, sentence in BROKEN.items():
        library.publish(version)
        if version == 2:
            assert sentence in library.run("--check").err
        assert sentence in library.run("--allow-losses").err
    assert "for users of" not in library.run("--check").err


@pytest.mark.exhaustive
def test_what_cannot_be_compared_is_said(library: Library) -> None:
    library.imported(1)
    lock = json.loads(Path(LOCK).read_text("utf-8"))
    Path(LOCK).write_text(json.dumps({**lock, "module": [*lock["module"], "raise OSError"]}), "utf-8")
    library.publish(2)
    assert "whom the changes break cannot be told" in library.run("--check").err


@pytest.mark.exhaustive
def test_programs_get_findings(library: Library) -> None:
    library.imported(1)
    library.edit(('"Find books."', '"Search."'))
    library.publish(2)
    before = library.design.splitlines()
    done = library.run("--check", "--format", "json")
    found = findings_in(done.out)
    assert [(one["code"], one.get("tool")) for one in found] == [
        ("import-followed", None),
        ("import-conflict", "find_books"),
    ]
    assert [
        next(name for name in ("Book", "find_books") if name in before[one["line"] - 1]) for one in found
    ] == ["Book", "find_books"]
    assert library.run("--strict").code == 1
    assert library.design.splitlines() == before
    assert library.run("--allow-losses").code == 0


TOOL = {
    "name": "Find-Books",
    "description": "Find.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "not": {"required": ["b"]}},
}
FUNCTIONS = '''"""Rooms."""


def book(room: str, seats: int = 4) -> str:
    """Book a room."""
    return room
'''
SOURCES = {
    "openapi": ("shelf.json", json.dumps({**document(3), "servers": [{"url": "https://books.example"}]})),
    "python": ("shelf_of_rooms.py", FUNCTIONS),
    "mcp": ("shelf.json", json.dumps({"tools": [TOOL]})),
    "jsonschema": ("shelf.json", json.dumps([TOOL])),
    "catalog": ("shelf.json", CATALOG.read_text("utf-8")),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", first(SOURCES, 2))
def test_a_source_that_did_not_change_changes_nothing(library: Library, kind: str) -> None:
    name, text = SOURCES[kind]
    Path(name).write_text(text, "utf-8")
    assert library.command(kind, name, "--allow-losses").code == 0
    (design,) = Path().glob("*_design.py")
    design.write_text(f"# mine\n{design.read_text('utf-8')}\n# and mine\n", "utf-8")
    before = library.state()
    for command in (
        (kind, name, "--allow-losses"),
        ("--allow-losses",),
        (kind, name, "--check"),
        ("--check",),
    ):
        done = library.command(*command)
        assert (done.code, done.out) == (0, "")
        assert library.state() == before
    Path(name).write_text(text.replace("Find", "Look for").replace("seats", "chairs"), "utf-8")
    sys.modules.pop("shelf_of_rooms", None)
    assert library.command("--check").code == 1
    assert library.command(kind, name, "--allow-losses").code == 0
    assert library.command("--check").code == 0
    assert design.read_text("utf-8").startswith("# mine\n")


@pytest.mark.exhaustive
def test_all_imports_of_a_folder_are_made_again(library: Library, tmp_path: Path) -> None:
    assert library.command("--check").code == 2
    library.imported(1, "--out", "designs")
    Path("shelf.json").write_text(json.dumps([TOOL]), "utf-8")
    library.command("mcp", "shelf.json", "--out", "designs/shelf.py")
    library.publish(2)
    done = library.command("--check", "--out", "designs")
    assert done.code == 1
    assert "designs/shelf.py has what shelf.json says\n" in done.err
    assert "library.json has changed: 1 added, 1 changed; run" in done.err
    assert library.command("--check", "--out", "designs/shelf.py").code == 0
    assert library.command("--out", "designs").code == 0
    assert library.command("--check", "--out", "designs").code == 0
    assert library.command("--check", "--name", "other").code == 2


@pytest.mark.exhaustive
def test_a_tool_that_cannot_be_read_any_more_stays(library: Library) -> None:
    def publish(schema: object, *more: object) -> None:
        tools = [{"name": "find-it", "description": "Find.", "inputSchema": schema}, *more]
        Path("library.json").write_text(json.dumps({"tools": tools}), "utf-8")

    publish({"type": "object", "properties": {"a": {"type": "string"}}})
    assert library.command("mcp", "library.json").code == 0
    before = library.design
    publish({"type": "objct"}, {"name": "keep", "description": "Keep.", "inputSchema": {"type": "object"}})
    done = library.command("mcp", "library.json")
    assert done.code == 1
    assert 'Tool(\n        "find_it"' in library.design
    assert 'Tool("keep", "Keep."' in library.design
    assert before != library.design
    library.built()


@pytest.mark.exhaustive
def test_an_operation_that_cannot_be_read_any_more_stays(library: Library) -> None:
    def publish(**body: object) -> None:
        changed = document(1)
        lending = changed["paths"]["/books/{number}/loans"]["post"]
        lending["operationId"] = "lendBook"
        lending |= body
        Path("library.json").write_text(json.dumps(changed), "utf-8")

    publish()
    assert library.run("--server", "https://books.example").code == 0
    before = library.design
    publish(requestBody={"$ref": "#/components/requestBodies/Gone"})
    done = library.run()
    assert done.code == 1
    assert "tool 'lendBook'" in done.err
    assert [line for line in before.splitlines() if line not in library.design.splitlines()] == []
    assert [tool.name for tool in library.built().services[0].toolsets[0].tools][2] == "lend_book"
    publish()
    assert (library.run().code, library.design) == (0, before)


@pytest.mark.exhaustive
def test_schemas_beside_a_design_follow(library: Library) -> None:
    def publish(least: int, *names: str) -> None:
        schema = {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "minProperties": least,
            "not": {"required": ["b"]},
        }
        tools = [{"name": name, "description": "Find.", "inputSchema": schema} for name in names]
        Path("library.json").write_text(json.dumps(tools), "utf-8")

    publish(1, "find", "keep")
    assert library.command("mcp", "library.json").code == 0
    kept = Path("library_schemas/keep.args.json")
    kept.write_text(kept.read_text("utf-8").replace("1", "3"), "utf-8")
    publish(2, "find", "keep", "lend")
    done = library.command("mcp", "library.json")
    assert done.code == 1
    assert "library_schemas/keep.args.json: error: this schema is edited here" in done.err
    least = {file.name: json.loads(file.read_text())["minProperties"] for file in kept.parent.iterdir()}
    assert least == {"find.args.json": 2, "keep.args.json": 3, "lend.args.json": 2}
    publish(2, "keep")
    assert library.command("mcp", "library.json").code == 0
    assert [file.name for file in kept.parent.iterdir()] == ["keep.args.json"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("moves", first([1, 0]))
def test_a_kill_between_two_files_loses_nothing(library: Library, moves: int) -> None:
    library.imported(1)
    library.edit(('"Find books."', '"Search."'))
    before = library.state()
    library.publish(2)
    library.run()
    after = library.state()
    for name, data in before.items():
        Path(name).write_bytes(data)
    library.publish(2)
    done = subprocess.run([sys.executable, "-c", KILLED, str(moves)], env=surroundings(), check=False)
    assert done.returncode == -signal.SIGKILL
    assert Path(DESIGN).read_bytes() == (after if moves else before)[DESIGN]
    assert Path(LOCK).read_bytes() == before[LOCK]
    library.run()
    assert library.state() == after


KILLED = """
import os, signal, sys
from toolgen.cli import main

replace, moves = os.replace, int(sys.argv[1])

def replaced(source, target):
    global moves
    if not moves:
        os.kill(os.getpid(), signal.SIGKILL)
    moves -= 1
    replace(source, target)

os.replace = replaced
main(("import", "openapi", "library.json"))
"""
"""Imports, and is killed where it moves the file after some."""
