"""`toolgen gen --watch`, as a process that a person starts, saves files beside, and stops with Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .conftest import DESIGN, ProjectFolder, surroundings

TYPES = "app/gen/hall/toolsets/people/types.py"
UP_TO_DATE = "app/gen: up to date"


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
def watching(project: ProjectFolder, *arguments: str) -> Iterator[Watch]:
    with interruptible():
        process = subprocess.Popen(
            [sys.executable, "-m", "toolgen", "gen", "--watch", *arguments],
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


def test_a_change_of_the_design_is_generated_and_only_what_changed_is_said(project: ProjectFolder) -> None:
    with watching(project) as watch:
        first = watch.until("Ctrl-C stops")
        assert [line.split(": ")[0] for line in first] == [
            "app/gen",
            f"watching {project.path}; Ctrl-C stops",
        ]
        project.write("app/design.py", DESIGN)
        for length in ("41", "42", "43"):
            project.write("app/design.py", DESIGN.replace("max_length=40", f"max_length={length}"))
            assert watch.until(" written") == ["app/gen: 4 written"]
            assert f"max_length={length}" in (project.path / TYPES).read_text()
        project.write(TYPES, "mine\n")
        project.write("executors/hall/people.py", "")
        assert watch.stop() == []


def test_a_broken_design_is_survived(project: ProjectFolder) -> None:
    with watching(project) as watch:
        watch.until("Ctrl-C stops")
        project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
        said = watch.until("nothing was generated")
        assert said[0].startswith("app/design.py:12:13: error: ")
        project.write("app/design.py", f"{DESIGN})\n")
        said = watch.until("SyntaxError: unmatched ')'")
        assert said[0] == "error: the module 'app.design' does not import:"
        project.write("app/design.py", "import os\nos._exit(7)\n")
        assert watch.until("process")[-1] == "error: the design ended the process"
        project.write("app/design.py", DESIGN)
        assert watch.until("date") == [UP_TO_DATE]
        (project.path / "app/design.py").unlink()
        assert "there is no module 'app.design'" in watch.until("or add the module")[0]
        project.write("app/design.py", DESIGN)
        assert watch.until("date") == [UP_TO_DATE]
        settings = (project.path / "pyproject.toml").read_text()
        project.write("pyproject.toml", settings.replace("out", "outt"))
        assert "has no key 'outt'" in watch.until("runtime")[0]
        project.write("pyproject.toml", settings)
        assert watch.until("date") == [UP_TO_DATE]
        assert watch.stop() == []


def test_what_the_design_imports_and_reads_is_watched(project: ProjectFolder) -> None:
    text = "import json\nfrom pathlib import Path\nfrom app.parts import LENGTH\n"
    design = text + DESIGN.replace("max_length=40", "max_length=LENGTH").replace(
        '"Greet a person."', 'json.loads(Path("app/texts.json").read_text())["greet"]'
    )
    project.write("app/texts.json", '{"greet": "Greet a person."}')
    project.write("app/design.py", design)
    with watching(project) as watch:
        assert "No module named 'app.parts'" in watch.until("parts'")[-1]
        watch.until("Ctrl-C stops")
        project.write("app/parts.py", "LENGTH = 41\n")
        watch.until("new stub executors/hall/people.py")
        project.write("app/parts.py", "LENGTH = 42\n")
        watch.until("4 written")
        assert "max_length=42" in (project.path / TYPES).read_text()
        project.write("app/texts.json", '{"greet": "Greet somebody."}')
        watch.until(" written")
        assert "Greet somebody." in (project.path / "app/gen/tool_schemas.json").read_text()
        project.write("app/unrelated.txt", "")
        assert watch.stop() == []


def test_ctrl_c_lets_a_round_end(project: ProjectFolder) -> None:
    gate = project.path / "gate"
    os.mkfifo(gate)
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        watch.interrupt()
        gate.write_text("go on")
        assert set(watch.rest()) <= {"waiting for the design; Ctrl-C again ends it"}
    project.write("app/design.py", DESIGN)
    assert project.run("gen", "--check").code == 0


def test_a_second_ctrl_c_ends_a_design_that_hangs(project: ProjectFolder) -> None:
    os.mkfifo(project.path / "gate")
    project.write("app/design.py", f"print('here', flush=True)\nopen('gate').read()\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        watch.interrupt()
        watch.until("Ctrl-C again ends it")
        assert watch.stop() == []


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
        assert watch.until("  hint: write Args")[0] == "error: the module 'app.design' does not import:"
        assert watch.stop() == []


def test_watching_writes(project: ProjectFolder) -> None:
    for option in ("--check", "--diff"):
        done = project.run("gen", "--watch", option)
        assert (done.code, "--watch writes" in done.err) == (2, True)
