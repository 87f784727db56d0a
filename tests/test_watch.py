"""`toolgen gen --watch`, as a process that a person starts, saves files beside, and stops with Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from watchfiles import Change

from toolgen.cli.watch import Changes, Round

from .conftest import DESIGN, ProjectFolder, surroundings


class Watch:
    """What the process says, line by line; how long it takes is left to whoever runs the tests."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self._lines = iter(process.stdout)

    def until(self, end: str) -> list[str]:
        """Return the next lines up to the one that ends so."""
        lines: list[str] = []
        for line in self._lines:
            lines.append(line.rstrip("\n"))
            if lines[-1].endswith(end):
                return lines
        raise AssertionError(f"it ended before it said {end!r}: {lines}")

    def interrupt(self) -> None:
        """Press Ctrl-C, which reaches the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def stop(self) -> list[str]:
        """Press Ctrl-C and return the lines that were left."""
        self.interrupt()
        return self.rest()

    def rest(self) -> list[str]:
        """Return the lines up to the end, which is a success."""
        lines = [line.rstrip("\n") for line in self._lines]
        assert self.process.wait() == 0
        return lines


@contextmanager
def watching(project: ProjectFolder, *arguments: str, program: str = "") -> Iterator[Watch]:
    with interruptible():
        process = subprocess.Popen(
            [
                sys.executable,
                *(("-c", program) if program else ("-m", "toolgen")),
                "gen",
                "--watch",
                *arguments,
            ],
            cwd=project.path,
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    with process:
        try:
            yield Watch(process)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let processes that start here notice Ctrl-C, also where the tests run in the background of a shell."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.exhaustive
def test_ctrl_c_lets_a_round_end(project: ProjectFolder) -> None:
    gate = project.path / "gate"
    os.mkfifo(gate)
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        watch.interrupt()
        gate.write_text("go on")
        assert set(watch.rest()) <= {"waiting for the design; press Ctrl-C again to stop it"}
    project.write("app/design.py", DESIGN)
    assert project.run("gen", "--diff").code == 0


@pytest.mark.exhaustive
def test_a_round_says_its_problems_as_asked(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
    with watching(project, "--format", "github") as watch:
        assert watch.until("nothing was generated")[0].startswith(
            "::error file=app/design.py,line=12,col=13,"
        )
        watch.until("Ctrl-C stops")
        project.write("app/design.py", DESIGN.replace("Args(", "Argz("))
        (said,) = watch.until("hint: write Args")
        assert said.startswith("::error file=app/design.py,line=11,col=9,title=python-error::NameError: ")
        assert watch.until("  hint: write Args")[0] == "error: the module 'app.design' cannot be imported:"
        assert watch.stop() == []


@pytest.mark.exhaustive
def test_a_module_that_was_missing_and_one_that_is_replaced_begin_a_round(project: ProjectFolder) -> None:
    """Editors write a new file and rename it; a change of what the design did not read says nothing."""
    project.write("app/design.py", f"from app.texts import GREETING\n{DESIGN}")
    with watching(project) as watch:
        watch.until("Ctrl-C stops")
        project.write("notes.txt", "not read by the design\n")
        project.write("app/texts.py", "GREETING = 1 / 0\n")
        assert "ZeroDivisionError: division by zero" in watch.until("ZeroDivisionError: division by zero")[-1]
        project.write("app/texts.py.new", "GREETING = 'Hello'\n")
        (project.path / "app/texts.py.new").replace(project.path / "app/texts.py")
        assert watch.until("executors/hall/people.py")[-1].startswith("app/gen: ")
        assert watch.stop() == []


@pytest.mark.exhaustive
def test_a_change_during_a_round_begins_another_one(project: ProjectFolder) -> None:
    gate = project.path / "gate"
    os.mkfifo(gate)
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
        gate.write_text("go on")
        watch.until("nothing was generated")
        watch.stop()


IMPATIENT = """\
import sys
from toolgen.cli import main, watch

watch._PATIENCE_S = 0.0
sys.exit(main())
"""


@pytest.mark.exhaustive
def test_the_change_that_ends_a_design_that_hangs_begins_another_round(project: ProjectFolder) -> None:
    os.mkfifo(project.path / "gate")
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project, program=IMPATIENT) as watch:
        watch.until("here")
        project.write("app/design.py.new", DESIGN)
        (project.path / "app/design.py.new").replace(project.path / "app/design.py")
        assert "error: the design did not load in time" in watch.until("executors/hall/people.py")
        assert watch.stop() == []


def test_a_file_that_each_round_writes_again_begins_no_other_one(project: ProjectFolder) -> None:
    """Such as a page about the tools, which the design writes."""
    file = project.path / "pyproject.toml"
    changes = Changes(Round(file=file, format="text", typescript=None, is_forced=False))
    page = project.write("catalog.md", "# Tools\n")

    def are_there(*, rewritten: bool) -> bool:
        vars(changes)["_changes"] = iter([{(Change.modified, str(page))}])
        return changes.are_there(rewritten=rewritten)

    assert [are_there(rewritten=False) for _ in range(3)] == [True, False, False]
    assert are_there(rewritten=True)  # by its author, who wants another round
    page.write_text("# More tools\n")
    assert are_there(rewritten=True)
    page.write_text("# Tools\n")
    assert are_there(rewritten=False)
    page.unlink()
    assert are_there(rewritten=False)


def test_watching_writes(project: ProjectFolder) -> None:
    for option in ("--check", "--diff"):
        done = project.run("gen", "--watch", option)
        assert (done.code, "--watch cannot be combined" in done.err) == (2, True)
