"""Runs that may write nothing, and runs that meet each other."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolgen.codegen.write import STAGING, Edit, WriteReport, write
from toolgen.codegen.write.staging import staging
from toolgen.contract.errors import ToolgenError

from .conftest import DESIGN, ProjectFolder, in_a_process, surroundings

OLD = {"__init__.py": "", "a/types.py": "x=1\n", "b/gone.py": "y=1\n", "b/also.json": "{}\n"}
NEW = {"__init__.py": "", "a/types.py": "x=2\n", "c/d/new.py": "z=1\n", "e.json": "[]\n"}
MINE, FOLLOWED = b"# mine\n", b"# mine\n# followed\n"
WRITES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.utime", "subprocess.Popen"}


def run(project: Path, texts: dict[str, str]) -> WriteReport:
    """Write the tree, a stub where it is missing, and what an author's file gains where it lacks it."""
    stub, mine = project / "stubs/new/stub.py", project / "stubs/mine.py"
    return write(
        project / "gen",
        texts,
        design="app.design",
        stubs={} if stub.exists() else {stub: "s=1\n"},
        edits={mine: Edit(old=MINE, new=FOLLOWED)} if mine.read_bytes() == MINE else {},
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes() if file.is_file() else b"a folder"
        for file in sorted(folder.rglob("*"))
        if STAGING not in str(file)
    }


def stopped(at: int, happens: Callable[[], None], action: Callable[[], object]) -> int:
    """Return how a child ended in which something happens before its write number `at`; 0 if it has fewer.

    Python's own audit events are the seam: nothing of the code that runs is replaced.
    """
    child = os.fork()
    if child == 0:
        count = itertools.count(1)

        def note(event: str, arguments: tuple[object, ...]) -> None:
            opens = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
            if (opens or event in WRITES) and next(count) == at:
                happens()

        sys.addaudithook(note)
        code = 4
        try:
            action()
            code = 0 if next(count) <= at else 1
        except ToolgenError:
            code = 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def readable() -> Iterator[None]:
    """Let everybody read what is written, whatever the shell says of new files."""
    mask = os.umask(0o022)
    yield
    os.umask(mask)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("readable")
def test_a_read_only_output_changes_nothing() -> None:
    """In a folder of its own, since root, who may write everywhere, becomes nobody for it."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "stubs").mkdir()
        (project / "stubs/mine.py").write_bytes(MINE)
        run(project, OLD)
        old = tree(project)
        read_only = [project / "gen/a", project / "gen", project]
        for place in read_only:
            place.chmod(0o555)

        def as_nobody() -> None:
            if os.getuid() == 0:
                os.setuid(65534)
            run(project, NEW)

        for place in reversed(read_only):
            assert stopped(0, kill, as_nobody) == 3
            assert tree(project) == old
            place.chmod(0o777)
        run(project, NEW)
        assert tree(project) != old


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", [("gen",), ("gen", "--check"), ("gen", "--diff")], ids=" ".join)
def test_a_disk_on_which_nothing_can_be_written_is_named(
    project: ProjectFolder, command: tuple[str, ...]
) -> None:
    """The limit on file sizes makes every write fail; also a check formats what it compares."""
    assert in_a_process(project.path, "-m", "toolgen", "gen").returncode == 0
    project.add_tool()
    before = project.files()
    program = f"""\
import resource, sys
from toolgen.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.argv = ["toolgen", *{command!r}]
sys.exit(main())
"""
    done = in_a_process(project.path, "-c", program)
    assert (done.returncode, done.stderr.startswith("error: cannot write ")) == (2, True), done.stderr
    assert project.files() == before


def test_a_folder_called_like_those_of_runs_is_left_alone(project: ProjectFolder) -> None:
    mine = [project.path / f"{folder}/{STAGING}mine" for folder in (".", "app")]
    for folder in mine:
        (folder / "tree").mkdir(parents=True)
        (folder / "notes.txt").write_text("mine")
    elsewhere = project.path / f"elsewhere/{STAGING}other"
    elsewhere.mkdir(parents=True)
    with staging(project.path / "gen") as folder:
        shutil.copy(folder / ".toolgen-staging", elsewhere)
    (project.path / f"{STAGING}link").symlink_to(elsewhere)
    (project.path / f"{STAGING}file").write_text("mine")
    with staging(project.path / "app/gen") as of_another_run:
        before = project.files()
        assert project.run("gen").code == 0
        assert {path: file for path, file in project.files().items() if STAGING in path} == {
            path: file for path, file in before.items() if STAGING in path
        }
    assert not of_another_run.exists()
    assert (project.path / f"{STAGING}link").is_symlink()


def toolgen(project: ProjectFolder, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "toolgen", "gen", *arguments],
        cwd=project.path,
        env=surroundings(),
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        pytest.param(("--check",), marks=pytest.mark.exhaustive),
        pytest.param(("--diff",), marks=pytest.mark.exhaustive),
    ],
)
def test_a_run_waits_for_one_that_writes_and_says_so(
    project: ProjectFolder, arguments: tuple[str, ...]
) -> None:
    project.run("gen")
    folder = os.open(project.path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    waiting = toolgen(project, "--force", *arguments)
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == f"waiting for another toolgen in {project.path}\n"
    assert waiting.poll() is None
    os.close(folder)
    assert waiting.communicate()[1] == "app/gen: up to date\n"
    assert waiting.returncode == 0


@pytest.mark.exhaustive
def test_a_killed_run_keeps_nobody_waiting(project: ProjectFolder) -> None:
    project.write(
        "app/design.py", f"import signal, sys\nprint('here', file=sys.stderr)\nsignal.pause()\n{DESIGN}"
    )
    hanging = toolgen(project)
    assert hanging.stderr is not None
    assert hanging.stderr.readline() == "here\n"
    hanging.kill()
    hanging.communicate()
    project.write("app/design.py", DESIGN)
    done = in_a_process(project.path, "-m", "toolgen", "gen")
    assert (done.returncode, "waiting" in done.stderr) == (0, False)
