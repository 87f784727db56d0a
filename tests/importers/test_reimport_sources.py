"""Sources of each kind that are imported again: what did not change, cannot be read, or is killed halfway."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.importers.evolving_api import document
from tests.importers.library_folder import DESIGN, LOCK, Library
from tests.importers.library_folder import library as library
from tests.selection import first

from ..conftest import surroundings

CATALOG = Path(__file__).parents[2] / "gen/tool_schemas.json"
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
    assert "designs/shelf.py is up to date with shelf.json\n" in done.err
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
    assert 'd.Tool(\n        "find_it"' in library.design
    assert 'd.Tool("keep", "Keep."' in library.design
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
    assert "library_schemas/keep.args.json: error: this schema was edited here" in done.err
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

def replaced(source, target, **how):
    global moves
    if not moves:
        os.kill(os.getpid(), signal.SIGKILL)
    moves -= 1
    replace(source, target, **how)

os.replace = replaced
main(("import", "openapi", "library.json"))
"""
"""Imports, and is killed where it moves the file after some."""
