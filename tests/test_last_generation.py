"""A run of `toolgen gen` that has nothing to do ends before the design is imported, and no other one does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import DESIGN, ProjectFolder, forget, in_a_process
from toolgen.cli.app import run
from toolgen.cli.last_generation import CACHE, nothing_to_do

CURRENT = "app/gen: up to date"
READS = """\
import json
from os import environ
from pathlib import Path

from app.words import ABOUT

HALL = json.loads((Path(__file__).parent / "hall.json").read_text("utf-8"))
LANGUAGE = environ.get("APP_LANGUAGE", "")
try:
    MORE = (Path(__file__).parent / "more.txt").read_text("utf-8")
except FileNotFoundError:
    MORE = ""
"""
Change = Callable[[ProjectFolder, pytest.MonkeyPatch], object]


@pytest.fixture
def generated(project: ProjectFolder) -> ProjectFolder:
    """A project whose last run is recorded."""
    project.write("app/words.py", 'ABOUT = "Where people meet."\n')
    project.write("app/hall.json", "{}")
    project.write("app/design.py", f"{READS}{DESIGN}")
    generate()
    return project


def generate(*options: str) -> int:
    """Run `toolgen gen` with the design freshly imported."""
    forget()
    return run(["gen", *options])


def edited(name: str, text: str = "\n") -> Change:
    return lambda project, _: project.write(name, (project.path / name).read_text("utf-8") + text)


def written(name: str, text: str = "") -> Change:
    return lambda project, _: project.write(name, text)


def removed(name: str) -> Change:
    return lambda project, _: (project.path / name).unlink()


def pipe(project: ProjectFolder, _: object) -> None:
    file = project.path / "app/gen/hall/toolsets/people/types.py"
    file.unlink()
    os.mkfifo(file)


def package(project: ProjectFolder, patch: pytest.MonkeyPatch) -> None:
    folder = project.path / "site-packages"
    folder.mkdir()
    patch.setattr(sys, "path", [*sys.path, str(folder)])


CHANGES: dict[str, Change] = {
    "the design": edited("app/design.py"),
    "a module of it": edited("app/words.py"),
    "a file that it read": written("app/hall.json", "[]"),
    "a file that was not there": written("app/more.txt"),
    "a variable that it asked for": lambda _, patch: patch.setenv("APP_LANGUAGE", "de"),
    "a module in the place of another": written("app/words/__init__.py"),
    "a module in the place of Python's": written("json.py"),
    "the settings": edited("pyproject.toml", 'stubs = "handlers"\n'),
    "a generated file": edited("app/gen/hall/toolsets/people/types.py"),
    "a generated file that is gone": removed("app/gen/hall/toolsets/people/types.py"),
    "a pipe in its place": pipe,
    "a file beside the generated ones": written("app/gen/more.py"),
    "the manifest": edited("app/gen/.toolgen.json", " "),
    "a stub": edited("executors/hall/people.py"),
    "a stub that is gone": removed("executors/hall/people.py"),
    "what a killed run left": written(".toolgen-staging-1/.toolgen-staging"),
    "another folder": lambda project, patch: patch.chdir(project.path / "app"),
    "a package": package,
    "another Python": lambda _, patch: patch.setattr(sys, "version", "3.99"),
    "the record": written(f"{CACHE}/gen.json", '{"version": 1, "made_by"'),
    "a record of another kind": written(f"{CACHE}/gen.json", "[]"),
    "a record that is gone": removed(f"{CACHE}/gen.json"),
}


def test_an_unchanged_design_is_not_evaluated_again(generated: ProjectFolder) -> None:
    for command in (["gen"], ["gen", "--check"]):
        assert nothing_to_do(command) == CURRENT
    assert nothing_to_do(["gen", "--force"]) == nothing_to_do(["gen", "--diff"]) == ""
    assert (generated.path / CACHE / ".gitignore").read_text() == "*\n"


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_is_looked_at(
    generated: ProjectFolder, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHANGES[what](generated, monkeypatch)
    assert nothing_to_do(["gen"]) == nothing_to_do(["gen", "--check"]) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", ["the design", "a stub", "a generated file", "a record that is gone"])
def test_the_run_after_a_change_is_recorded(
    generated: ProjectFolder, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHANGES[what](generated, monkeypatch)
    generate()
    generate()  # the first one may have had something to say
    assert nothing_to_do(["gen"]) == CURRENT


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "import time as clock",
        "from importlib import import_module",
        "import yaml",
        "from datetime import date; TODAY = date.today()",
        "import uuid; ID = uuid.uuid4()",
        "from pathlib import Path; IS_THERE = Path('x').exists()",
        "import os; FILES = os.listdir('.')",
        "from pathlib import Path; FILES = [*Path('.').glob('*.json')]",
        "X = __import__('random').random()",
        "import app.chance",
    ],
)
def test_a_design_that_may_say_something_else_is_evaluated_each_time(
    project: ProjectFolder, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write(
        "app/chance.py", "def number():\n    import random\n    return random.random()\nX = number()\n"
    )
    project.write("app/design.py", f"{line}\n{DESIGN}")
    assert generate() == 0
    assert nothing_to_do(["gen"]) == ""


def test_a_run_with_something_to_say_says_it_each_time(project: ProjectFolder) -> None:
    tool = 'lost = Tool("lost", "Find it.", Args(Attribute("a", String, "A name.", required=True)))\n'
    project.write("app/design.py", DESIGN.replace("people = Toolset(", f"{tool}people = Toolset("))
    assert generate() == 0
    assert nothing_to_do(["gen"]) == ""


def test_an_error_is_no_record(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN.replace("max_length=40", "max_length=-4"))
    assert generate() == 1
    assert nothing_to_do(["gen"]) == ""


def test_the_values_of_variables_are_not_written(
    generated: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_LANGUAGE", "a language")
    generate()
    text = (generated.path / CACHE / "gen.json").read_text("utf-8")
    assert [*json.loads(text)["variables"]] == ["APP_LANGUAGE"]
    assert "a language" not in text


@pytest.mark.exhaustive
def test_a_process_ends_before_pydantic_is_imported(project: ProjectFolder) -> None:
    first = in_a_process(project.path, "-m", "toolgen", "gen")
    assert (first.returncode, "up to date" in first.stderr) == (0, False)
    program = """\
import sys, toolgen.cli
sys.argv = ["toolgen", "gen"]
toolgen.cli.main()
print([name for name in ("pydantic", "typer", "app") if name in sys.modules])
"""
    second = in_a_process(project.path, "-c", program)
    assert (second.returncode, second.stdout, second.stderr) == (0, "[]\n", f"{CURRENT}\n")
    assert not list(Path(project.path, CACHE).glob("gen.*.json"))
