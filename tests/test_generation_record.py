"""`toolgen gen` of a design that did not change does nothing, and nothing vouches for code but its bytes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from toolgen.cli.generation_record import CACHE, write_record
from toolgen.cli.output_plan import output_plan

from .conftest import DESIGN, ProjectFolder, in_a_process

CURRENT = "app/gen: up to date\n"
RECORD = f"{CACHE}/gen.json"
TYPES = "app/gen/hall/toolsets/people/types.py"
STUB = "executors/hall/people.py"
READING = f"""\
import os

from app.words import ABOUT

{DESIGN}
design = Design(
    "app",
    ABOUT,
    Service("hall", os.environ.get("APP_LANGUAGE", "Where people meet."), people),
)
"""
Change = Callable[[ProjectFolder, pytest.MonkeyPatch], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs `generated` leaves a copy for the others."""
    return tmp_path_factory.mktemp("generated") / "project"


@pytest.fixture
def generated(project: ProjectFolder, made: Path) -> ProjectFolder:
    """A project whose code is generated, with a design that reads a module and the environment."""
    if not made.exists():
        project.write("app/words.py", 'ABOUT = "A small application."\n')
        project.write("app/design.py", READING)
        assert project.run("gen").code == 0
        shutil.copytree(project.path, made)
    else:
        shutil.copytree(made, project.path, dirs_exist_ok=True)
    return project


def generations(project: ProjectFolder, *options: str) -> int:
    """Run `gen`, and return how often code was generated."""
    with patch("toolgen.cli.output_plan.output_plan", wraps=output_plan) as called:
        project.run("gen", *options)
    return called.call_count


def edited(name: str, text: str = "\n") -> Change:
    def edit(project: ProjectFolder, _: object) -> None:
        with open(project.path / name, "a") as file:
            file.write(text)

    return edit


def written(name: str, text: str = "") -> Change:
    return lambda project, _: project.write(name, text)


def removed(name: str) -> Change:
    return lambda project, _: (project.path / name).unlink()


def in_its_place(name: str, put: Callable[[Path], object]) -> Change:
    def change(project: ProjectFolder, _: object) -> None:
        (project.path / name).unlink()
        put(project.path / name)

    return change


CHANGES: dict[str, Change] = {
    "a comment of the design": edited("app/design.py", "# A comment.\n"),
    "a module of it": edited("app/words.py", "ABOUT = 'Another one.'\n"),
    "a module in the place of another": written("app/words/__init__.py", "ABOUT = 'A package.'\n"),
    "a variable that it asks for": lambda _, patch: patch.setenv("APP_LANGUAGE", "Where they meet."),
    "the settings": edited("pyproject.toml", 'stubs = "handlers"\n'),
    "a generated file": edited(TYPES),
    "a generated file that is gone": removed(TYPES),
    "a pipe in its place": in_its_place(TYPES, os.mkfifo),
    "a link in its place": in_its_place(TYPES, lambda file: file.symlink_to("/dev/null")),
    "a file beside the generated ones": written("app/gen/more.py"),
    "the manifest": edited("app/gen/.toolgen.json", " "),
    "a stub": edited(STUB),
    "a stub that is gone": removed(STUB),
    "a pipe in the place of a stub": in_its_place(STUB, os.mkfifo),
    "a module beside the stubs": written("executors/hall/more.py"),
    "another Python": lambda _, patch: patch.setattr(
        "toolgen.cli.generation_record.sys", SimpleNamespace(version_info=(3, 99, 0))
    ),
    "a pipe in the place of the record": in_its_place(RECORD, os.mkfifo),
    "a deep record": written(RECORD, "[" * 100_000),
    "a broken record": written(RECORD, '{"version": 4, "generation"'),
    "a record of another kind": written(RECORD, "[]"),
    "a record that is no text": in_its_place(RECORD, lambda file: file.write_bytes(b"\xff")),
    "a record that is gone": removed(RECORD),
}


def test_an_unchanged_design_is_generated_once(generated: ProjectFolder) -> None:
    before = generated.files()
    assert generations(generated) == 0
    assert generated.run("gen").err == CURRENT
    assert generated.files() == before
    assert (generated.path / CACHE / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("option", ["--check", "--diff", "--force"])
def test_who_asks_for_the_bytes_gets_them_compared(generated: ProjectFolder, option: str) -> None:
    assert generations(generated, option) == 1
    assert generated.run("gen", option).err == CURRENT


SIMILAR = {
    "a module in the place of another",
    "a pipe in the place of a stub",
    "a module beside the stubs",
    "a broken record",
    "a record of another kind",
    "a record that is no text",
}
"""Changes that are found as others are."""


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.exhaustive] if what in SIMILAR else []) for what in CHANGES],
)
def test_what_changes_is_generated_again(
    generated: ProjectFolder, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHANGES[what](generated, monkeypatch)
    assert generations(generated) == 1
    if "pipe" not in what and "link" not in what and "beside" not in what:
        generated.run("gen")  # the first one may have had something to say
        assert generations(generated) == 0
        assert generated.run("gen", "--check").code == 0


def test_a_folder_of_another_language_counts(generated: ProjectFolder) -> None:
    assert generations(generated, "--typescript", "web") == 1
    assert generations(generated, "--typescript", "web") == 0
    (generated.path / "web/index.ts").unlink()
    assert generations(generated, "--typescript", "web") == 1
    assert (generated.path / "web/index.ts").exists()
    assert generations(generated) == 1


def test_a_project_may_move(generated: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(generated.path, generated.path / "copy")
    monkeypatch.chdir(generated.path / "copy")
    assert generations(generated) == 0


def test_the_record_of_other_settings_in_the_folder_does_not_count(generated: ProjectFolder) -> None:
    generated.write("other.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "other"\n')
    assert generations(generated, "--config", "other.toml") == 1
    assert generations(generated) == 1


def test_toolgen_itself_counts(generated: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    own = generated.path / "toolgen"
    own.mkdir()
    monkeypatch.setattr("toolgen.cli.generation_record._TOOLGEN", own)
    for text in ("1", "2"):
        (own / "module.py").write_text(text)
        os.utime(own / "module.py", (0, 0))
        assert (generations(generated), generations(generated)) == (1, 0)


@pytest.mark.parametrize("package", ["ruff", "jinja2", "jsonschema_rs"])
def test_packages_that_make_texts_count(
    generated: ProjectFolder, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = dict.fromkeys(["ruff", "jinja2", "jsonschema_rs", "pydantic", "pydantic_core"], "0.1")
    monkeypatch.setattr("toolgen.cli.generation_record.version", lambda name: versions[name])
    assert (generations(generated), generations(generated)) == (1, 0)
    versions[package] = "0.2"
    assert (generations(generated), generations(generated)) == (1, 0)


def test_a_run_with_something_to_say_says_it_each_time(project: ProjectFolder) -> None:
    project.write(
        "app/design.py", DESIGN.replace("people = Toolset(", 'lost = Tool("lost", "L.")\npeople = Toolset(')
    )
    for _ in range(2):
        assert "tool 'lost' is not part of the design" in project.run("gen").err


def test_a_clause_that_is_left_out_by_a_variable_is_named(
    generated: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated.write(
        "app/design.py", f'{READING}\nif os.environ.get("APP_LOST"):\n    lost = Tool("lost", "L.")\n'
    )
    assert generated.run("gen").code == 0
    monkeypatch.setenv("APP_LOST", "1")
    assert "tool 'lost' is not part of the design" in generated.run("gen").err


def test_a_design_with_a_mistake_is_no_record(generated: ProjectFolder) -> None:
    generated.write("app/design.py", READING.replace("max_length=40", "max_length=-4"))
    for _ in range(2):
        assert generated.run("gen").code == 1


def test_a_design_that_says_the_same_in_other_words_gets_its_stamp(generated: ProjectFolder) -> None:
    generated.write("app/design.py", READING.replace("people = Toolset(", "longest = 40\npeople = Toolset("))
    generated.run("gen")
    assert generated.run("gen", "--check").code == 0


OWN = """\
class Own(Tool):
    pass

design = Design("app", "An app.", Service("hall", "Hall.", Toolset("people", "All.", Own("greet", "Greet."))))
"""


def test_a_design_of_unknown_values_is_generated_each_time(project: ProjectFolder) -> None:
    project.write("app/design.py", f"from toolgen.dsl import *\n{OWN}")
    assert project.run("gen").code == 0
    assert generations(project) == generations(project) == 1


RUN = """\
import sys
from toolgen.cli import main
sys.argv = ["toolgen", "gen"]
sys.exit(main())
"""


NODE = """\
from toolgen.dsl import *

class Node: pass
MARK = str(Node())
tool = Tool("greet", f"Greet with {MARK}.", Args(Attribute("a", String, "A.", required=True)))
design = Design("app", "An app.", Service("hall", "A hall.", Toolset("people", "People.", tool)))
"""


def test_a_text_with_the_address_of_an_object_is_that_of_the_process(project: ProjectFolder) -> None:
    """It is another one in each."""
    project.write("app/design.py", NODE)
    program = RUN.replace("sys.exit(main())", "main()\nprint(sys.modules['app.design'].MARK)")
    for _ in range(3):
        done = in_a_process(project.path, "-c", program)
        assert done.returncode == 0, done.stderr
        specs = (project.path / "app/gen/hall/toolsets/people/specs.py").read_text("utf-8")
        assert f'"Greet with {done.stdout.strip()}."' in specs


@pytest.mark.parametrize("has_record", [True, False])
def test_a_digest_in_the_manifest_vouches_for_no_code(project: ProjectFolder, has_record: bool) -> None:
    """Who edits generated code and its digest, such as in a pull request, passes no gate."""
    for name, foreign in (("gen/s/__init__.py", "print('FOREIGN')\n"), ("web/index.ts", "// foreign\n")):
        project.write(
            "pyproject.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "gen"\ntypescript = "web"\n'
        )
        project.write("app/design.py", DESIGN.replace('"hall"', '"s"'))
        project.run("gen")
        tree, _, path = name.partition("/")
        good = (project.path / name).read_text()
        project.write(name, good + foreign)
        manifest = project.path / tree / ".toolgen.json"
        document = json.loads(manifest.read_text())
        document["files"][path]["written"] = sha256((good + foreign).encode()).hexdigest()
        manifest.write_text(json.dumps(document, indent=2) + "\n")
        if not has_record:
            shutil.rmtree(project.path / CACHE)
        checked = project.run("gen", "--check")
        assert (checked.code, f"{name}: error: the file does not match the design" in checked.err) == (
            1,
            True,
        )
        shown = project.run("gen", "--diff")
        assert (shown.code, f"-{foreign}" in shown.out) == (1, True)
        assert "1 written" in project.run("gen").err
        assert (project.path / name).read_text() == good
        assert project.run("gen", "--check").code == 0


def test_a_record_that_vouches_for_foreign_code_passes_no_check(generated: ProjectFolder) -> None:
    """Git ignores it; who adds it all the same deceives `gen`, and not the gates."""
    foreign = (generated.path / TYPES).read_text() + "print('FOREIGN')\n"
    generated.write(TYPES, foreign)
    record = json.loads((generated.path / RECORD).read_text())
    record["files"][TYPES] = sha256(foreign.encode()).hexdigest()
    generated.write(RECORD, json.dumps(record))
    assert generations(generated) == 0
    assert generated.run("gen", "--check").code == 1
    assert generated.run("gen", "--diff").code == 1
    assert "1 written" in generated.run("gen", "--force").err
    assert generated.run("gen", "--check").code == 0


def interrupted(project: ProjectFolder, change: Callable[[], object]) -> None:
    """Generate, with a change by somebody else when the code is written, and before the record is."""

    def write(*arguments: Any) -> None:
        change()
        write_record(*arguments)

    with patch("toolgen.cli.gen.write_record", write):
        assert project.run("gen").code == 0


@pytest.mark.parametrize("name", [TYPES, STUB, "app/words.py"])
def test_what_somebody_saves_during_a_run_is_looked_at(generated: ProjectFolder, name: str) -> None:
    file = generated.path / name
    generated.write("app/design.py", READING.replace("max_length=40", "max_length=41"))
    interrupted(generated, lambda: file.write_text(f"{file.read_text()}# mine\n"))
    assert generations(generated) == 1
    assert generated.run("gen", "--check").code == 0


def test_settings_that_are_saved_during_a_run_are_those_of_the_next(generated: ProjectFolder) -> None:
    generated.write("app/design.py", READING.replace("max_length=40", "max_length=41"))
    settings = (generated.path / "pyproject.toml").read_text() + 'stubs = "handlers"\n'
    interrupted(generated, lambda: generated.write("pyproject.toml", settings))
    assert "new stub handlers/hall/people.py" in generated.run("gen").err


def test_the_record_follows_no_link(project: ProjectFolder) -> None:
    file = project.write("notes.txt", "mine")
    (project.path / CACHE).mkdir()
    for name in (".gitignore", "gen.json"):
        (project.path / CACHE / name).symlink_to(file)
    assert project.run("gen").code == 0
    assert file.read_text() == "mine"
    assert generations(project) == 0


def test_a_project_whose_record_cannot_be_written_is_generated_each_time(project: ProjectFolder) -> None:
    project.write(CACHE, "a file, which no user may make a folder of")
    assert project.run("gen").code == 0
    assert generations(project) == 1


@pytest.mark.exhaustive
def test_an_unchanged_run_loads_neither_templates_nor_checks(project: ProjectFolder) -> None:
    assert in_a_process(project.path, "-m", "toolgen", "gen").returncode == 0
    names = ("jinja2", "typer", "toolgen.dsl.evaluation", "toolgen.codegen.plan")
    program = (
        f"{RUN.replace('sys.exit(main())', 'main()')}print([name for name in {names} if name in sys.modules])"
    )
    done = in_a_process(project.path, "-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", CURRENT)
