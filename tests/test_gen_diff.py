"""`toolgen gen --diff` and `--format`: what would change and what is wrong, for people and for programs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .conftest import DESIGN, ProjectFolder, surroundings
from .findings import findings_in
from .terminal import at_a_terminal

TYPES = "app/gen/hall/toolsets/people/types.py"
HINT = "make the change in the design or in an executor; toolgen gen overwrites this file"
STUB = "executors/hall/people.py"


def test_a_first_run_is_shown_as_new_files(project: ProjectFolder) -> None:
    before = project.files()
    done = project.run("gen", "--diff")
    assert done.code == 1
    names = [line.removeprefix("+++ ") for line in done.out.splitlines() if line.startswith("+++ ")]
    assert {TYPES, STUB, "executors/__init__.py", "app/gen/py.typed"} <= set(names)
    assert done.out.count("--- /dev/null\n+++ ") == len(names)
    assert done.err == f"{len(names)} files would change; nothing was written\n"
    assert project.files() == before
    project.run("gen")
    assert {name for name in project.files() if name not in before} == {*names, "app/gen/.toolgen.json"}


def test_a_change_is_shown_line_by_line(project: ProjectFolder) -> None:
    project.run("gen")
    project.write("app/design.py", DESIGN.replace("max_length=40", "max_length=41"))
    before = project.files()
    done = project.run("gen", "--diff")
    assert (done.code, done.err) == (1, "3 files would change; nothing was written\n")
    field = '     name: Annotated[str, Field(description="Whom to greet.", max_length={})]'
    assert done.out.startswith(f"--- {TYPES}\n+++ {TYPES}\n@@ ")
    assert f"\n-{field.format(40)[1:]}\n+{field.format(41)[1:]}\n" in done.out
    assert ".toolgen.json" not in done.out
    assert project.files() == before


@pytest.mark.exhaustive
def test_edited_deleted_and_extended_files_are_shown(project: ProjectFolder) -> None:
    project.run("gen")
    project.write(TYPES, "mine")
    done = project.run("gen", "--diff")
    assert done.out.startswith(f"--- {TYPES}\n+++ {TYPES}\n@@ -1 +1,")
    assert "\n-mine\n\\ No newline at end of file\n+" in done.out
    project.run("gen")
    project.add_tool()
    assert f"--- {STUB}\n+++ {STUB}\n" in project.run("gen", "--diff").out
    project.write("app/design.py", DESIGN.replace('"people"', '"persons"'))
    assert f"--- {TYPES}\n+++ /dev/null\n" in project.run("gen", "--diff").out


def test_nothing_to_change_is_success(project: ProjectFolder) -> None:
    project.run("gen")
    done = project.run("gen", "--diff")
    assert (done.code, done.out, done.err) == (0, "", "app/gen: up to date\n")


@pytest.mark.exhaustive
def test_bytes_and_line_ends_are_shown_as_they_are(project: ProjectFolder) -> None:
    project.run("gen")
    (project.path / TYPES).write_bytes(b"a\x0cb\r\n\xff\n")
    done = subprocess.run(
        [sys.executable, "-m", "toolgen", "gen", "--diff"],
        cwd=project.path,
        env={**surroundings(), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert done.stdout.startswith(f"--- {TYPES}\n+++ {TYPES}\n".encode())
    assert b"\n-a\x0cb\r\n-\xff\n+" in done.stdout


@pytest.mark.exhaustive
def test_a_reader_that_has_seen_enough_is_no_bug(project: ProjectFolder) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "toolgen", "gen", "--diff"],
            cwd=project.path,
            env=surroundings(),
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr.endswith("files would change; nothing was written\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), pytest.param({"NO_COLOR": "1"}, False, marks=pytest.mark.exhaustive)],
)
def test_colours_are_for_terminals(
    project: ProjectFolder, environment: dict[str, str], coloured: bool
) -> None:
    project.run("gen")
    project.write(TYPES, "mine\n")
    assert "\x1b" not in project.run("gen", "--diff").out
    named = {"TERM": "xterm", "NO_COLOR": "", **environment}
    said = at_a_terminal(project, ["gen", "--diff"], environment=named)
    assert ("\x1b[31m-mine\x1b[0m" in said, "\x1b" in said) == (coloured, coloured)
    assert "mine" in said


def test_findings_as_json_have_the_keys_of_diagnostics(project: ProjectFolder) -> None:
    project.run("gen")
    project.write(TYPES, "mine\n")
    (project.path / "app/gen/types.py").unlink()
    done = project.run("gen", "--check", "--format", "json")
    assert (done.code, done.err) == (1, "the output is not up to date; run: toolgen gen\n")
    assert findings_in(done.out) == [
        {
            "severity": "error",
            "code": "output-missing",
            "message": "the file is missing",
            "file": "app/gen/types.py",
            "hint": "run: toolgen gen",
            "suppressible": False,
            "related": [],
        },
        {
            "severity": "error",
            "code": "output-edited",
            "message": "the file was edited",
            "file": TYPES,
            "hint": HINT,
            "suppressible": False,
            "related": [],
        },
    ]
    project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
    done = project.run("gen", "--check", "--format", "json")
    assert (done.code, done.err) == (1, "1 error; nothing was generated\n")
    assert [finding["code"] for finding in findings_in(done.out)] == ["required-default"]


def test_findings_are_annotations_for_github(project: ProjectFolder) -> None:
    project.run("gen")
    project.write(TYPES, "mine\n")
    done = project.run("gen", "--check", "--format", "github")
    assert done.code == 1
    assert done.out == (f"::error file={TYPES},title=output-edited::the file was edited%0Ahint: {HINT}\n")


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", ["text", "json", "github"])
def test_a_current_output_says_nothing_to_programs(project: ProjectFolder, format: str) -> None:
    project.run("gen")
    done = project.run("gen", "--check", "--format", format)
    assert (done.code, done.out, done.err) == (0, "", "app/gen: up to date\n")


def test_a_file_that_was_edited_and_is_no_longer_generated_has_a_hint_of_its_own(
    project: ProjectFolder,
) -> None:
    project.run("gen")
    project.write(TYPES, "mine\n")
    project.write("app/design.py", DESIGN.replace('"people"', '"persons"'))
    project.run("gen")
    done = project.run("gen", "--check")
    assert done.code == 1
    assert done.err == (
        f"{TYPES}: error: the file is no longer generated, but was edited [output-kept]\n"
        "  hint: delete it if you do not need it\n"
        "the output is not up to date; delete the files that are no longer generated\n"
    )


def test_an_unknown_format_is_wrong_usage(project: ProjectFolder) -> None:
    done = project.run("gen", "--format", "xml")
    assert (done.code, done.out) == (2, "")
    assert "'github'" in done.err
