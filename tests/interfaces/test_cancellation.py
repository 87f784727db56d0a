"""Ctrl-C ends each command while the code of its project is loaded: with 130, without a word or a change."""

from __future__ import annotations

import pytest

from tests.conftest import Done, ProjectFolder

from .every_command import ENDS_BEFORE, LINES, write_files

LOADING = [name for name in LINES if name not in ("explain", "schema")]
"""The commands that run code of a project: the others read a file that is there."""


def ended_by(project: ProjectFolder, name: str, error: str) -> Done:
    """Run a command in a project whose modules raise an exception, and check that it changes nothing."""
    write_files(project)
    for module in ("app/design.py", "app/main.py", "functions.py"):
        project.write(module, f"raise {error}\n")
    before = project.files()
    done = project.run(*ENDS_BEFORE.get(name, LINES[name][0]))
    assert project.files() == before
    return done


@pytest.mark.parametrize("name", LOADING)
def test_an_interrupt_ends_a_command_and_changes_nothing(project: ProjectFolder, name: str) -> None:
    assert ended_by(project, name, "KeyboardInterrupt") == Done(130, "", "")
