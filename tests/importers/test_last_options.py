"""A source that is imported into its folder again has the options of its last import, its name among them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.importers.library_folder import Library
from tests.importers.library_folder import library as library
from tests.importers.test_reimport_sources import SOURCES, TOOL
from tests.selection import first

NAMED = ("--name", "desk", "--service", "front_desk")
KINDS = pytest.mark.parametrize("kind", first(SOURCES, 2))
AGAIN = ["--out .", "--force", "", "--out . --name desk"]


def imported(library: Library, kind: str, *options: str) -> str:
    source, text = SOURCES[kind]
    Path(source).write_text(text, "utf-8")
    sys.modules.pop(source.removesuffix(".py"), None)
    assert library.command(kind, source, "--allow-losses", *options).code == 0
    return source


def designs() -> list[str]:
    return sorted(file.name for file in Path().glob("*_design.py"))


@KINDS
@pytest.mark.parametrize("again", first(AGAIN, 2))
def test_an_import_with_a_name_is_made_again(library: Library, kind: str, again: str) -> None:
    source = imported(library, kind, *NAMED)
    before = library.state()
    options = again.split()
    checked = () if "--force" in options else ("--check",)
    assert library.command(kind, source, "--allow-losses", *options, *checked).code == 0
    assert library.command(kind, source, "--allow-losses", *options).code == 0
    assert designs() == ["desk_design.py"]
    assert library.state() == before


@KINDS
def test_an_import_into_a_module_of_another_name_is_made_again(library: Library, kind: str) -> None:
    source = imported(library, kind, "--out", "front.py", *NAMED)
    before = library.state()
    assert library.command(kind, source, "--out", ".", "--check").code == 0
    assert library.command(kind, source, "--allow-losses").code == 0
    assert (designs(), library.state()) == ([], before)


def test_each_option_of_an_api_is_that_of_the_last_import(library: Library) -> None:
    options = ("--only", "*_books", "--rename", "find_books=search", "--read-only", *NAMED)
    assert library.imported(3, *options).code == 0
    lock = json.loads(Path("desk_design.import.json").read_text("utf-8"))
    assert lock["options"].keys() == {"name", "service", "only", "rename", "read-only", "server"}
    before = library.state()
    assert library.run("--out", ".").code == 0
    assert library.run("--out", ".", "--force").code == 0
    assert library.state() == before
    assert library.run("--rename", "find_books=look").code == 0
    assert 'd.Tool(\n        "look"' in Path("desk_design.py").read_text("utf-8")
    assert designs() == ["desk_design.py"]


def test_another_name_is_another_design_and_two_are_told_apart(library: Library) -> None:
    source = imported(library, "mcp", "--name", "desk")
    imported(library, "mcp", "--name", "counter")
    assert designs() == ["counter_design.py", "desk_design.py"]
    done = library.command("mcp", source, "--out", ".")
    assert done.code == 2
    assert "several designs were imported from shelf.json: counter_design.py, desk_design.py" in done.err
    assert "--out counter_design.py" in done.err
    assert library.command("mcp", source, "--out", "desk_design.py", "--check").code == 0
    assert library.command("mcp", source, "--name", "desk", "--check").code == 0
    imported(library, "mcp", "--name", "shelf")
    assert library.command("mcp", source, "--check").code == 0


def test_the_source_of_another_kind_or_folder_is_another_one(library: Library) -> None:
    imported(library, "mcp", *NAMED)
    assert library.command("jsonschema", "shelf.json", "--allow-losses").code == 0
    assert designs() == ["desk_design.py", "shelf_design.py"]
    Path("far").mkdir()
    Path("far/other.json").write_text(json.dumps([TOOL]), "utf-8")
    assert library.command("mcp", "far/other.json", "--allow-losses").code == 0
    assert designs() == ["desk_design.py", "other_design.py", "shelf_design.py"]
    assert library.command("mcp", "far/../far/other.json", "--out", ".", "--check").code == 0


def test_addresses_are_accepted_anew_after_force(library: Library) -> None:
    source = imported(library, "openapi", "--accept-server", *NAMED)
    assert "accepted=False" not in Path("desk_design.py").read_text("utf-8")
    assert library.command("openapi", source, "--allow-losses", "--force").code == 0
    assert "accepted=False" in Path("desk_design.py").read_text("utf-8")
