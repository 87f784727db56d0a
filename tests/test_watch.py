"""`toolgen gen --watch`, as a process that a person starts, saves files beside, and stops with Ctrl-C."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .conftest import DESIGN, ProjectFolder, surroundings

TYPES = "app/gen/hall/toolsets/people/types.py"
UP_TO_DATE = "app/gen: up to date"


class Watch:
    """What the process says, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self.reader: threading.Thread = threading.Thread(target=self._read)
        self.reader.start()

    def until(self, end: str) -> list[str]:
        """Return the next lines up to the one that ends so."""
        lines: list[str] = []
        while not lines or not lines[-1].endswith(end):
            lines.append(self._lines.get(timeout=30))
        return lines

    def stop(self) -> list[str]:
        """Press Ctrl-C, which reaches the whole group, and return the lines that were left."""
        os.killpg(self.process.pid, signal.SIGINT)
        assert self.process.wait(timeout=10) == 0
        lines: list[str] = []
        while (line := self._lines.get(timeout=10)) != "(end)":
            lines.append(line)
        return lines

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put("(end)")


@contextmanager
def watching(project: ProjectFolder, *arguments: str) -> Iterator[Watch]:
    command = [sys.executable, "-m", "toolgen", "gen", "--watch", *arguments]
    with subprocess.Popen(
        command,
        cwd=project.path,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        watch = Watch(process)
        try:
            yield watch
        finally:
            process.kill()
            watch.reader.join()


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
    project.write("app/design.py", f"import time\nprint('here', flush=True)\ntime.sleep(1)\n{DESIGN}")
    with watching(project) as watch:
        watch.until("here")
        assert watch.stop() == []
    assert project.run("gen", "--check").code == 0


def test_a_round_says_its_problems_as_asked(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
    with watching(project, "--format", "github") as watch:
        assert watch.until("nothing was generated")[0].startswith(
            "::error file=app/design.py,line=12,col=13,"
        )
        watch.until("Ctrl-C stops")
        assert watch.stop() == []


def test_watching_writes(project: ProjectFolder) -> None:
    for option in ("--check", "--diff"):
        done = project.run("gen", "--watch", option)
        assert (done.code, "--watch writes" in done.err) == (2, True)
