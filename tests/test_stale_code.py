"""That the generated code is older than its design, or is not there, is said by every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolgen.codegen.sources import stamp

from .conftest import DESIGN, ProjectFolder

MAIN = """\
from app.gen.hall.toolsets import people
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime


class People(people.PeopleExecutor):
    async def greet(self, payload, ctx):
        return people.GreetResult(text=f"Hello {payload.name}")


def runtime():
    runtime = Runtime(engine=InProcessEngine("runs.db"))
    runtime.tools.register(people.registration(People()))
    return runtime
"""
CALL = ("call", "greet", '{"name": "Ada"}', "--session", "s")
STALE = "warning: the code in app/gen is older than the design: app/design.py changed; run: toolgen gen\n"
CHANGED = DESIGN.replace("max_length=40", "max_length=50")


@pytest.fixture
def hall(project: ProjectFolder) -> ProjectFolder:
    project.write("app/main.py", MAIN)
    assert project.run("gen").code == 0
    return project


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command", [CALL, ("runs", "list"), ("tools", "list"), ("approve",)], ids=lambda c: c[0]
)
def test_commands_say_that_the_code_is_older(hall: ProjectFolder, command: tuple[str, ...]) -> None:
    assert "older" not in hall.run(*command).err
    hall.write("app/design.py", CHANGED)
    done = hall.run(*command)
    assert (done.code, done.err.startswith(STALE)) == (0, True)
    hall.run("gen")
    assert "older" not in hall.run(*command).err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    [
        f"# A comment.\n{DESIGN}",
        DESIGN.replace('    "people",\n    "Talk', '    "people", "Talk'),
    ],
    ids=["comment", "layout"],
)
def test_comments_and_layout_do_not_count(hall: ProjectFolder, text: str) -> None:
    hall.write("app/design.py", text)
    assert hall.run(*CALL).err == ""
    assert hall.run("gen", "--check").code == 0


def test_a_module_that_the_design_imports_counts(project: ProjectFolder) -> None:
    project.write("app/main.py", MAIN)
    project.write("app/limits.py", "LONGEST = 40\n")
    used = DESIGN.replace("max_length=40", "max_length=LONGEST").replace(
        "from toolgen.dsl", "from app.limits import LONGEST\nfrom toolgen.dsl", 1
    )
    project.write("app/design.py", used)
    project.run("gen")
    assert project.run(*CALL).err == ""
    project.write("app/limits.py", "LONGEST = 50\n")
    assert "app/limits.py changed" in project.run(*CALL).err


def test_a_schema_that_the_design_names_counts(project: ProjectFolder) -> None:
    project.write("app/main.py", MAIN)
    project.write("app/greeting.json", '{"type": "string"}')
    named = DESIGN.replace('String, "The greeting."', 'JSONSchema("greeting.json"), "The greeting."')
    project.write("app/design.py", named.replace("Inject,", "Inject, JSONSchema,"))
    assert project.run("gen").code == 0
    assert project.run(*CALL).err == ""
    project.write("app/greeting.json", '{"type": "string", "maxLength": 40}')
    assert "app/greeting.json changed" in project.run(*CALL).err


def test_a_file_that_the_design_reads_by_itself_is_seen_by_gen_alone(project: ProjectFolder) -> None:
    project.write("app/main.py", MAIN)
    project.write("app/words.txt", "Greet a person.")
    reading = DESIGN.replace('"Greet a person."', 'Path("app/words.txt").read_text()')
    project.write(
        "app/design.py", reading.replace("\nfrom toolgen", "\nfrom pathlib import Path\n\nfrom toolgen")
    )
    assert project.run("gen").code == 0
    project.write("app/words.txt", "Greet somebody.")
    assert project.run(*CALL).err == ""
    assert project.run("gen", "--check").code == 1
    assert project.run("gen").err == "app/gen: 4 written\n"


def test_sources_that_are_not_there_are_skipped(hall: ProjectFolder) -> None:
    """What is deployed may hold the generated code alone."""
    (hall.path / "app/design.py").unlink()
    done = hall.run(*CALL)
    assert (done.code, done.err) == (0, "")


def test_a_worker_may_refuse_older_code(hall: ProjectFolder) -> None:
    hall.write("app/design.py", CHANGED)
    done = hall.run("worker", "--strict")
    assert done.code == 2
    assert "error: the code in app/gen is older than the design" in done.err
    assert "run: toolgen gen" in done.err


@pytest.mark.exhaustive
def test_the_stamp_alone_may_be_old(hall: ProjectFolder) -> None:
    """A design that says the same in other words: `gen` notes it, and `--check` asks for it."""
    hall.write("app/design.py", DESIGN.replace("people = Toolset(", "longest = 40\npeople = Toolset("))
    checked = hall.run("gen", "--check")
    assert checked.code == 1
    assert (
        "app/gen/.toolgen.json: error: the recorded digests of the design are out of date"
        in checked.err + checked.out
    )
    assert "up to date" in hall.run("gen").err
    assert hall.run("gen", "--check").code == 0
    assert hall.run(*CALL).err == ""


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest.pop("sources"),
        lambda manifest: manifest["sources"].pop("app/design.py"),
        lambda manifest: manifest.update(design="app.other"),
    ],
    ids=["no stamp", "a source less", "another design"],
)
def test_a_manifest_that_is_not_of_the_design_passes_no_check(
    hall: ProjectFolder, edit: Callable[[Any], object]
) -> None:
    """Without its stamp, `worker --strict` would begin with older code."""
    manifest = hall.path / "app/gen/.toolgen.json"
    text = manifest.read_text()
    document = json.loads(text)
    edit(document)
    manifest.write_text(json.dumps(document, indent=2) + "\n")
    checked = hall.run("gen", "--check")
    assert (checked.code, "the recorded digests of the design are out of date" in checked.err) == (1, True)
    assert hall.run("gen").code == 0
    assert manifest.read_text() == text


def test_the_syntax_of_a_known_text_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "design.py").write_text("x = 1\n")
    known = stamp(tmp_path, ["design.py"])
    marked = {"design.py": replace(known["design.py"], syntax="known")}
    assert stamp(tmp_path, ["design.py"], marked) == marked
    (tmp_path / "design.py").write_text("x = 1  # one\n")
    assert stamp(tmp_path, ["design.py"], marked)["design.py"].syntax == known["design.py"].syntax


def test_a_manifest_of_before_says_nothing(hall: ProjectFolder) -> None:
    manifest = hall.path / "app/gen/.toolgen.json"
    document = json.loads(manifest.read_text())
    assert document.pop("sources").keys() == {"app/__init__.py", "app/design.py"}
    manifest.write_text(json.dumps(document))
    hall.write("app/design.py", CHANGED)
    assert hall.run(*CALL).err == ""
    assert hall.run("gen").code == 0
    assert "sources" in json.loads(manifest.read_text())


def test_code_that_was_never_generated_is_named(project: ProjectFolder) -> None:
    project.write("app/main.py", MAIN)
    done = project.run(*CALL)
    assert (done.code, done.out) == (2, "")
    assert "error: No module named 'app.gen', which is generated from the design 'app.design'\n" in done.err
    assert done.err.endswith("  hint: run: toolgen gen\n")
