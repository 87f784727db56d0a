"""`toolgen gen`: what it writes, says and refuses, and with which exit code."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.cli import main

from .conftest import DESIGN, PACKAGE, ProjectFolder, in_a_process

TYPES = "app/gen/hall/toolsets/people/types.py"
STUB = "executors/hall/people.py"


def without(package: str, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command as if a package were not installed."""
    start = f"import sys; sys.modules[{package!r}] = None"
    return in_a_process(folder, "-c", f"{start}; from toolgen.cli import main; sys.exit(main({args!r}))")


def test_the_first_run_writes_code_and_stub_and_says_so_in_one_line(project: ProjectFolder) -> None:
    done = project.run("gen")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("app/gen: ")
    assert done.err.endswith(f" written, new stub {STUB}\n")
    assert {TYPES, STUB, "executors/__init__.py", "executors/hall/__init__.py"} <= project.files().keys()
    assert "app.gen.hall.toolsets" in (project.path / STUB).read_text()


def test_a_package_of_stubs_that_is_written_again_is_named(project: ProjectFolder) -> None:
    project.run("gen")
    (project.path / "executors/hall/__init__.py").unlink()
    assert project.run("gen").err == "app/gen: new stub executors/hall/__init__.py\n"


def test_the_second_run_touches_nothing(project: ProjectFolder) -> None:
    project.run("gen")
    before = project.files()
    done = project.run("gen")
    assert (done.code, done.out, done.err) == (0, "", "app/gen: up to date\n")
    assert project.files() == before
    done = project.run("gen", "--check")
    assert (done.code, done.out, done.err) == (0, "", "app/gen: up to date\n")


@pytest.mark.parametrize("earlier", ["40 + 0", "40 / 0"], ids=["imports", "fails"])
def test_a_module_that_is_saved_twice_in_a_second_is_read_twice(project: ProjectFolder, earlier: str) -> None:
    """Python would take its bytecode for that of the second version, whose size and time are the same."""
    design = DESIGN.replace("max_length=40", "max_length=words.LONGEST")
    project.write("app/design.py", design.replace("from toolgen", "from app import words\nfrom toolgen", 1))
    saved = time.time() + 1_000  # just now, however slow the machine is
    for text in (earlier, "40 + 2"):
        os.utime(project.write("app/words.py", f"LONGEST = {text}\n"), (saved, saved))
        done = in_a_process(project.path, "-m", "toolgen", "gen", PYTHONDONTWRITEBYTECODE="")
        assert ("ZeroDivisionError" in done.stderr) == ("/" in text)
    assert "max_length=42" in (project.path / TYPES).read_text()


@pytest.mark.exhaustive
def test_the_working_directory_and_the_hash_seed_do_not_matter(project: ProjectFolder) -> None:
    written = []
    for seed, folder in (("1", project.path), ("2", project.path / "app")):
        assert in_a_process(folder, "-m", "toolgen", "gen", PYTHONHASHSEED=seed).returncode == 0
        files = project.files()
        written.append({name: content for name, (content, _) in files.items() if name.startswith("app/gen")})
        for name in written[-1]:
            (project.path / name).unlink()
    assert written[0] == written[1]


@pytest.mark.exhaustive
def test_the_working_directory_may_be_the_output(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run("gen")
    for folder in ("app/gen", "app/gen/hall"):
        project.write(TYPES, "mine\n")
        monkeypatch.chdir(project.path / folder)
        assert project.run("gen").code == 0
        assert project.run("gen", "--check").code == 0


def test_names_that_differ_by_case_are_refused_before_anything_is_written(project: ProjectFolder) -> None:
    """Their folders would be one on many disks; what is generated is lower case throughout."""
    project.write(
        "app/design.py",
        DESIGN.replace(", people))", ', people), Service("HALL", "Another.", people))'),
    )
    before = project.files()
    done = project.run("gen")
    assert done.code == 1
    assert "[identifier-clash]" in done.err
    assert project.files() == before


def test_the_longest_names_fit_every_file_system(project: ProjectFolder) -> None:
    project.write(
        "app/design.py",
        DESIGN.replace('"hall"', f'"{"A1" * 32}"')
        .replace('"people"', f'"{"a1" * 32}"')
        .replace('"greet"', f'"{"b2" * 32}"'),
    )
    assert project.run("gen").code == 0
    files = [name for name in project.files() if name.startswith(("app/gen/", "executors/"))]
    assert max(len(part) for name in files for part in name.split("/")) > 64
    assert all(len(part) <= 143 for name in files for part in name.split("/"))  # eCryptfs takes the least
    assert all(name == name.lower() for name in files)


def test_config_names_another_project(project: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert project.run("gen", "--config", str(project.path / "pyproject.toml")).code == 0
    assert (project.path / TYPES).exists()


@pytest.mark.parametrize("state", first(["missing", "edited", "stale", "changed"], 2))
def test_check_names_what_is_not_current_and_the_command(project: ProjectFolder, state: str) -> None:
    project.add_tool()
    project.run("gen")
    match state:
        case "missing":
            (project.path / TYPES).unlink()
            line = f"{TYPES}: error: the file is missing [output-missing]"
        case "edited":
            project.write(TYPES, "mine\n")
            line = f"{TYPES}: error: the file was edited [output-edited]"
        case "stale":
            project.write("app/design.py", DESIGN.replace('"people"', '"persons"'))
            line = f"{TYPES}: error: the file is no longer generated [output-stale]"
        case _:
            project.write("app/design.py", DESIGN)
            line = f"{TYPES}: error: the file does not match the design [output-changed]"
    before = project.files()
    done = project.run("gen", "--check")
    assert done.code == 1
    assert line in done.err.splitlines()
    assert ("  hint: make the change in the design or in an executor; " in done.err) == (state == "edited")
    assert done.err.splitlines()[-1] == "the output is not up to date; run: toolgen gen"
    assert project.files() == before
    assert project.run("gen").code == 0
    assert project.run("gen", "--check").code == 0


def test_edited_files_are_named_and_written_again(project: ProjectFolder) -> None:
    project.run("gen")
    text = (project.path / TYPES).read_text()
    project.write(TYPES, "mine\n")
    done = project.run("gen")
    assert done.code == 0
    assert done.err == f"{TYPES}: was edited; overwritten\napp/gen: 1 written\n"
    assert (project.path / TYPES).read_text() == text


def test_a_wrong_design_prints_every_diagnostic_and_writes_nothing(project: ProjectFolder) -> None:
    project.run("gen")
    project.write(
        "app/design.py", DESIGN.replace("max_length=40", "default=3").replace('"leave"', '"Leave now"')
    )
    before = project.files()
    for arguments in (["gen"], ["gen", "--check"]):
        done = project.run(*arguments)
        assert (done.code, done.out) == (1, "")
        assert "app/design.py:12:13: error: " in done.err
        assert done.err.endswith("nothing was generated\n")
    assert project.files() == before


def test_a_stub_gains_what_it_lacks_and_the_line_says_so(project: ProjectFolder) -> None:
    project.run("gen")
    text = f"# mine\n{(project.path / STUB).read_text()}"
    project.write(STUB, text)
    project.add_tool()
    done = project.run("gen")
    assert done.code == 0
    assert f"{STUB}:" in done.err
    assert done.err.endswith(" written, 1 stub extended\n")
    assert (project.path / STUB).read_text().startswith(text)
    assert "async def leave(" in (project.path / STUB).read_text()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "b"), "new stubs executors/hall/a.py, executors/hall/b.py"),
        (("a", "b", "c", "d"), "4 new stubs in executors"),
    ],
)
def test_the_line_names_new_stubs_only_when_they_are_few(
    project: ProjectFolder, names: tuple[str, ...], said: str
) -> None:
    toolsets = "".join(
        f"{name} = Toolset('{name}', 'Some.', Tool('{name}_tool', 'Does it.', Args(), Return()))\n"
        for name in names
    )
    project.write(
        "app/design.py",
        "from toolgen.dsl import Args, Design, Return, Service, Tool, Toolset\n"
        f"{toolsets}design = Design('app', 'Small.', Service('hall', 'All.', {', '.join(names)}))\n",
    )
    assert project.run("gen").err.endswith(f" written, {said}\n")


def test_a_design_that_does_not_import_shows_the_authors_traceback(project: ProjectFolder) -> None:
    project.write("app/design.py", "from app.parts import x\n")
    project.write("app/parts.py", "def half(n):\n    return n / 0\n\nx = half(1)\n")
    done = project.run("gen")
    assert done.code == 2
    assert done.err.startswith(
        "error: the module 'app.design' cannot be imported:\n\nTraceback (most recent call last):"
    )
    assert done.err.endswith("ZeroDivisionError: division by zero\n")
    places = [line for line in done.err.splitlines() if line.startswith("  File ")]
    assert [place.rpartition("/")[2] for place in places] == [
        'design.py", line 1, in <module>',
        'parts.py", line 4, in <module>',
        'parts.py", line 2, in half',
    ]


@pytest.mark.exhaustive
def test_the_frames_of_import_hooks_are_not_shown(project: ProjectFolder) -> None:
    from beartype.claw import beartype_package  # brought by fastmcp

    beartype_package("nothing_of_ours")
    project.write("app/design.py", "x = (")
    done = project.run("gen")
    assert "cannot be imported:\n\n  File " in done.err
    assert "beartype" not in done.err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("design", "message"),
    [
        ("x = (", "error: the module 'app.design' cannot be imported:\n\n  File "),
        ("import sys; sys.exit(3)", "SystemExit: 3\n"),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("import app.other", "ModuleNotFoundError: No module named 'app.other'"),
        (
            "x = 1",
            "error: the module 'app.design' does not define 'design'\n  hint: end it with design = Design(",
        ),
        ("design = 1", "error: 'design' in the module 'app.design' is an int, not a Design\n  hint: "),
        ("from toolgen.dsl import Design as design", "is a type, not a Design\n"),
        (
            "from toolgen.dsl import Design\ndesign = Design('x', 'y', chidren=1)",
            "unexpected keyword argument",
        ),
    ],
)
def test_a_module_of_no_use(project: ProjectFolder, design: str, message: str) -> None:
    project.write("app/design.py", design)
    before = project.files()
    done = project.run("gen")
    assert done.code == 2
    assert message in done.err
    assert "importlib" not in done.err
    assert PACKAGE not in done.err
    assert project.files() == before


def test_a_design_module_that_is_not_there(project: ProjectFolder) -> None:
    project.write("pyproject.toml", '[tool.toolgen]\ndesign = "app.desing"\n')
    done = project.run("gen")
    assert done.code == 2
    assert done.err == (
        f"error: the module 'app.desing' was not found in {project.path}\n"
        "  hint: correct 'design' in [tool.toolgen], or add the module\n"
    )


@pytest.mark.parametrize("named", ["app/absent.py", "./app/absent.py", "app/absent", "app.absent.py"])
def test_a_design_that_is_named_as_a_file(project: ProjectFolder, named: str) -> None:
    project.write("pyproject.toml", f'[tool.toolgen]\ndesign = "{named}"\n')
    done = project.run("gen")
    assert done.code == 2
    assert '  hint: write design = "app.absent"' in done.err
    assert ": a module, not a file\n" in done.err


def foreign_file(project: ProjectFolder) -> str:
    project.write("app/gen/mine.py", "x = 1\n")
    return "error: app/gen holds files that toolgen did not write; nothing was changed:\n  app/gen/mine.py\n"


def newer_manifest(project: ProjectFolder) -> str:
    project.write("app/gen/.toolgen.json", '{"format": 4}')
    return "error: app/gen/.toolgen.json is a manifest of format 4, and this toolgen reads format 3\n  hint: "


def stubs_that_cannot_be_written(project: ProjectFolder) -> str:
    project.write("executors", "a file, which no user may make a folder of")
    return "error: cannot write executors/__init__.py: "


@pytest.mark.parametrize("prepare", [foreign_file, newer_manifest, stubs_that_cannot_be_written])
def test_a_folder_of_no_use_changes_nothing(
    project: ProjectFolder, prepare: Callable[[ProjectFolder], str]
) -> None:
    message = prepare(project)
    before = project.files()
    done = project.run("gen")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert project.files() == before


def test_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["gen"]) == 2
    said = capsys.readouterr().err
    assert "no pyproject.toml in" in said
    assert "toolgen init NAME" in said


@pytest.mark.parametrize("arguments", [[], ["generate"], ["gen", "--chek"], ["gen", "more"], ["call"]])
def test_wrong_usage(arguments: list[str]) -> None:
    assert main(arguments) == 2


@pytest.mark.parametrize(
    ("package", "more"),
    [
        ("typer", ", or 'toolgen[cli]' for the commands that generate nothing"),
        pytest.param("jinja2", "", marks=pytest.mark.exhaustive),
        pytest.param("ruff", "", marks=pytest.mark.exhaustive),
    ],
)
def test_a_missing_extra_names_the_command(project: ProjectFolder, package: str, more: str) -> None:
    before = project.files()
    done = without(package, project.path, "gen", "--diff")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: the toolgen command needs {package!r}, which is not installed\n"
        f"  hint: pip install 'toolgen[gen]'{more}\n"
    )
    assert project.files() == before


def test_our_own_bug_asks_for_a_report(project: ProjectFolder) -> None:
    """The design lies about its children, which the checked types of toolgen do not allow for."""
    project.write(
        "app/design.py",
        "from toolgen.dsl import Design\n"
        "class Trap(Design):\n"
        "    def __getattribute__(self, name): raise LookupError('sprung')\n"
        "design = Trap.__new__(Trap)\n",
    )
    done = project.run("gen")
    assert done.code == 2
    assert "LookupError: sprung" in done.err
    assert done.err.endswith("error: this is a bug in toolgen; please report it with the lines above\n")


@pytest.mark.exhaustive
def test_the_version(project: ProjectFolder) -> None:
    assert project.run("--version").out == "toolgen 0.1.0\n"
    assert in_a_process(project.path, "-m", "toolgen", "--version").stdout == "toolgen 0.1.0\n"


UNLISTED = """
from toolgen.dsl import Agent, Args, Tool, Toolset, Use

notes = Toolset("notes", "Keep notes.", Tool("add", "Add a note."))
chat = Agent("chat", "Answers.", Use(notes))
_later = Agent("later", "Not yet.")
"""


def test_a_clause_that_the_design_does_not_hold_is_a_warning(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN + UNLISTED)
    done = project.run("gen")
    assert done.code == 0
    assert (
        "warning: agent 'chat' is not part of the design, so nothing is generated for it [clause-unlisted]"
        in done.err
    )
    assert "  hint: list chat in its Service, or remove it\n" in done.err
    assert done.err.count("clause-unlisted") == 1


def test_a_design_that_is_saved_twice_in_a_second_is_read_twice(project: ProjectFolder) -> None:
    design = project.path / "app/design.py"
    just_now = 2_000_000_000  # however long a run takes
    for text in (DESIGN, DESIGN.replace("Greet a person", "Greet a parrot")):
        design.write_text(text)
        os.utime(design, (just_now, just_now))
        done = in_a_process(project.path, "-m", "toolgen", "gen", PYTHONDONTWRITEBYTECODE="")
        assert done.returncode == 0, done.stderr
    assert "Greet a parrot" in (project.path / "app/gen/tool_schemas.json").read_text("utf-8")
