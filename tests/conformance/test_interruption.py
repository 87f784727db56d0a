"""A run that is killed, out of disk or misled at each of its writes, one after the other."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests import selection
from tests.conftest import ProjectFolder
from tests.selection import volume
from tests.test_interruption import MINE, NEW, OLD, kill, run, stopped, toolgen, tree
from toolgen.codegen.write import STAGING, compare, sweep, write

OTHER = {"__init__.py": "", "a/types.py": "x=3\n", "c/other.py": "z=2\n"}
PLANS = {"old": OLD, "new": NEW, "other": OTHER}
STEP = volume(3, lab=1)
"""Runs end at every n-th of their writes."""
REPAIRS = volume(1, lab=len(PLANS))
"""How many of the plans repair what a kill left; with one, they take turns."""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A project before its first run; the author's file has not followed yet."""
    project = tmp_path / "before"
    (project / "stubs").mkdir(parents=True)
    (project / "stubs/mine.py").write_bytes(MINE)
    return project


@pytest.fixture
def before(empty: Path) -> Path:
    """The same project, with code that was generated from `OLD`."""
    write(empty / "gen", OLD, design="app.design")
    return empty


def copies(before: Path) -> Iterator[tuple[int, Path]]:
    for number in itertools.count(1 + selection.SEED % STEP, STEP):
        yield number, Path(shutil.copytree(before, before.parent / f"copy-{number}"))


def after(before: Path, name: str) -> dict[str, bytes]:
    """Return the tree that an undisturbed run makes of the project."""
    project = Path(shutil.copytree(before, before.parent / f"after-{name}"))
    run(project, PLANS[name])
    return tree(project)


def kill_everywhere(before: Path) -> int:
    """Kill runs of `NEW`, repair each by a run of `REPAIRS` plans, and return how many states they left."""
    wanted = {name: after(before, name) for name in PLANS}
    old, new = tree(before), wanted["new"]
    whole = {path: {old.get(path), new.get(path)} for path in {*old, *new} - {"gen/.toolgen.json"}}
    seen: list[dict[str, bytes]] = []
    plans = cycle(PLANS.items())
    for at, project in copies(before):
        end = stopped(at, kill, partial(run, project, NEW))
        killed = tree(project)
        assert killed.keys() <= {*whole, "gen/.toolgen.json"}, at
        assert all(killed.get(path) in contents for path, contents in whole.items()), at
        if end == 0:
            assert killed == new
            break
        assert end == -signal.SIGKILL
        if killed in seen:
            continue
        seen.append(killed)
        for name, texts in islice(plans, REPAIRS):
            repaired = Path(shutil.copytree(project, project.parent / f"repaired-{at}-{name}"))
            report = run(repaired, texts)
            assert (report.edited, report.retained) == ((), ()), at
            assert tree(repaired) == wanted[name], (at, name)
            assert compare(repaired / "gen", texts).is_current
    return len(seen)


def files(tree: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in tree.items() if content != b"a folder"}


def disk_is_full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.volume
def test_after_a_kill_at_any_write_of_the_first_run_the_next_one_repairs(empty: Path) -> None:
    assert kill_everywhere(empty) * STEP > 3


@pytest.mark.volume
def test_after_a_kill_at_any_write_each_file_is_whole_and_the_next_run_repairs(before: Path) -> None:
    assert kill_everywhere(before) * STEP > 10


def test_a_disk_that_is_full_at_any_write_changes_nothing(before: Path) -> None:
    """A folder that cannot be removed is no more than an empty folder."""
    old, new = files(tree(before)), files(after(before, "new"))
    for at, project in copies(before):
        end = stopped(at, disk_is_full, partial(run, project, NEW))
        assert end in (0, 1, 3), at
        assert files(tree(project)) == (old if end == 3 else new), at
        if end == 0:
            assert at > 60
            return


def test_the_next_run_removes_what_a_killed_one_left(before: Path) -> None:
    for at, project in copies(before):
        end = stopped(at, kill, partial(run, project, NEW))
        sweep(project / "gen", project)
        assert not list(project.glob(f"{STAGING}*")), at
        if end == 0:
            return


def test_a_folder_that_becomes_a_link_while_a_run_moves_files_is_not_followed(before: Path) -> None:
    """Whatever the run does then, nothing reaches the folder that the link leads to."""
    mine = before.parent / "mine"
    mine.mkdir()
    for name in ("types.py", "gone.py", "also.json"):
        (mine / name).write_text("mine")
    held = tree(mine)
    for at, project in copies(before):

        def swap(project: Path = project) -> None:
            for name in ("a", "b"):
                with suppress(OSError):
                    (project / f"gen/{name}").rename(project / f"moved-{name}")
                    (project / f"gen/{name}").symlink_to(mine)

        end = stopped(at, swap, partial(run, project, NEW))
        assert end in (0, 1, 3), at
        assert tree(mine) == held, at
        if end == 0:
            return


def test_runs_at_the_same_time_come_one_after_the_other(project: ProjectFolder) -> None:
    runs = [toolgen(project) for _ in range(4)]
    said = [run.communicate()[1].splitlines()[-1] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert sorted(line == "app/gen: up to date" for line in said) == [False, True, True, True]
    assert project.run("gen", "--check").code == 0
