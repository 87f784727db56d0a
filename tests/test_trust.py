"""Whose projects the commands run: never one of another user that this user has not allowed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

from toolgen.cli.app import app

from .conftest import Done, ProjectFolder, surroundings
from .sources import ROOT
from .two_users import NOBODY, give_away

FUNCTIONS = '''\
"""What another user wrote."""

from pathlib import Path

Path(__file__).with_name("ran").touch()


def hello(x: str) -> str:
    """Say hello."""
    return x
'''
WITHOUT_A_PROJECT: Final = {
    "explain": "it reads no project",
    "import": "it writes into a folder; the lock there is code, and is checked",
    "init": "it writes a project; that of `--add` is checked",
}
"""Commands that have no `--config`, and why."""
NEEDED: Final = {
    "breaking": ("--against", "main"),
    "diff": ("--against", "main"),
    "runs resolve": ("--not-run",),
    "schema": ("--for", "mcp"),
    "tools disable": ("--reason", "r"),
}
"""Options without which a command does nothing."""


def _commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


ALL: Final = dict(_commands(get_command(app)))


COMMANDS: Final = {
    name: [
        *name.split(),
        *["x" for each in command.params if each.param_type_name == "argument" and each.required],
    ]
    for name, command in ALL.items()
    if name not in WITHOUT_A_PROJECT
}


@pytest.fixture
def theirs(project: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> ProjectFolder:
    """A project of another user, which is the nearest one of the working directory below it."""
    home = project.path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("TOOLGEN_CONFIG", raising=False)
    folder = project.path / "shared"
    settings = project.write("shared/pyproject.toml", '[tool.toolgen]\nfunctions = ["app.evil"]\n')
    project.write("shared/app/__init__.py", "")
    project.write("shared/app/evil.py", FUNCTIONS)
    (folder / "work").mkdir()
    monkeypatch.chdir(folder / "work")
    give_away(monkeypatch, settings)
    return ProjectFolder(folder, project.capsys)


def ran(project: ProjectFolder) -> bool:
    file = project.path / "app/ran"
    is_there = file.exists()
    file.unlink(missing_ok=True)
    return is_there


def listed(project: ProjectFolder, *options: str) -> Done:
    return project.run("tools", "list", *options)


def test_every_command_but_those_without_a_project_takes_a_configuration() -> None:
    lacking = {
        name
        for name, command in ALL.items()
        if not any("--config" in parameter.opts for parameter in command.params)
    }
    assert lacking == WITHOUT_A_PROJECT.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_runs_the_project_of_another_user(theirs: ProjectFolder, name: str) -> None:
    done = theirs.run(*COMMANDS[name], *NEEDED.get(name, ()))
    settings = theirs.path / "pyproject.toml"
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        f"error: toolgen does not run this code: {settings} belongs to user {NOBODY}, not to you "
        f"(user {os.geteuid()}) or root\n  hint: if you trust its author, run: export TOOLGEN_CONFIG="
    )
    assert not ran(theirs)


def _give_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(monkeypatch, folder / "pyproject.toml", owner=os.geteuid())
    give_away(monkeypatch, folder)


def _share_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /tmp is: each user can add files, and nobody removes those of others."""
    _give_folder(folder, monkeypatch)
    give_away(monkeypatch, folder, owner=os.geteuid())
    folder.chmod(0o1777)


def _link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").rename(folder / "other.toml")
    (folder / "pyproject.toml").symlink_to("other.toml")


def _link_to_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of this user, in a folder where another one can replace it."""
    (folder / "elsewhere").mkdir()
    real = folder / "elsewhere/pyproject.toml"
    (folder / "pyproject.toml").rename(real)
    (folder / "pyproject.toml").symlink_to(real)
    give_away(monkeypatch, real, owner=os.geteuid())
    give_away(monkeypatch, folder / "elsewhere")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_give_folder, "shared belongs to user"),
        (_share_folder, "shared is a folder that all users can write to"),
        (_link, "pyproject.toml belongs to user"),
        (_link_to_folder, "elsewhere belongs to user"),
    ],
    ids=["the folder", "a folder of all users", "a link to it", "a link into its folder"],
)
def test_the_folder_and_what_a_link_leads_to_count_too(
    theirs: ProjectFolder,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, pytest.MonkeyPatch], None],
    named: str,
) -> None:
    change(theirs.path, monkeypatch)
    done = listed(theirs)
    assert (done.code, named in done.err, ran(theirs)) == (2, True, False), done.err


def test_a_project_of_root_is_run(theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(monkeypatch, theirs.path / "pyproject.toml", theirs.path, owner=0)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    assert (listed(theirs).code, ran(theirs)) == (0, True)


def test_its_absolute_path_allows_it_by_the_option_and_the_variable(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = theirs.path / "pyproject.toml"
    assert (listed(theirs, "--config", "../pyproject.toml").code, ran(theirs)) == (2, False)
    assert (listed(theirs, "--config", str(settings)).code, ran(theirs)) == (0, True)
    monkeypatch.setenv("TOOLGEN_CONFIG", "../pyproject.toml")
    assert (listed(theirs).code, ran(theirs)) == (2, False)
    monkeypatch.setenv("TOOLGEN_CONFIG", str(settings))
    assert (listed(theirs).code, ran(theirs)) == (0, True)


def test_the_option_counts_before_the_variable(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project.write("other/pyproject.toml", "")
    monkeypatch.setenv("TOOLGEN_CONFIG", str(other))
    assert "other/pyproject.toml has no table [tool.toolgen]" in project.run("gen").err
    assert project.run("gen", "--config", "pyproject.toml").code == 0


@pytest.mark.parametrize("way", [0, 1], ids=["for the shell", "for good"])
def test_the_commands_of_the_hint_allow_it(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch, way: int
) -> None:
    """A shell gets them as they are printed, with a path that has what it reads as something else."""
    project = ProjectFolder(theirs.path.rename(theirs.path.with_name("it's $HOME")), theirs.capsys)
    monkeypatch.chdir(project.path / "work")
    command = listed(project).err.partition("run: ")[2].strip().split(", or permanently: ")[way]
    lines = f"{command}\n{shlex.join([sys.executable, '-m', 'toolgen', 'tools', 'list'])}"
    done = subprocess.run(["sh", "-c", lines], env=surroundings(), capture_output=True, text=True)
    assert (done.returncode, "hello" in done.stdout) == (0, True), done.stderr
    assert ran(project)
    assert listed(project).code == (0 if way else 2)


def test_a_list_that_another_user_may_write_allows_nothing(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trusted = tmp_path / "home/.config/toolgen/trusted"
    trusted.parent.mkdir(parents=True)
    trusted.write_text(f"relative\n\n{theirs.path.parent}\n")
    assert (listed(theirs).code, ran(theirs)) == (0, True)
    trusted.chmod(0o666)
    assert (listed(theirs).code, ran(theirs)) == (2, False)
    trusted.chmod(0o600)
    trusted.write_text(f"{theirs.path}/work\n{theirs.path}-other\n.\n")
    assert (listed(theirs).code, ran(theirs)) == (2, False)
    trusted.write_text(f"{theirs.path}\n")
    give_away(monkeypatch, trusted)
    assert (listed(theirs).code, ran(theirs)) == (2, False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert (listed(theirs).code, ran(theirs)) == (2, False)


def test_no_command_is_printed_for_a_path_that_hides_something(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = theirs.path.rename(theirs.path.with_name("a\nb\u202e"))
    monkeypatch.chdir(odd / "work")
    done = ProjectFolder(odd, theirs.capsys).run("gen")
    assert done.err.endswith("  hint: copy it into a folder of your own\n")
    assert "\u202e" not in done.err


def test_the_project_is_named_unless_it_is_here(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = project.path / "pyproject.toml"
    assert "project: " not in project.run("gen").err
    assert "project: " not in project.run("gen", "--check", "--config", str(settings)).err
    (project.path / "app/odd\u202e").mkdir()
    monkeypatch.chdir(project.path / "app/odd\u202e")
    for options in (), ("--check",), ("--check", "--config", "../../pyproject.toml"):
        first = project.run("gen", *options).err.splitlines()[0]
        assert first.startswith("project: /")
        assert Path(first.removeprefix("project: ").replace("\\u202e", "\u202e")).samefile(settings)


@pytest.mark.parametrize(
    "arguments",
    [
        ("import",),
        ("import", "--check"),
        ("import", "python", "evil"),
        ("init", "--add"),
        ("init", "more", "--add"),
        ("init", "their_empty"),
    ],
    ids=" ".join,
)
def test_no_import_and_no_addition_runs_the_code_of_another_user(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """The lock of an import has the module that was written, which is run to say what changes."""
    monkeypatch.chdir(theirs.path)
    theirs.write("evil.py", FUNCTIONS.replace('"ran"', '"app/ran"'))
    theirs.write("evil_design.py", "design = None\n")
    theirs.write("evil_design.import.json", "{}")
    (theirs.path / "their_empty").mkdir()
    give_away(monkeypatch, *(theirs.path / each for each in (".", "evil_design.import.json", "their_empty")))
    done = theirs.run(*arguments)
    assert (done.code, "belongs to user" in done.err, ran(theirs)) == (2, True, False), done.err
    assert "TOOLGEN_CONFIG" not in done.err
    assert f"echo {theirs.path}" in done.err


def test_a_file_of_functions_of_another_user_is_named_by_its_absolute_path(
    theirs: ProjectFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    file = theirs.path / "app/evil.py"
    give_away(monkeypatch, file)
    for name in ("", ":hello"):
        done = theirs.run("import", "python", f"../shared/app/evil.py{name}")
        assert (done.code, ran(theirs)) == (2, False)
        assert "evil.py belongs to user" in done.err
    assert (theirs.run("import", "python", str(file)).code, ran(theirs)) == (0, True)


def test_a_link_of_the_executors_leads_nothing_out_of_the_project(
    project: ProjectFolder, tmp_path: Path
) -> None:
    elsewhere = project.path / "elsewhere"
    elsewhere.mkdir()
    inner = project.path / "inner"
    inner.mkdir()
    for name in ("app", "pyproject.toml"):
        (project.path / name).rename(inner / name)
    (inner / "executors").symlink_to(elsewhere)
    done = project.run("gen", "--config", str(inner / "pyproject.toml"))
    assert (done.code, "is outside of the project: a link leads to" in done.err) == (2, True), done.err
    assert not list(elsewhere.iterdir())
    assert not (inner / "app/gen").exists()


def test_ci_unpacks_a_checkout_of_another_user_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = [line for line in (ROOT.parent / ".ci/run").read_text().splitlines() if line.startswith("tar ")]
    source, copy = tmp_path / "source", tmp_path / "copy"
    for folder in source, copy:
        folder.mkdir()
    (source / "pyproject.toml").write_text("")
    give_away(monkeypatch, source, source / "pyproject.toml")
    subprocess.run(["bash", "-c", f"cd {source}; checkout={copy}; {line}"], check=True)
    owners = {os.stat(path).st_uid for path in (copy, copy / "pyproject.toml")}
    assert owners == {os.geteuid()}
