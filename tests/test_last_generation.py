"""A run of `toolgen gen` that has nothing to do ends before the design is imported, and no other one does."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from tests.conftest import DESIGN, ProjectFolder, forget, in_a_process
from toolgen.cli.app import run
from toolgen.cli.config import read_project
from toolgen.cli.generation_inputs import recorded_inputs
from toolgen.cli.last_generation import CACHE, Memory, nothing_to_do
from toolgen.cli.load import load_design

CURRENT = "app/gen: up to date"
READS = """\
import json
from os import environ
from pathlib import Path
from types import FrameType

from app.words import ABOUT

HALL = json.loads((Path(__file__).parent / "hall.json").read_text("utf-8"))
LANGUAGE = environ.get("APP_LANGUAGE", "")
try:
    MORE = (Path(__file__).parent / "more.txt").read_text("utf-8")
except FileNotFoundError:
    MORE = ""
try:
    from .local import THEME
except ImportError:
    THEME = ""
try:
    from app import extra
except ImportError:
    extra = None
"""
STUBS = 'stubs = "app/executors"\n'
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


def link(project: ProjectFolder, _: object) -> None:
    file = project.path / "app/gen/hall/toolsets/people/types.py"
    file.symlink_to(file.rename(project.path / "types.py"))


def no_record(project: ProjectFolder, _: object) -> None:
    (project.path / CACHE / "gen.json").unlink()
    os.mkfifo(project.path / CACHE / "gen.json")


def huge_record(project: ProjectFolder, _: object) -> None:
    os.truncate(project.path / CACHE / "gen.json", 1 << 40)


def package(project: ProjectFolder, patch: pytest.MonkeyPatch) -> None:
    folder = project.path / "site-packages"
    folder.mkdir()
    patch.setattr(sys, "path", [*sys.path, str(folder)])


CHANGES: dict[str, Change] = {
    "the design": edited("app/design.py"),
    "a module of it": edited("app/words.py"),
    "a file that it read": written("app/hall.json", "[]"),
    "a file that was not there": written("app/more.txt"),
    "a module that was not there": written("app/local.py"),
    "a module that was asked of a package": written("app/extra/__init__.py"),
    "a variable that it asked for": lambda _, patch: patch.setenv("APP_LANGUAGE", "de"),
    "a module in the place of another": written("app/words/__init__.py"),
    "a module in the place of Python's": written("json.py"),
    "the settings": edited("pyproject.toml", 'stubs = "handlers"\n'),
    "a generated file": edited("app/gen/hall/toolsets/people/types.py"),
    "a generated file that is gone": removed("app/gen/hall/toolsets/people/types.py"),
    "a pipe in its place": pipe,
    "a link in its place": link,
    "a file beside the generated ones": written("app/gen/more.py"),
    "the manifest": edited("app/gen/.toolgen.json", " "),
    "a stub": edited("executors/hall/people.py"),
    "a stub that is gone": removed("executors/hall/people.py"),
    "what a killed run left": written(".toolgen-staging-1/.toolgen-staging"),
    "another folder": lambda project, patch: patch.chdir(project.path / "app"),
    "a package": package,
    "another Python": lambda _, patch: patch.setattr(sys, "version", "3.99"),
    "the language of the machine": lambda _, patch: patch.setenv("LC_ALL", "de_DE.ISO-8859-1"),
    "warnings that are errors": lambda _, patch: patch.setattr(sys, "warnoptions", ["error"]),
    "a folder of modules": lambda _, patch: patch.setattr(sys, "path", ["/modules", *sys.path]),
    "a pipe in place of the record": no_record,
    "a huge record": huge_record,
    "a deep record": written(f"{CACHE}/gen.json", "[" * 100_000),
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


def test_old_bytecode_that_python_takes_for_current_is_no_record(generated: ProjectFolder) -> None:
    file = generated.path / "app/words.py"
    py_compile.compile(str(file))
    before = file.stat()
    file.write_text(file.read_text().replace("meet", "walk"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    generate()
    assert nothing_to_do(["gen"]) == ""
    os.utime(file, (before.st_atime, before.st_mtime + 10))
    generate()
    assert nothing_to_do(["gen"]) == CURRENT


def test_a_file_that_is_another_one_during_the_run_is_no_record(project: ProjectFolder) -> None:
    """It is looked at after it was imported."""
    text = "X = set('ab')"
    file = project.write("app/words.py", text)
    project.write("app/design.py", f"import app.words\n{DESIGN}")
    generate()
    forget()
    settings = read_project(project.path / "pyproject.toml")
    with recorded_inputs(settings) as inputs:
        load_design(settings)
        file.write_text("")
        inputs.look()
        file.write_text(text)
    inputs.record(Memory({}, []), [])
    assert nothing_to_do(["gen"]) == ""


def interrupted(change: Callable[[], object]) -> None:
    """Generate, with a change by somebody else when the code is written, and before the record is."""

    def called(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "write_record":
            change()

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        assert generate() == 0
    finally:
        sys.setprofile(before)


def test_code_that_is_checked_out_during_the_run_is_compared_again(generated: ProjectFolder) -> None:
    code = generated.path / "app/gen"
    old = shutil.copytree(code, generated.path / "old")
    generated.write("app/words.py", 'ABOUT = "Where people are."\n')
    interrupted(lambda: shutil.copytree(old, code, dirs_exist_ok=True))
    assert nothing_to_do(["gen"]) == nothing_to_do(["gen", "--check"]) == ""
    assert generate("--check") == 1


def test_a_stub_that_is_saved_during_the_run_is_read_again(generated: ProjectFolder) -> None:
    stub = generated.path / "executors/hall/people.py"
    text = stub.read_text("utf-8").replace("def greet", "def meet")
    generated.write("app/words.py", 'ABOUT = "Where people are."\n')
    interrupted(lambda: stub.write_text(text, "utf-8"))
    assert nothing_to_do(["gen"]) == ""
    assert "meet" in generated.run("gen").err


@pytest.mark.parametrize("file", ["app/words.py", "pyproject.toml"])
def test_what_is_broken_during_a_run_is_left_to_the_next(project: ProjectFolder, file: str) -> None:
    project.write("app/words.py", "")
    broken = f"with open({file!r}, 'w') as file: print('(', file=file)"
    project.write("app/design.py", f"import app.words\n{broken}\n{DESIGN}")
    assert generate() == 0
    assert nothing_to_do(["gen"]) == ""


def test_a_package_that_gets_an_init_is_looked_at(project: ProjectFolder) -> None:
    (project.path / "app/__init__.py").unlink()
    generate()
    assert nothing_to_do(["gen"]) == CURRENT
    project.write("app/__init__.py", "raise ValueError")
    assert nothing_to_do(["gen"]) == ""


def test_a_module_without_source_is_read(project: ProjectFolder) -> None:
    file = project.write("app/words.py", "ABOUT = ''\n")
    py_compile.compile(str(file), str(file.with_suffix(".pyc")))
    file.unlink()
    project.write("app/design.py", f"import app.words\n{DESIGN}")
    assert generate() == 0


def test_executors_behind_a_link_are_looked_at(generated: ProjectFolder) -> None:
    hall = generated.path / "executors/hall"
    hall.symlink_to(hall.rename(generated.path / "hall"))
    generate()
    (generated.path / "hall/people.py").unlink()
    assert nothing_to_do(["gen"]) == ""


def test_a_check_that_has_no_stub_to_see_is_no_record(generated: ProjectFolder) -> None:
    (generated.path / "executors/hall/people.py").unlink()
    assert generate("--check") == 0
    assert nothing_to_do(["gen"]) == ""


def test_the_record_of_other_settings_in_the_folder_does_not_count(generated: ProjectFolder) -> None:
    generated.write("other.toml", '[tool.toolgen]\ndesign = "app.design"\nout = "other"\n')
    assert generate("--config", "other.toml") == 0
    assert nothing_to_do(["gen"]) == ""


def test_the_record_follows_no_link(project: ProjectFolder) -> None:
    file = project.write("notes.txt", "mine")
    (project.path / CACHE).mkdir()
    for name in (".gitignore", f"gen.{os.getpid()}.json"):
        (project.path / CACHE / name).symlink_to(file)
    assert generate() == 0
    assert file.read_text() == "mine"


def test_packages_that_are_not_there_are_no_error(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(project.path / "site-packages")])
    assert generate() == 0


def test_a_record_of_places_above_the_project_ends(generated: ProjectFolder) -> None:
    file = generated.path / CACHE / "gen.json"
    record = json.loads(file.read_text())
    outside = generated.path.parent / "outside"
    (generated.path / "app/gen").rename(outside)
    record["trees"] = {str(outside): record["trees"]["app/gen"]}
    file.write_text(json.dumps(record))
    nothing_to_do(["gen"])


def test_a_run_in_a_folder_that_is_gone_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
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
    assert "APP_LANGUAGE" in json.loads(text)["variables"]
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


@pytest.mark.parametrize(("size", "says"), [(40 << 20, CURRENT), (200 << 20, "")])
def test_a_large_file_is_read_each_time_and_a_huge_one_is_not(
    generated: ProjectFolder, size: int, says: str
) -> None:
    """As large as the catalogue of 10,000 tools."""
    generated.write("app/more.txt", "")
    os.truncate(generated.path / "app/more.txt", size)
    generate()
    assert nothing_to_do(["gen"]) == says


def test_a_folder_for_temporary_files_is_no_input(
    generated: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    generate("--force")
    monkeypatch.setenv("TMPDIR", str(generated.path))
    assert nothing_to_do(["gen"]) == CURRENT


LOGS = 'log = open("log.txt", "w")\nlog.write("all")\nloop = [log]\nloop.append(loop)\n'


@pytest.mark.parametrize(
    ("entry", "more", "end"),
    [
        ("command", "", "True False False"),
        ("main", "", "True False False"),
        ("main", LOGS, "False True True"),
    ],
)
def test_what_a_design_has_written_is_there_at_the_end_of_the_process(
    project: ProjectFolder, entry: str, more: str, end: str
) -> None:
    """The process of a recorded run ends without a look for garbage, of which an open file may be a part."""
    project.write("app/design.py", f"{DESIGN}{more}")
    program = f"""\
import atexit, gc, sys
frozen = gc.get_freeze_count()  # Python 3.12 begins with some
def end():
    print(gc.get_freeze_count() > frozen, gc.isenabled(), hasattr(sys.modules["app.design"], "design"))
atexit.register(end)  # before all others, so that it is called last
from toolgen.cli import {entry}
sys.argv = ["toolgen", "gen"]
{entry}()
"""
    done = in_a_process(project.path, "-c", program)
    assert done.stdout == f"{end}\n", done.stderr
    assert not more or (project.path / "log.txt").read_text("utf-8") == "all"
